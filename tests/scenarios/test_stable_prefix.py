"""The bytes of a request are a prefix of the next one's, but where a `context` record says why not."""

import re
from itertools import pairwise

from everturn.core.state import AbortCause
from everturn.modelserver import call, cut, error, hold, overloaded, say, text, thinking, too_long, truncated

MARK = re.compile(rb',"cache_control":\{[^}]*\}')


def content(received):
    """Tools, system and messages, without cache marks and without the brackets at the end."""
    raw = MARK.sub(b"", received.raw)
    return raw[raw.index(b'"tools":') :].removesuffix(b"]}]}")


def breaks(requests):
    """Numbers of the requests that do not begin with the bytes of the one before."""
    pairs = enumerate(pairwise(requests), 1)
    return [number for number, (one, other) in pairs if not content(other).startswith(content(one))]


async def test_a_long_mixed_session_never_breaks_it(bench):
    (bench.folder / "a.txt").write_text("alpha\n")
    read = call("Read", {"file_path": str(bench.folder / "a.txt")})
    hooked = []

    async def hook(turn):
        hooked.append(turn)
        return "Look again." if len(hooked) == 1 else None

    bench.model(
        *(say(thinking("Let me look."), read), text("Alpha.")),
        *(truncated("Begun, "), truncated("Begun again, "), text("ended.")),
        *(cut("Hel"), say("Both:", read, call("Bash", {"command": "echo hi"})), error(500), text("Done.")),
        error(400),
        hold(text("Interrupted in the middle of it"), after=4),
        *(call("Teleport", {}), text("Ü and 🌍 and </tags>.")),
    )
    engine = bench.engine(
        hooks={"stop": hook}, permission_mode="bypassPermissions", user_context={"a": "b"}, system_context={"c": "d"}
    )

    def interrupt(event):
        if event.__struct_config__.tag == "text_delta" and event.text.startswith("Interrupted"):
            engine.abort(AbortCause.USER)

    for n in range(6):
        await bench.go_on(engine, f"Prompt {n} with ü and 🌍.", on_event=interrupt)

    assert len(bench.requests) > 12
    assert breaks(bench.requests) == []
    assert "context" not in {record["type"] for record in bench.records(engine.session_id)}


async def test_each_break_has_its_record(bench):
    (bench.folder / "a.txt").write_text("alpha\n")
    read = call("Read", {"file_path": str(bench.folder / "a.txt")})
    bench.model(
        *(say(thinking("Let me look."), read), overloaded(), overloaded(), overloaded(), text("Alpha. " * 50)),
        *(too_long(), text("Went on.")),
        text("And on."),
        bench.summary(),
    )
    engine = bench.engine(fallback_models=["claude-opus-5"])

    for _ in range(3):
        await bench.go_on(engine)

    main = [request for request in bench.requests if "Write a summary" not in str(request.body["messages"][-1])]
    altered = [record["stage"] for record in bench.records(engine.session_id) if record["type"] == "context"]
    assert altered == ["signatures", "compact"]
    assert len(breaks(main)) == 2


async def test_the_call_for_a_summary_reads_the_cache_of_the_main_loop(bench):
    bench.model(text("Earlier. " * 50), too_long(), text("Went on."), bench.summary())
    engine = bench.engine()

    await bench.go_on(engine)
    await bench.go_on(engine)

    refused, summary = bench.requests[1:3]
    assert content(summary).startswith(content(refused))


async def test_cache_marks_are_at_most_four_and_move_with_the_conversation(bench):
    bench.model(*[call("Glob", {"pattern": f"{n}*"}) for n in range(6)], text("Done."))

    await bench.run()

    for received in bench.requests:
        assert 1 < len(MARK.findall(received.raw)) <= 4
    assert bench.requests[-1].body["messages"][-1]["content"][-1]["cache_control"] == {"type": "ephemeral"}
