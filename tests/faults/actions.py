"""What the loop did about a fault, told from its events: one test for each action that the corpus names."""

from collections.abc import Callable

from tests.faults.played import Played


def was_retried(played: Played) -> bool:
    return bool(played.run.of("api_retry")) and not played.run.result.is_error


def went_on(played: Played) -> bool:
    return not played.run.of("api_retry", "fallback") and not played.run.result.is_error


def failed(played: Played) -> bool:
    return played.run.result.is_error and bool(played.error)


def recovered(played: Played) -> bool:
    return not played.run.result.is_error


def was_compacted(played: Played) -> bool:
    return "reactive_compact_retry" in played.run.transitions and bool(played.summaries)


def gave_a_tool_error(played: Played) -> bool:
    [end] = played.run.of("tool_end")
    return end.is_error


def was_resumed(played: Played) -> bool:
    return played.run.transitions == ["next_turn"] and not played.run.of("tool_start")


def stopped(played: Played) -> bool:
    return not played.run.of("api_retry", "transition")


def switched(played: Played) -> bool:
    return bool(played.run.of("fallback"))


ACTIONS: dict[str, Callable[[Played], bool]] = {
    "retry": was_retried,
    "continue": went_on,
    "fail": failed,
    "recover": recovered,
    "compact": was_compacted,
    "tool_error": gave_a_tool_error,
    "pause_resume": was_resumed,
    "stop": stopped,
    "fallback": switched,
}
