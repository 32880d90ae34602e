"""Whatever stage has changed what is sent, a resumed session sends the same bytes as one that was never left."""

import pytest

from everturn.modelserver import call, error, hold, text, too_long, when

MEDIA = error(400, message="messages.0.content.1.image.source.base64: image exceeds 5 MB maximum")
PICTURE = {
    "type": "image",
    "source": {
        "type": "base64",
        "media_type": "image/png",
        "data": "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNk+A8AAQUBAScY42YAAAAASUVORK5CYII=",
    },
}


STAGES = {
    "spill": "tool_results",
    "snip": "snip",
    "clear": "microcompact",
    "collapse": "collapse",
    "compact": "compact",
    "media": "media",
}
OPTIONS = {
    "spill": {"limits": {"message_results": 3_000, "result_preview": 500}},
    "snip": {"limits": {"snip_tokens": 500}},
    "clear": {"limits": {"clear_share": 0, "clear_gain": 0.002, "clear_keeps": 1, "clear_small": 0}},
    "collapse": {
        "permission_mode": "bypassPermissions",
        "limits": {"collapse_from": 0, "collapse_share": 0, "clear_share": 1},
    },
    "compact": {},
    "media": {},
}


def reads(bench, count, size=60):
    for number in range(count):
        (bench.folder / f"{number}.txt").write_text(f"Line of file {number}.\n" * size)
    return [call("Read", {"file_path": str(bench.folder / f"{number}.txt")}) for number in range(count)]


def play_next(bench):
    bench.model(call("Glob", {"pattern": "*.txt"}, call_id="toolu_next"), text("Done."))


async def spill(bench, engine):
    bench.model(*reads(bench, 1, 500), text("Done."))
    await bench.go_on(engine)


async def snip(bench, engine):
    bench.model(*(text(f"Answer {number}. " * 60) for number in range(4)))
    for number in range(4):
        await bench.go_on(engine, f"Prompt {number}.")


async def clear(bench, engine):
    bench.model(*reads(bench, 4), text("Done."))
    await bench.go_on(engine)


async def collapse(bench, engine):
    """Of a stretch that was found and summarised by itself."""
    make = {"command": "make test"}
    (bench.folder / "Makefile").write_text("test:\n\t@seq 700\n\t@test -e fixed\n")
    small = when("It was broken, and was fixed.", last_user_contains="finished stretch")
    bench.model(
        *(
            call("Bash", make),
            call("Bash", {"command": "touch fixed"}),
            call("Bash", make),
            call("Glob", {"pattern": "*"}),
        ),
        *(hold(text("Fixed.")), text("Went on.")),
        small,
    )

    def release(event):
        if getattr(event, "purpose", "") == "collapse":
            bench.server.release("go")

    await bench.go_on(engine, on_event=release)
    assert [note.summary for note in engine.collapses.staged + engine.collapses.committed] == [
        "[A finished stretch of work, a test that was made to pass, in short: It was broken, and was fixed.]"
    ]
    await bench.go_on(engine)


async def compact(bench, engine):
    bench.model(*reads(bench, 1), text("Alpha. " * 100), too_long(), text("Went on."), bench.summary())
    await bench.go_on(engine)
    engine.pin("Use tabs.")
    await bench.go_on(engine)


async def media(bench, engine):
    bench.model(MEDIA, text("Went on."))
    await bench.go_on(engine, [{"type": "text", "text": "Look."}, PICTURE])


@pytest.mark.parametrize("stage", [spill, snip, clear, collapse, compact, media], ids=lambda stage: stage.__name__)
async def test_the_next_request_is_the_same(bench, stage):
    options, name = OPTIONS[stage.__name__], STAGES[stage.__name__]
    engine = bench.engine(**options)
    await stage(bench, engine)
    assert name in [change.stage for run in bench.runs for change in run.of("context")]
    file = bench.session_file(engine.session_id)
    before = file.read_bytes()
    play_next(bench)
    await bench.go_on(engine, "Next.")
    expected = [request.raw for request in bench.requests[-2:]]
    await engine.aclose()

    play_next(bench)
    file.write_bytes(before)
    again = bench.engine(resume=engine.session_id, **options)
    await bench.go_on(again, "Next.")

    assert [request.raw for request in bench.requests[-2:]] == expected
