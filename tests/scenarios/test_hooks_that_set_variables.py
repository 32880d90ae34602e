"""CLAUDE_ENV_FILE: what hooks export there counts for later commands, as if an earlier one had exported it."""

import json
import tempfile
from pathlib import Path

import pytest
from tests.scenarios.hooked import command, notices, on

from everturn.core.state import Reason
from everturn.modelserver import call, text

SHOW = {"command": 'echo "[$COLOUR] [$SHADE] [${GONE-unset}]"'}


def writes(*lines: str) -> str:
    return "; ".join(f"""echo '{line}' >> "$CLAUDE_ENV_FILE\"""" for line in lines)


async def test_what_a_session_start_hook_exports_reaches_later_commands(bench, hooked):
    start = hooked.script("start.sh", writes('export COLOUR="deep blue"', "export SHADE=$COLOUR-ish", "LOCAL=1"))
    hooked.user(SessionStart=[on("startup", command(start))])
    bench.model(call("Bash", SHOW), text("Done."))

    await hooked.run(permission_mode="bypassPermissions")

    assert "[deep blue] [deep blue-ish] [unset]" in str(bench.sent[1])


async def test_hooks_of_one_event_share_the_file_and_it_is_gone_afterwards(bench, hooked):
    keep = hooked.script("keep.sh", f'echo "$CLAUDE_ENV_FILE" > $DIR/path; {writes("export SHADE=dark")}')
    hooked.user(SessionStart=[on(None, command(writes("export COLOUR=red")), command(keep))])
    bench.model(call("Bash", SHOW), text("Done."))

    await hooked.run(permission_mode="bypassPermissions")

    assert "[red] [dark]" in str(bench.sent[1])
    path = (bench.home.parent / "scripts" / "path").read_text().strip()
    assert path.startswith(tempfile.gettempdir())
    assert not Path(path).parent.exists()


async def test_a_hook_hears_of_the_new_folder_and_changes_what_commands_have(bench, hooked):
    """As programs do that load the variables of a folder."""
    for name, colour in {"one": "red", "two": "green"}.items():
        (bench.folder / name).mkdir()
        (bench.folder / name / "colour").write_text(f"export COLOUR={colour}\n")
    load = hooked.script(
        "load.sh",
        """folder=$(python3 -c 'import json,sys; print(json.load(sys.stdin)["new_cwd"])')
if test -e "$folder/colour"; then cat "$folder/colour" >> "$CLAUDE_ENV_FILE"; else echo unset COLOUR >> "$CLAUDE_ENV_FILE"; fi""",
    )
    hooked.user(CwdChanged=[on(None, command(load))])
    bench.model(
        call("Bash", {"command": "cd one"}), call("Bash", SHOW), call("Bash", {"command": "cd ../two"}), call("Bash", SHOW),
        call("Bash", {"command": "cd .."}), call("Bash", SHOW), text("Done."),
    )  # fmt: skip

    await hooked.run(permission_mode="bypassPermissions")

    assert [
        str(bench.sent[place][-1]).count(f"[{colour}]") for place, colour in ((2, "red"), (4, "green"), (6, ""))
    ] == [1, 1, 2]


async def test_other_events_have_no_such_file(bench, hooked):
    hooked.env["CLAUDE_ENV_FILE"] = "/of/somebody/else"
    hooked.user(UserPromptSubmit=[on(None, command('echo "file: [$CLAUDE_ENV_FILE]"'))])
    bench.model(text("Done."))

    await hooked.run()

    assert "file: []" in str(bench.sent[0])


@pytest.mark.parametrize(
    ("written", "told"),
    [
        ('echo exit >> "$CLAUDE_ENV_FILE"', "their file ends the shell that reads it"),
        ('head -c 2000000 /dev/zero > "$CLAUDE_ENV_FILE"', "holds more than 1,048,576 bytes"),
        ('rm "$CLAUDE_ENV_FILE"; mkdir "$CLAUDE_ENV_FILE"', "something else stands in the place of their file"),
        ('rm "$CLAUDE_ENV_FILE"', "No such file"),
        ("printf 'export COLOUR=%0200000d' 1 > \"$CLAUDE_ENV_FILE\"", "too large for programs to start"),
    ],
)
async def test_a_file_that_is_none_sets_nothing_and_is_told(bench, hooked, written, told):
    hooked.user(SessionStart=[on(None, command(written))])
    bench.model(call("Bash", SHOW), text("Done."))

    run = await hooked.run(permission_mode="bypassPermissions")

    assert "[] [] [unset]" in str(bench.sent[1])
    assert "SessionStart hooks: their variables do not count: " in notices(run)
    assert told in notices(run)


async def test_what_decides_how_our_own_shell_reads_a_command_is_not_set(bench, hooked):
    hooked.user(SessionStart=[on(None, command(writes("export BASH_ENV=/evil", "export IFS=x", "export COLOUR=red")))])
    bench.model(call("Bash", {"command": 'echo "[$COLOUR] [$BASH_ENV]"'}), text("Done."))

    await hooked.run(permission_mode="bypassPermissions")

    assert "[red] []" in str(bench.sent[1])


@pytest.mark.needs("Landlock")
async def test_the_path_that_a_hook_has_set_is_known_when_a_line_is_judged(bench, hooked):
    """A program of the working folder stands in the place of one that only reads: beside a rule it does not run unasked."""
    (bench.folder / "bin").mkdir()
    (bench.folder / "bin" / "cat").write_text("#!/bin/sh\ntouch ran\n")
    (bench.folder / "bin" / "cat").chmod(0o755)
    (bench.folder / "a.txt").write_text("inside\n")
    hooked.user(SessionStart=[on(None, command(writes("export PATH=$CLAUDE_PROJECT_DIR/bin:$PATH")))])
    bench.model(call("Bash", {"command": "make -v >/dev/null; cat a.txt"}), text("Done."))

    run = await hooked.run(allowed_tools=["Bash(make *)", "Edit(//dev/null)"])

    assert len(run.result.denials) == 1
    assert not (bench.folder / "ran").exists()


async def test_a_path_that_no_file_can_have_is_watched_in_vain(bench, hooked):
    told = {"hookSpecificOutput": {"hookEventName": "SessionStart", "watchPaths": ["/\ud800"]}}
    hooked.user(
        SessionStart=[on(None, command(f"echo '{json.dumps(told)}'"))],
        FileChanged=[on(".env", command(hooked.noting("told")))],
    )
    bench.model(text("Done."))

    run = await hooked.run()

    assert run.reason is Reason.COMPLETED
    assert hooked.told("told") == []


async def test_files_that_answers_ask_to_watch_are_watched_until_the_next_list(bench, hooked):
    def watching(event, *names):
        paths = [str(bench.folder / name) for name in names]
        return f"echo '{json.dumps({'hookSpecificOutput': {'hookEventName': event, 'watchPaths': paths}})}'"

    (bench.folder / "deep").mkdir()
    changed = hooked.noting("told", f"grep -q a.lock $DIR/told && {watching('FileChanged', 'deep/b.lock')}; exit 0")
    hooked.user(
        SessionStart=[on(None, command(watching("SessionStart", "deep/a.lock")))],
        FileChanged=[on(r"lock$|named", command(changed))],
    )
    bench.model(
        *(
            call("Bash", {"command": f"echo {n} > deep/{name}"})
            for n, name in enumerate(("b.lock", "a.lock", "b.lock", "a.lock"))
        ),
        text("Done."),
    )

    await hooked.run(permission_mode="bypassPermissions")

    assert [(each["file_path"], each["event"]) for each in hooked.told("told")] == [
        (f"{bench.folder}/deep/a.lock", "add"),
        (f"{bench.folder}/deep/b.lock", "change"),
    ]
