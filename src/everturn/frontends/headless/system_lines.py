"""Events that stream-json tells in a line of the type `system`: the subtype and the fields of each. Pure."""

from collections.abc import Callable
from typing import Any

from everturn.core import events as ev
from everturn.core.errors import FaultKind
from everturn.frontends.commands import CommandOutput
from everturn.frontends.headless.json_result import render_goal_file

Told = tuple[str, dict[str, Any]]
"""Subtype and fields."""

_ERRORS: dict[str, str] = {
    FaultKind.OVERLOADED: "overloaded",
    FaultKind.RATE_LIMITED: "rate_limit",
    FaultKind.SERVER: "server_error",
    FaultKind.TIMEOUT: "server_error",
    FaultKind.CONFLICT: "server_error",
    FaultKind.CONNECTION: "server_error",
    FaultKind.STREAM_BROKEN: "server_error",
    FaultKind.STALLED: "server_error",
    FaultKind.TOO_LONG: "invalid_request",
    FaultKind.MEDIA: "invalid_request",
    FaultKind.SIGNATURE: "invalid_request",
    FaultKind.PAIRING: "invalid_request",
    FaultKind.INVALID: "invalid_request",
    FaultKind.MODEL_NOT_FOUND: "model_not_found",
    FaultKind.AUTHENTICATION: "authentication_failed",
    FaultKind.PERMISSION: "authentication_failed",
    FaultKind.BILLING: "billing_error",
    FaultKind.SPEND_LIMIT: "billing_error",
    "max_output_tokens": "max_output_tokens",
}
"""From kinds of problems to the names that clients know; any other is `unknown`."""


def name_error(kind: str) -> str:
    return _ERRORS.get(kind, "unknown")


def is_error_of_api(kind: str) -> bool:
    return kind in _ERRORS


def _request(event: ev.RequestStarted) -> Told:
    return "request_start", {"turn": event.turn, "model": event.model}


def _transition(event: ev.Continued) -> Told:
    return "transition", {"transition": event.transition, "turn": event.turn}


def _retry(event: ev.RetryScheduled) -> Told:
    return "api_retry", {
        "attempt": event.attempt,
        "max_retries": event.max_tries - 1,
        "retry_delay_ms": round(event.delay_s * 1000),
        "error_status": event.status,
        "error": name_error(event.error),
        "message": event.text,
    }


def _switch(event: ev.ModelSwitched) -> Told:
    return tell(f"Switched from {event.before} to {event.model}: {event.cause}", "notice")


def _context(event: ev.ContextChanged) -> Told:
    if event.stage == "compact":
        trigger = "manual" if event.cause == "manual" else "auto"
        metadata = {"trigger": trigger, "pre_tokens": event.tokens_before, "post_tokens": event.tokens_after}
        return "compact_boundary", {"compact_metadata": metadata}
    return "context", {
        "stage": event.stage,
        "cause": event.cause,
        "tokens_before": event.tokens_before,
        "tokens_after": event.tokens_after,
    }


def _cache_break(event: ev.CacheMissed) -> Told:
    return "cache_break", {
        "segment": event.segment,
        "cause": event.cause,
        "kept_messages": event.kept,
        "tokens": event.tokens,
        "cost_usd": event.usd,
        "turn": event.turn,
    }


def _compaction_began(_event: ev.CompactionBegan) -> Told:
    return "status", {"status": "compacting"}


def _compaction_ended(_event: ev.CompactionEnded) -> Told:
    return "status", {"status": None}


def _mode(event: ev.ModeSwitched) -> Told:
    return "status", {"status": None, "permissionMode": event.mode}


def _stop_phase(event: ev.StopPhaseProgressed) -> Told:
    return tell(f"{event.step}: {event.text}", "info")


def _verification_began(event: ev.VerificationBegan) -> Told:
    return "goal_verification", {
        "state": "running",
        "command": event.command,
        "attempt": event.attempt,
        "max_attempts": event.max_attempts,
    }


def _verification_ended(event: ev.VerificationEnded) -> Told:
    return "goal_verification", {
        "state": "passed" if event.passed else "failed",
        "command": event.command,
        "attempt": event.attempt,
        "ended": event.ended,
        "exit_code": event.exit_code,
        "output": event.output,
        "duration_ms": round(event.duration_s * 1000),
        "stuck": event.stuck,
        "files": [render_goal_file(file) for file in event.files],
    }


def _notice(event: ev.Noticed) -> Told:
    return tell(event.text, event.level)


def _attachment(event: ev.Attached) -> Told:
    if event.kind == "finished_task":
        return "task_notification", dict(event.detail)
    return "attachment", {"kind": event.kind, "detail": event.detail}


def _task_began(event: ev.TaskBegan) -> Told:
    return "task_started", {
        "task_id": event.task_id,
        "tool_use_id": event.tool_use_id,
        "description": event.description,
        "task_type": event.kind,
        "is_backgrounded": True,
    }


def _task_ended(event: ev.TaskEnded) -> Told:
    return "task_notification", {
        "task_id": event.task_id,
        "tool_use_id": event.tool_use_id,
        "status": event.status,
        "output_file": event.output_path,
        "summary": event.summary,
    }


def _command(event: ev.CommandNoted) -> Told:
    return "command", {"command_id": event.command_id, "state": event.state}


def _work(event: ev.WorkCompleted) -> Told:
    return "work_budget", {
        "continuations": event.continuations,
        "percent": event.percent,
        "diminishing": event.diminishing,
        "duration_ms": round(event.duration_s * 1000),
    }


def _said(said: CommandOutput) -> Told:
    return "local_command_output", {"content": said.text}


def tell(content: str, level: str) -> Told:
    return "informational", {"content": content, "level": level}


SYSTEM_LINES: dict[type, Callable[[Any], Told]] = {
    ev.RequestStarted: _request,
    ev.Continued: _transition,
    ev.RetryScheduled: _retry,
    ev.ModelSwitched: _switch,
    ev.ContextChanged: _context,
    ev.CacheMissed: _cache_break,
    ev.CompactionBegan: _compaction_began,
    ev.CompactionEnded: _compaction_ended,
    ev.ModeSwitched: _mode,
    ev.StopPhaseProgressed: _stop_phase,
    ev.VerificationBegan: _verification_began,
    ev.VerificationEnded: _verification_ended,
    ev.Noticed: _notice,
    ev.Attached: _attachment,
    ev.TaskBegan: _task_began,
    ev.TaskEnded: _task_ended,
    ev.CommandNoted: _command,
    ev.WorkCompleted: _work,
    CommandOutput: _said,
}
"""A new event that stream-json tells by itself alone is a row here, and one in `docs/reference/headless.md`."""
