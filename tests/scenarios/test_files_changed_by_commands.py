"""Files that shell commands changed are on the list that no stage may lose, like those that the tools for files changed."""

from everturn.modelserver import call, text, too_long

COMMANDS = [
    "sed -i s/one/two/ a.txt",
    "echo new | tee b.txt > c.txt",
    "mkdir -p deep && cd deep && mv ../e.txt f.txt && cd ..",
    "cp a.txt deep/",
    "sh format.sh",
    "cat g.txt && echo 'h.txt'",
]
CHANGED = ["a.txt", "b.txt", "c.txt", "e.txt", "deep/f.txt", "deep/a.txt", "read.txt"]
UNCHANGED = ["g.txt", "h.txt", "format.sh"]
WORDS = text("Some words. " * 100)


def play(bench, *then):
    """The formatter names no file; the one that the model has read is seen all the same."""
    for name in ("a.txt", "e.txt", "g.txt", "read.txt"):
        (bench.folder / name).write_text("one\n")
    (bench.folder / "format.sh").write_text('for each in re*d.txt; do echo formatted > "$each"; done')
    read = call("Read", {"file_path": str(bench.folder / "read.txt")})
    work = (call("Bash", {"command": command}) for command in COMMANDS)
    bench.model(read, *work, *then)


def listed(bench):
    """What the model reads as changed."""
    sent = [block["text"] for block in bench.sent[-1][0]["content"] if block["type"] == "text"]
    [told] = [part for part in "\n\n".join(sent).split("\n\n") if part.startswith("## Files changed so far")]
    return told.splitlines()[1:]


def named(bench, names):
    return sorted(f"- {bench.folder / name}" for name in names)


async def test_after_compactions_and_a_resume_they_are_still_listed(bench):
    play(bench, WORDS, too_long(), WORDS, bench.summary())
    engine = bench.engine(permission_mode="bypassPermissions")
    await bench.go_on(engine, "Begin.")
    await bench.go_on(engine, "Go on.")
    assert sorted(listed(bench)) == named(bench, CHANGED)
    await engine.aclose()

    again = bench.engine(resume=engine.session_id, permission_mode="bypassPermissions")
    bench.model(call("Bash", {"command": "echo more > i.txt"}), WORDS, too_long(), WORDS, bench.summary())
    await bench.go_on(again, "Go on.")
    await bench.go_on(again, "Go on.")

    assert sorted(listed(bench)) == named(bench, [*CHANGED, "i.txt"])
    assert [name for name in UNCHANGED if f"- {bench.folder / name}" in str(bench.sent[-1])] == []


async def test_when_the_oldest_rounds_are_left_out_they_are_listed_in_their_place(bench):
    play(bench, *[WORDS] * 8)
    engine = bench.engine(permission_mode="bypassPermissions", limits={"snip_tokens": 1_500})
    for number in range(5):
        await bench.go_on(engine, f"Prompt {number}.")

    assert sorted(listed(bench)) == named(bench, CHANGED)


async def test_a_collapse_lists_only_those_of_its_own_stretch(bench):
    play(bench, text("Went on."), call("Bash", {"command": "echo x > later.txt"}), WORDS, too_long(), WORDS)
    engine = bench.engine(permission_mode="bypassPermissions")
    await bench.go_on(engine, "Begin.")
    answers = [message for message in engine.transcript if message.role == "assistant"]
    engine.collapses.stage(answers[0].id, engine.transcript[-2].id, "It was done.")
    await bench.go_on(engine, "Go on.")

    await bench.go_on(engine, "Go on.")

    [told] = [
        block["text"] for message in bench.sent[-1] for block in message["content"] if "It was done." in str(block)
    ]
    listing = told.partition("## Files changed so far\n")[2].split("\n\n")[0].splitlines()
    assert sorted(listing) == named(bench, CHANGED)


async def test_what_a_command_in_the_background_changed_is_seen_with_the_next_one(bench):
    wait = "until [ -e go ]; do sleep 0.01; done"
    begin = {"command": f"echo x > late.txt; {wait}", "run_in_background": True}
    see = "until [ -e late.txt ]; do sleep 0.01; done; touch go"
    bench.model(
        *(call("Bash", begin), call("Bash", {"command": see}), WORDS),
        *(too_long(), WORDS, bench.summary()),
    )
    engine = bench.engine(permission_mode="bypassPermissions")
    await bench.go_on(engine, "Begin.")

    await bench.go_on(engine, "Go on.")

    assert sorted(listed(bench)) == named(bench, ["go", "late.txt"])
