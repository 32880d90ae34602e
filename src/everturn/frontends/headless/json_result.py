"""The result as one JSON object: the last line of stream-json, and all there is with `--output-format json`."""

from collections.abc import Callable
from typing import Any

from everturn.core.budget import Usage
from everturn.core.denials import Denial, DenialCause
from everturn.core.events import ErrorReleased, GoalFile, ModelUsage, ResultEvent
from everturn.core.state import Reason
from everturn.frontends.headless.complaints import Complaints
from everturn.frontends.headless.lines import encode_strict
from everturn.frontends.headless.sink import Sink
from everturn.frontends.headless.view import Handlers
from everturn.ports.model import ModelCard

CardOf = Callable[[str], ModelCard]
INTERRUPTIONS = {
    Reason.ABORTED_STREAMING: "Interrupted before the answer was complete.",
    Reason.ABORTED_TOOLS: "Interrupted while tools ran.",
}
"""An interruption is no error of the loop's; who reads the result wants a word about it all the same."""


class JsonResult:
    """Says nothing until the end, and then everything, whole: there is no limit to this one line.

    What protects somebody, such as a warning that nothing is saved, has no place in it: that goes to standard error.
    """

    def __init__(self, out: Sink, err: Sink, *, card_of: CardOf, new_id: Callable[[], str]) -> None:
        self._out = out
        self._complaints = Complaints(err)
        self._card_of = card_of
        self._new_id = new_id
        self._status: int | None = None

    @property
    def handlers(self) -> Handlers:
        return {**self._complaints.handlers, ErrorReleased: self._remember, ResultEvent: self._write}

    def begin(self) -> None:
        pass

    def close(self) -> None:
        self._complaints.close()

    def _remember(self, event: ErrorReleased) -> None:
        self._status = event.problem.status

    def _write(self, event: ResultEvent) -> None:
        result = render_result(event, uuid=self._new_id(), card_of=self._card_of, status=self._status)
        self._out.write(encode_strict(result) + b"\n")


def render_result(event: ResultEvent, *, uuid: str, card_of: CardOf, status: int | None = None) -> dict[str, Any]:
    """`status` is the HTTP status of the error that ended the query, if one did."""
    result: dict[str, Any] = {
        "type": "result",
        "subtype": event.subtype,
        "is_error": event.is_error,
        "duration_ms": round(event.duration_s * 1000),
        "duration_api_ms": round(event.api_duration_s * 1000),
        "num_turns": event.num_turns,
        "num_rounds": event.rounds,
    }
    if event.subtype == "success":
        result["result"] = event.text
        if status is not None:
            result["api_error_status"] = status
    else:
        if event.answered:
            result["result"] = event.text
        result["errors"] = list(event.errors) or [INTERRUPTIONS.get(event.reason, "The query ended without an answer.")]
    if event.deferred_tool_use is not None:
        result["deferred_tool_use"] = event.deferred_tool_use
    if event.structured_output is not None:
        result["structured_output"] = event.structured_output
    if event.goal:
        result["goal"] = event.goal
        result["goal_attempts"] = event.goal_attempts
        result["goal_files"] = [render_goal_file(file) for file in event.goal_files]
    return result | {
        "stop_reason": event.stop_reason if event.deferred_tool_use is None else event.terminal_reason,
        "terminal_reason": event.terminal_reason,
        "session_id": event.session_id,
        "total_cost_usd": event.total_usd,
        "usage": render_usage(event.usage),
        "modelUsage": {model: _render_model(spent, card_of(model)) for model, spent in event.models.items()},
        "permission_denials": [_render_denial(denial) for denial in event.denials],
        "uuid": uuid,
    }


def render_goal_file(file: GoalFile) -> dict[str, str]:
    return {"path": file.path, "change": file.change, "found_by": file.found}


def render_usage(usage: Usage) -> dict[str, Any]:
    """As the API reports it; of output that it did not count, also how much of it is an estimate of ours."""
    estimated = {"estimated_output_tokens": usage.estimated_output} if usage.estimated_output else {}
    return {
        "input_tokens": usage.input,
        "cache_creation_input_tokens": usage.cache_write,
        "cache_read_input_tokens": usage.cache_read,
        "output_tokens": usage.output,
        **estimated,
        "cache_creation": {
            "ephemeral_5m_input_tokens": usage.cache_write - usage.cache_write_1h,
            "ephemeral_1h_input_tokens": usage.cache_write_1h,
        },
        "server_tool_use": {"web_search_requests": 0, "web_fetch_requests": 0},
        "service_tier": "standard",
    }


def _render_model(spent: ModelUsage, card: ModelCard) -> dict[str, Any]:
    estimated = {"estimatedOutputTokens": spent.usage.estimated_output} if spent.usage.estimated_output else {}
    return {
        "inputTokens": spent.usage.input,
        "outputTokens": spent.usage.output,
        **estimated,
        "cacheReadInputTokens": spent.usage.cache_read,
        "cacheCreationInputTokens": spent.usage.cache_write,
        "webSearchRequests": 0,
        "costUSD": spent.usd,
        "contextWindow": card.window,
        "maxOutputTokens": card.max_output,
    }


def _render_denial(denial: Denial) -> dict[str, Any]:
    """What would have let it run is told as hosts know it from requests for permission."""
    told = {
        "tool_name": denial.tool_name,
        "tool_use_id": denial.tool_use_id,
        "tool_input": denial.tool_input,
        "decision_reason": denial.reason,
    }
    if denial.by:
        told["decision_reason_type"] = denial.by
    told |= render_cause(denial.cause, unasked=denial.unasked)
    if denial.rules:
        rules = [_render_rule(rule) for rule in denial.rules]
        update = {"type": "addRules", "rules": rules, "behavior": "allow", "destination": "localSettings"}
        return told | {"permission_suggestions": [update]}
    if denial.mode:
        update = {"type": "setMode", "mode": denial.mode, "destination": "session"}
        return told | {"permission_suggestions": [update]}
    return told


def render_cause(cause: DenialCause | None, *, unasked: bool) -> dict[str, Any]:
    """What stands against a call, and whether only a person was missing."""
    return ({"decision_cause": str(cause)} if cause else {}) | ({"nobody_asked": True} if unasked else {})


def _render_rule(rule: str) -> dict[str, str]:
    tool, bracket, rest = rule.partition("(")
    return {"toolName": tool, "ruleContent": rest.removesuffix(")")} if bracket else {"toolName": tool}
