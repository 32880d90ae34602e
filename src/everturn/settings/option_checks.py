"""Judging the options that are more than a text, a number or a list: hooks, thinking, tools, the catalogue."""

from collections.abc import Mapping
from typing import Any

from everturn.ports.model import ModelCard, TaskBudget, ThinkingConfig
from everturn.settings import checks

HOOKS = ("stop", "post_tool", "stop_failure", "pre_compact", "post_compact")
THINKING = ("adaptive", "enabled", "disabled")


def hooks(value: Any) -> str | None:
    if not isinstance(value, Mapping):
        return f"must map {', '.join(HOOKS)} to functions"
    for name, functions in value.items():
        if name not in HOOKS and (problem := _wrong_event(str(name))):
            return problem
        if not all(callable(hook) for hook in (functions if isinstance(functions, list | tuple) else (functions,))):
            return f"must map {name} to a function or a list of functions"
    return None


def _wrong_event(name: str) -> str | None:
    from everturn.ports.hook_events import HOOK_EVENTS

    names = (*HOOKS, *(event.name for event in HOOK_EVENTS.values() if not event.not_yet))
    if name in names:
        return None
    if name in HOOK_EVENTS:
        return f"has {name}, which does not come yet: {HOOK_EVENTS[name].not_yet}"
    return f"knows no {name!r}{checks.nearest(name, names)} (allowed: {', '.join(names)})"


def thinking(value: Any) -> str | None:
    if isinstance(value, ThinkingConfig | bool):
        return None
    kinds = checks.one_of(*THINKING)
    if isinstance(value, str):
        return kinds(value)
    if not isinstance(value, Mapping):
        return f"must be adaptive, enabled, disabled, or a map with a type, not {value!r:.60}"
    stranger = next((key for key in value if key not in {"type", "budget_tokens", "display"}), None)
    if stranger is not None:
        return f"knows no {stranger!r} (allowed: type, budget_tokens, display)"
    if problem := kinds(value.get("type")):
        return f"has a type that {problem}"
    return _thinking_details(value)


def _thinking_details(value: Mapping[str, Any]) -> str | None:
    budget, display = value.get("budget_tokens"), value.get("display")
    if value["type"] == "enabled" and (problem := checks.whole(1_024)(budget)):
        return f"has budget_tokens that {problem}"
    if value["type"] != "enabled" and budget is not None:
        return "takes budget_tokens with type enabled only"
    problem = checks.one_of("summarized", "omitted")(display) if display is not None else None
    return f"has a display that {problem}" if problem else None


def user_context(value: Any) -> str | None:
    return None if callable(value) else checks.text_map(value)


def mcp_servers(value: Any) -> str | None:
    if not isinstance(value, Mapping) or not all(isinstance(name, str) for name in value):
        return "must map names to servers"
    for name, server in value.items():
        if not isinstance(server, Mapping) and not callable(getattr(server, "answer", None)):
            return f"has a server {name!r:.60} that is neither a definition nor an object with a method `answer`"
    return None


def output_schema(value: Any) -> str | None:
    return None if isinstance(value, Mapping) else "must be a JSON Schema as a map"


def _model_card(value: Any) -> str | None:
    return None if isinstance(value, ModelCard | Mapping) else "must be a catalogue entry (a map with an id)"


def _task_budget(value: Any) -> str | None:
    return None if isinstance(value, TaskBudget) else "must be a TaskBudget"


def approver(value: Any) -> str | None:
    if checks.has_members(value, "approve") or (checks.is_function(value) and checks.takes(value, 2)):
        return None
    return f"must be a function of the call and the reason, or an object with such a method `approve`, not {checks.show(value)}"


_TOOL = ("name", "description", "schema", "result_limit", "deferred", "settle", "parse", "parse_approved")
_TOOL_CALL = ("traits", "line", "check", "run", "done")


def _tool(value: Any) -> str | None:
    if checks.is_function(value) or checks.has_members(value, *_TOOL, *_TOOL_CALL):
        return None
    hint = "; built-in tools are named in builtin_tools" if isinstance(value, str) else ""
    return f"is neither a function written in Python nor a tool made by the decorator @tool: {checks.show(value)}{hint}"


models = checks.any_of(checks.path, checks.list_of(_model_card))
task_budget = checks.any_of(checks.whole(1), _task_budget)
tools = checks.list_of(_tool)
