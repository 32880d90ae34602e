"""How each reason shows in the result, as the contract says."""

import pytest

from everturn.core.state import ENDINGS, Ending, Exit, Guards, Reason, Transition

DURING = "error_during_execution"
CONTRACT = {
    "aborted_streaming": ("aborted_streaming", "error_during_execution", True, 130, False),
    "aborted_tools": ("aborted_tools", "error_during_execution", True, 130, False),
    "max_budget_usd": ("budget_exhausted", "error_max_budget_usd", True, 1, False),
    "image_error": ("image_error", "success", True, 1, False),
    "model_error": ("model_error", "success", True, 1, True),
    "prompt_too_long": ("prompt_too_long", "success", True, 1, True),
    "completed": ("completed", "success", False, 0, False),
    "stop_hook_prevented": ("stop_hook_prevented", "success", False, 0, False),
    "hook_stopped": ("hook_stopped", "success", False, 0, False),
    "tool_deferred": ("tool_deferred", "success", False, 0, False),
    "prompt_blocked": ("prompt_blocked", "success", True, 1, False),
    "goal_not_met": ("goal_not_met", DURING, True, 1, False),
    "blocking_limit": ("blocking_limit", "success", True, 1, False),
    "max_turns": ("max_turns", "error_max_turns", True, 1, False),
    "max_tokens_total": ("max_tokens_total", DURING, True, 1, False),
    "max_tool_calls": ("max_tool_calls", DURING, True, 1, False),
    "max_wall_time": ("max_wall_time", DURING, True, 1, False),
    "repeated_calls": ("repeated_calls", DURING, True, 1, False),
    "structured_output_retries": (
        "structured_output_retries",
        "error_max_structured_output_retries",
        True,
        1,
        False,
    ),
}


def test_every_reason_has_its_ending():
    assert set(ENDINGS) == set(Reason) == set(CONTRACT)


def test_no_two_reasons_are_published_under_one_name():
    assert len({ending.public for ending in ENDINGS.values()}) == len(ENDINGS)


@pytest.mark.parametrize("reason", Reason)
def test_each_reason_ends_as_the_contract_says(reason: Reason):
    public, subtype, is_error, exit_, stop_failure = CONTRACT[reason]

    assert ENDINGS[reason] == Ending(
        public=public, subtype=subtype, is_error=is_error, exit=Exit(exit_), stop_failure=stop_failure
    )


def test_the_names_of_transitions_are_the_contracts():
    assert [str(transition) for transition in Transition] == [
        "next_turn",
        "max_output_tokens_escalate",
        "max_output_tokens_recovery",
        "collapse_drain_retry",
        "reactive_compact_retry",
        "stop_hook_blocking",
        "goal_retry",
        "token_budget_continuation",
    ]


def test_a_query_starts_with_clean_guards_in_turn_one():
    assert Guards() == Guards(
        turn=1,
        output_recoveries=0,
        reactive_compact_tried=False,
        max_output_override=None,
        stop_hook_active=False,
        stop_hook_blocks=0,
        goal_failures=0,
        pauses=0,
        transition=None,
    )


def test_guards_are_never_changed_in_place():
    with pytest.raises(AttributeError):
        Guards().turn = 2
