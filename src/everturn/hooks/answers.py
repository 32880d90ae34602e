"""What a hook's answer means: exit codes, JSON and plain text of programs, JSON of models; and what several say together. Pure."""

import json
from collections.abc import Iterable
from typing import Any

import msgspec

from everturn.ports.elicitation import ElicitationAnswer
from everturn.ports.hook_events import (
    CONTEXT,
    HOOK_EVENTS,
    MAX_WATCHED,
    WITHOUT_EFFECT,
    ExitTwo,
    HookEvent,
)
from everturn.ports.hooks import NOTHING_SAID, HookRuling, HookVerdict

BLOCKING_CODE = 2
_ORDER = tuple(HookRuling)
_LEGACY = {"approve": HookRuling.ALLOW, "block": HookRuling.DENY}


class HookAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """What one hook said, as far as it is understood."""

    verdict: HookVerdict = NOTHING_SAID
    problem: str = ""
    """What is wrong with the answer; empty where nothing is."""
    exit_code: int | None = None
    remark: str = ""
    """What of the answer is passed over, and does no harm. Told once in a session."""
    refusal: str = ""
    """With exit code 2: its reason, whether or not the event can be refused."""


def judge_exit(event: HookEvent, code: int, output: str, errors: str) -> HookAnswer:
    """`output` and `errors`: what the program wrote to standard output and standard error."""
    told, broken = read_object(output)
    answer = HookAnswer(problem=broken) if told is None else judge_json(event, told)
    answer = msgspec.structs.replace(answer, exit_code=code)
    if code == BLOCKING_CODE:
        given, none = _blocking_reason(answer.verdict) or errors.strip(), "the hook gave no reason (exit code 2)"
        refusal = given or (output.strip() if told is None else "") or none
        return msgspec.structs.replace(answer, verdict=_refuse(event, answer.verdict, given or none), refusal=refusal)
    if code != 0:
        if told is not None:
            return answer
        first = next((line for line in errors.splitlines() if line.strip()), "no error output")
        return msgspec.structs.replace(
            answer, problem=f"Failed with non-blocking status code: {first} (exit code {code})"
        )
    text = output.strip()
    if told is None and text and event.plain_context:
        # A text for the model may begin with a brace.
        return msgspec.structs.replace(answer, verdict=HookVerdict(context=(text,)), problem="", remark=broken)
    return answer


def judge_response(event: HookEvent, status: int, body: str) -> HookAnswer:
    """Of an http hook: no status blocks."""
    if not 200 <= status < 300:  # noqa: PLR2004 (HTTP)
        return HookAnswer(problem=f"answered with status {status}")
    if not body.strip():
        return HookAnswer()
    told = parse_object(body)
    return (
        HookAnswer(problem="answered with something else than a JSON object")
        if told is None
        else judge_json(event, told)
    )


def judge_model(event: HookEvent, text: str, *, continue_on_block: bool) -> HookAnswer:
    """Of a prompt: `{"ok": …, "reason": …}`."""
    told = parse_object(_without_fence(text))
    if told is None or not isinstance(ok := told.get("ok"), bool):
        return HookAnswer(problem=f"the model did not answer with `ok`: {' '.join(text.split())[:120]}")
    reason = told.get("reason")
    reason = reason.strip() if isinstance(reason, str) and reason.strip() else "the hook gave no reason"
    if ok:
        return HookAnswer()
    match event.name:
        case "Stop":
            verdict = NOTHING_SAID if told.get("impossible") is True else HookVerdict(block=reason)
        case "PreToolUse":
            stop = None if continue_on_block else reason
            verdict = HookVerdict(ruling=HookRuling.DENY, reason=reason, stop=stop)
        case "PostToolUse" if not continue_on_block:
            verdict = HookVerdict(stop=reason)
        case "PermissionRequest":
            verdict = NOTHING_SAID
        case _:
            verdict = HookVerdict(block=reason)
    return HookAnswer(verdict=verdict)


def parse_object(text: str) -> dict[str, Any] | None:
    """None for plain text: what does not begin with a brace, and what is no JSON."""
    return read_object(text)[0]


def read_object(text: str) -> tuple[dict[str, Any] | None, str]:
    """The object, or None for plain text; and what is wrong with a text that begins like an object and is none."""
    text = text.lstrip().removeprefix("\ufeff").strip()
    if not text.startswith("{"):
        return None, ""
    try:
        value = json.loads(text)
    except ValueError as error:
        return None, f"printed JSON that cannot be read ({error}), so that it counts as plain text"
    except RecursionError:
        return None, "printed JSON that is nested too deeply, so that it counts as plain text"
    return value, ""


def judge_json(event: HookEvent, told: dict[str, Any]) -> HookAnswer:
    problems: list[str] = []
    found: dict[str, Any] = {}
    if told.get("continue", True) is False:
        found["stop"] = _text(told, "stopReason", problems) or "a hook ended it"
    elif not isinstance(told.get("continue", True), bool):
        problems.append("continue is neither true nor false")
    if notice := _text(told, "systemMessage", problems):
        found["notices"] = (notice,)
    if "decision" in event.answers and event.name != "PermissionRequest":
        found |= _judge_decision(event, told, problems)
    special = told.get("hookSpecificOutput")
    if isinstance(special, dict):
        if special.get("hookEventName") != event.name:
            named = special.get("hookEventName")
            problems.append(f"hookSpecificOutput is for the event {named!r:.40}, not for {event.name}, and was ignored")
        else:
            found |= _judge_special(event, special, problems)
    elif special is not None:
        problems.append("hookSpecificOutput is no object")
    misplaced, unknown = find_passed_over(event, told, special if isinstance(special, dict) else {})
    return HookAnswer(
        verdict=HookVerdict(**found), problem="; ".join([*problems, *misplaced]), remark="; ".join(unknown)
    )


def _judge_decision(event: HookEvent, told: dict[str, Any], problems: list[str]) -> dict[str, Any]:
    """The decision beside `hookSpecificOutput`."""
    match event.name, told.get("decision"):
        case _, None:
            return {}
        case "PreToolUse", "approve" | "block" as decision:
            return {"ruling": _LEGACY[decision], "reason": _text(told, "reason", problems)}
        case name, "block" if event.blocks and name != "PreToolUse":
            return {"block": _text(told, "reason", problems) or "the hook gave no reason"}
        case name, "approve" | "allow" if name != "PreToolUse":
            # It has no objection, which is what happens without an answer.
            return {}
        case _, decision:
            problems.append(f"decision {decision!r:.40} is unknown")
            return {}


def find_passed_over(event: HookEvent, told: dict[str, Any], special: dict[str, Any]) -> tuple[list[str], list[str]]:
    """Fields in the wrong place, which would decide something in the right one; and those that count nowhere."""
    misplaced, idle = list[str](), list[str]()
    places = (told, event.beside, event.inside, "into"), (special, event.inside, event.beside, "beside")
    for fields, own, other, where in places:
        for name in fields:
            if name in own:
                continue
            if name in other:
                misplaced.append(f"{name} belongs {where} hookSpecificOutput, and was ignored")
            elif name in WITHOUT_EFFECT:
                idle.append(f"{name} has no effect in this version")
            elif name in _ALL_ANSWERS:
                idle.append(f"{name} has no effect at {event.name}")
            elif name != CONTEXT or fields is told:
                # In its place it was told already that this event takes none.
                idle.append(f"{name!r:.40} is no known field")
    return misplaced, idle


_ALL_ANSWERS = frozenset(name for event in HOOK_EVENTS.values() for name in event.answers)


def _judge_special(event: HookEvent, special: dict[str, Any], problems: list[str]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    if context := _text(special, CONTEXT, problems):
        if event.takes_context:
            found["context"] = (context,)
        else:
            problems.append(f"{event.name} takes no additionalContext")
    match event.name:
        case "PreToolUse":
            found |= _judge_permission(special, problems)
        case "PermissionRequest":
            found |= _judge_request(special.get("decision"), problems)
        case "PostToolUse" if special.get("updatedToolOutput") is not None:
            found["output"] = render_output(special["updatedToolOutput"])
    if "action" in event.answers and "action" in special:
        found |= _judge_elicitation(special, problems)
    if "watchPaths" in event.answers and "watchPaths" in special:
        found |= _judge_paths(special["watchPaths"], problems)
    return found


def _judge_elicitation(special: dict[str, Any], problems: list[str]) -> dict[str, Any]:
    try:
        answer = msgspec.convert({"action": special["action"], "content": special.get("content")}, ElicitationAnswer)
    except (msgspec.ValidationError, UnicodeEncodeError):
        problems.append("action must be accept, decline or cancel, and content an object; the answer was ignored")
        return {}
    return {"answered": answer}


def render_output(value: Any) -> str:
    """The text for the model of a result that a hook has changed: its text where it has the form of a known tool's, else JSON.

    What a hook has taken out must not come back because its answer has another form.
    """
    match value:
        case str():
            return value
        case {"stdout": str(output), "stderr": str(errors)}:
            return "\n".join(filter(None, (output.rstrip("\n"), errors)))
        case {"stdout": str(text)}:
            return text
        case {"content": str(text)} | {"file": {"content": str(text)}}:
            return text
        case _:
            return json.dumps(value, ensure_ascii=False)


def _judge_paths(paths: Any, problems: list[str]) -> dict[str, Any]:
    if not isinstance(paths, list) or not all(
        isinstance(path, str) and path.startswith("/") and "\0" not in path for path in paths
    ):
        problems.append("watchPaths must be a list of absolute paths, and was ignored")
        return {}
    if len(paths) > MAX_WATCHED:
        problems.append(f"watchPaths holds more than {MAX_WATCHED:,} paths; the rest is passed over")
    return {"watch": tuple(dict.fromkeys(paths[:MAX_WATCHED]))}


def _judge_permission(special: dict[str, Any], problems: list[str]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    decision = special.get("permissionDecision")
    if decision in tuple(HookRuling):
        found |= {"ruling": HookRuling(decision), "reason": _text(special, "permissionDecisionReason", problems)}
    elif decision is not None:
        problems.append(f"permissionDecision {decision!r:.40} is none of {', '.join(sorted(HookRuling))}")
    return found | _take_input(special, problems)


def _judge_request(decision: Any, problems: list[str]) -> dict[str, Any]:
    if decision is None:
        return {}
    if not isinstance(decision, dict) or decision.get("behavior") not in ("allow", "deny"):
        problems.append("decision must be an object whose behavior is allow or deny")
        return {}
    found: dict[str, Any] = {
        "ruling": HookRuling(decision["behavior"]),
        "reason": _text(decision, "message", problems),
        "interrupt": decision.get("interrupt") is True,
    }
    changes = decision.get("updatedPermissions", [])
    if isinstance(changes, list) and all(isinstance(change, dict) for change in changes):
        found["permissions"] = tuple(changes)
    else:
        problems.append("updatedPermissions must be a list of objects")
    return found | _take_input(decision, problems)


def _take_input(fields: dict[str, Any], problems: list[str]) -> dict[str, Any]:
    given = fields.get("updatedInput")
    if given is not None and not isinstance(given, dict):
        problems.append("updatedInput is no object")
        return {}
    return {} if given is None else {"input": given}


def _text(fields: dict[str, Any], name: str, problems: list[str]) -> str:
    text = fields.get(name)
    if text is not None and not isinstance(text, str):
        problems.append(f"{name} is no text")
        return ""
    return (text or "").strip()


def _blocking_reason(verdict: HookVerdict) -> str:
    if verdict.ruling is HookRuling.DENY:
        return verdict.reason
    return verdict.block or ""


def _refuse(event: HookEvent, verdict: HookVerdict, reason: str) -> HookVerdict:
    """Exit code 2: no JSON undoes it."""
    if event.name == "PreToolUse":
        return msgspec.structs.replace(verdict, ruling=HookRuling.DENY, reason=reason, input=None)
    match event.exit_2:
        case ExitTwo.BLOCKS | ExitTwo.TOLD:
            return msgspec.structs.replace(verdict, block=reason)
        case ExitTwo.SHOWN:
            return msgspec.structs.replace(verdict, notices=(*verdict.notices, reason))
        case _:
            return msgspec.structs.replace(verdict, ruling=None, input=None, permissions=())


def merge(verdicts: Iterable[HookVerdict]) -> HookVerdict:
    """Of rulings the strictest counts; reasons of the same ruling, blocks and contexts are joined; the first stop counts."""
    said = [verdict for verdict in verdicts if verdict != NOTHING_SAID]
    if len(said) <= 1:
        return said[0] if said else NOTHING_SAID
    rulings = [verdict.ruling for verdict in said if verdict.ruling is not None]
    ruling = min(rulings, key=_ORDER.index, default=None)
    changing = [verdict for verdict in said if verdict.input is not None]
    if ruling is HookRuling.ALLOW and changing and changing[-1].ruling is not HookRuling.ALLOW:
        # The yes was for the input that its hook has seen.
        ruling = None
    deciding = [verdict for verdict in said if ruling is not None and verdict.ruling is ruling]
    blocks = [verdict.block for verdict in said if verdict.block is not None]
    return HookVerdict(
        ruling=ruling,
        reason="\n".join(dict.fromkeys(verdict.reason for verdict in deciding if verdict.reason)),
        input=changing[-1].input if changing and ruling is not HookRuling.DENY else None,
        block="\n".join(blocks) if blocks else None,
        stop=next((verdict.stop for verdict in said if verdict.stop is not None), None),
        context=tuple(text for verdict in said for text in verdict.context),
        answered=next(
            (
                verdict.answered
                for verdict in said
                if verdict.answered is not None and verdict.answered.action != "accept"
            ),
            next((verdict.answered for verdict in said if verdict.answered is not None), None),
        ),
        output=next((verdict.output for verdict in reversed(said) if verdict.output is not None), None),
        notices=tuple(text for verdict in said for text in verdict.notices),
        permissions=tuple(change for verdict in deciding for change in verdict.permissions),
        interrupt=any(verdict.interrupt for verdict in deciding),
        watch=_join_paths(said),
    )


def _join_paths(said: list[HookVerdict]) -> tuple[str, ...] | None:
    asked = [verdict.watch for verdict in said if verdict.watch is not None]
    return tuple(dict.fromkeys(path for paths in asked for path in paths)) if asked else None


def name_decision(verdict: HookVerdict) -> str:
    """In a word or two, for people and events."""
    told = [str(verdict.ruling)] if verdict.ruling is not None else []
    told += ["block"] if verdict.block is not None else []
    told += ["stop"] if verdict.stop is not None else []
    told += ["input changed"] if verdict.input is not None else []
    told += ["output changed"] if verdict.output is not None else []
    told += ["context"] if verdict.context else []
    told += ["files to watch"] if verdict.watch is not None else []
    return ", ".join(told)


def _without_fence(text: str) -> str:
    lines = text.strip().splitlines()
    if len(lines) > 2 and lines[0].startswith("```") and lines[-1].strip() == "```":  # noqa: PLR2004 (a fence has two lines)
        return "\n".join(lines[1:-1])
    return text
