"""Whether the model thinks: by flag, by variable, by setting, the first of them that speaks."""

import pytest

OFF = {"type": "disabled"}


@pytest.mark.parametrize(
    ("flags", "variable", "setting", "expected"),
    [
        ((), None, None, (None, 32_000)),
        (("--thinking", "disabled"), None, None, (OFF, 8_192)),
        ((), "0", None, (OFF, 8_192)),
        ((), None, "false", (OFF, 8_192)),
        ((), "4000", "false", ({"type": "adaptive"}, 32_000)),
        (("--thinking", "adaptive"), "0", "false", ({"type": "adaptive"}, 32_000)),
    ],
)
async def test_the_flag_beats_the_variable_and_the_variable_the_setting(program, flags, variable, setting, expected):
    if setting is not None:
        assert (await program.run("config", "set", "alwaysThinkingEnabled", setting)).code == 0
    if variable is not None:
        program.env["MAX_THINKING_TOKENS"] = variable

    done = await program.run("-p", "Hello?", *flags)

    assert done.code == 0
    body = program.requests[-1].body
    assert (body.get("thinking"), body["max_tokens"]) == expected


async def test_a_way_of_thinking_that_the_model_does_not_take_is_refused(program):
    done = await program.run("-p", "Hello?", "--thinking", "enabled")

    assert (done.code, program.requests) == (2, [])
    assert "--thinking: claude-sonnet-5 does not take enabled thinking; it takes adaptive" in done.err


async def test_a_number_that_is_none_names_the_variable(program):
    program.env["MAX_THINKING_TOKENS"] = "many"

    done = await program.run("-p", "Hello?")

    assert done.code == 2
    assert "MAX_THINKING_TOKENS" in done.err
