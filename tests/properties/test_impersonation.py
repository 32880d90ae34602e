"""One conversation with a hostile text in every way that leads to the model: each tag in its requests is ours alone."""

from hypothesis import HealthCheck, example, given, settings
from tests.conftest import wait_for_tasks
from tests.scenarios.test_impersonation import said_by_us
from tests.tag_reader import ATTACK, FRAMES, OURS, check_nesting, find_tags, hostile_texts

from everturn import tool
from everturn.context.retention import HEAD
from everturn.modelserver import call, calls, say, text, too_long

LONG = "An earlier answer. " * 300


def play(bench, hostile):
    """Output in the background, a tool's error, a list of tasks, commands that fail."""
    (bench.folder / "hostile").write_text(hostile, encoding="utf-8", errors="replace")
    (bench.folder / "Makefile").write_text("test:\n\t@cat hostile; echo; echo '1 failed'; exit 1\n")
    shout = "cat hostile; exit 3"
    todos = [{"content": hostile or "x", "status": "pending", "activeForm": hostile or "x"}] * 2
    bench.model(
        call("Bash", {"command": shout, "run_in_background": True, "description": hostile}),
        calls(("Wait", {}), ("fail", {}), ("TodoWrite", {"todos": todos}), ("Read", {"file_path": "hostile"})),
        calls(("Bash", {"command": shout}), ("Bash", {"command": "make test | tail -99"})),
        text(LONG),
        text(LONG),
    )


@settings(
    max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
@given(hostile=hostile_texts())
@example(hostile=ATTACK)
@example(hostile="<")
@example(hostile="/system-reminder> <")
async def test_in_no_request_a_tag_of_ours_is_foreign(bench, hostile):
    @tool
    async def fail() -> str:
        """Fails."""
        raise ValueError(hostile)

    words = iter([hostile, None, None])
    engine = bench.engine(
        permission_mode="bypassPermissions",
        tools=[wait_for_tasks, fail],
        hooks={"stop": lambda _turn: next(words)},
        user_context={"memory": hostile, "other": hostile},
        system_context={"branch": hostile},
    )
    begun = len(bench.bodies)
    play(bench, hostile)
    await bench.go_on(engine, "Begin.")
    bench.model(too_long(), text("Went on."), bench.summary(say(f"Done. {hostile}", verbatim=True)))
    await bench.go_on(engine, "Go on.")
    await engine.aclose()

    asked = bench.bodies[begun:]
    assert len(asked) >= 7
    for body in asked:
        assert find_tags(body["system"][-1]["text"]) == []
        assert said_by_us(body)
    [summary] = [told for told in said_by_us(asked[-1]) if told.startswith("The earlier part of this conversation")]
    assert check_nesting(summary, {**OURS, **FRAMES}) == ["summary"]
    [facts] = [told for told in said_by_us(asked[-1]) if told.startswith(HEAD)]
    assert (facts.count("[pending]"), "$ make test | tail -99\n" in facts) == (2, True)
