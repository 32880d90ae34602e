"""Whoever says yes knows what runs: in which folder, with which exports, and what of the words is the command's own."""

import os

import pytest

from everturn.modelserver import call, text
from everturn.ports.policy import Ruling, Verdict
from everturn.ports.rules import Permissions, WrittenFolder
from everturn.settings.setup import WrittenSettings


class Approver:
    def __init__(self, decide=lambda _: Ruling.ALLOW):
        self.decide = decide
        self.asked = []

    async def approve(self, call, reason):
        self.asked.append((call, reason))
        return Verdict(ruling=self.decide(call), reason="the person decided")


def bash(command, **fields):
    return call("Bash", {"command": command, **fields})


def answers(bench):
    return [block["content"] for sent in bench.sent[-1] for block in sent["content"] if block["type"] == "tool_result"]


@pytest.fixture
def vendor(bench):
    folder = bench.folder / "vendor"
    folder.mkdir()
    for place, word in ((bench.folder, "ours"), (folder, "theirs")):
        (place / "run.sh").write_text(f"#!/bin/sh\necho {word}\n")
        (place / "run.sh").chmod(0o755)
        (place / "Makefile").write_text(f"test:\n\t@echo {word}\n")
    return folder


@pytest.mark.needs("Landlock")
async def test_a_folder_that_an_unasked_command_went_to_is_named_in_the_next_question(bench, vendor):
    approver = Approver(lambda _: Ruling.DENY)
    bench.model(
        bash("make test"), bash("cd vendor"), bash("make test"), bash("cd .."), bash("make test"), text("Done.")
    )

    await bench.run(approver=approver)

    place = str(vendor.resolve())
    assert [asked.folder for asked, _ in approver.asked] == ["", place, ""]
    assert [f"it would run in {place!r}" in reason for _, reason in approver.asked] == [False, True, False]


@pytest.mark.needs("Landlock")
async def test_a_line_that_goes_to_a_folder_itself_is_not_said_to_run_where_the_shell_stands(bench, vendor):
    approver = Approver(lambda _: Ruling.DENY)
    there = bench.folder.resolve()
    bench.model(bash("cd vendor"), bash(f"cd {there} && make test"), bash(f"cd {there}; make test"), text("Done."))

    await bench.run(approver=approver)

    assert ["it would run in" in reason for _, reason in approver.asked] == [False, True]


@pytest.mark.needs("Landlock")
async def test_a_folder_that_was_gone_when_a_person_was_asked_does_not_come_back_before_the_command_runs(bench, vendor):
    away = vendor.with_name("away")

    def decide(_):
        if vendor.exists():
            vendor.rename(away)
            return Ruling.DENY
        away.rename(vendor)
        return Ruling.ALLOW

    approver = Approver(decide)
    bench.model(bash("cd vendor"), bash("make test"), bash("make test"), text("Done."))

    await bench.run(approver=approver)

    assert [asked.folder for asked, _ in approver.asked] == [str(vendor.resolve()), ""]
    assert answers(bench)[2].startswith("ours\nThe folder ")


@pytest.mark.needs("bubblewrap")
async def test_a_folder_that_a_sandboxed_command_went_to_is_named_when_one_wants_out(bench, sandbox, vendor):
    approver = Approver()
    bench.model(bash("cd vendor"), bash("sh run.sh", dangerouslyDisableSandbox=True), text("Done."))

    await bench.run(approver=approver, sandbox=sandbox)

    [(asked, reason)] = approver.asked
    assert asked.folder == str(vendor.resolve())
    assert repr(asked.folder) in reason


@pytest.mark.needs("Landlock")
async def test_where_a_line_goes_back_to_is_told(bench, vendor):
    approver = Approver(lambda _: Ruling.DENY)
    bench.model(bash("cd vendor && cd .."), bash("cd - && make test"), bash("make - test"), text("Done."))

    await bench.run(approver=approver)

    assert [asked.exports for asked, _ in approver.asked] == [(f"OLDPWD={vendor.resolve()}",), ()]


@pytest.mark.needs("Landlock")
@pytest.mark.parametrize(
    "rule",
    [
        "./run.sh", "./run.sh *", "./*", "sh run.sh", "sh ./run.sh *", "bash run.sh", "source run.sh", ". ./run.sh", "timeout 5 ./run.sh",
        "X=1 ./run.sh", "$PWD/run.sh", "sh -x run.sh",
    ],
)  # fmt: skip
async def test_a_rule_that_names_a_path_is_about_the_working_folder(bench, vendor, rule):
    """In one line and in two calls; as it is written, wherever the shell stands."""
    command = rule.removesuffix(" *").replace("./*", "./run.sh")
    approver = Approver(lambda _: Ruling.DENY)
    bench.model(
        bash(command),
        bash(f"cd vendor && {command}"),
        bash(f"(cd vendor; {command})"),
        bash("cd vendor"),
        bash(command),
        bash(f"cd .. && {command}"),
        text("Done."),
    )

    await bench.run(approver=approver, allowed_tools=[f"Bash({rule})"])

    told = answers(bench)
    assert [("ours" in each, "theirs" in each) for each in told] == [
        (True, False),
        *[(False, False)] * 4,
        (True, False),
    ]
    assert len(approver.asked) == 3


@pytest.mark.needs("Landlock")
async def test_a_rule_that_names_no_path_holds_in_every_folder(bench, vendor):
    bench.model(bash("cd vendor && make test"), bash("sh run.sh"), bash(f"{vendor}/run.sh"), text("Done."))

    await bench.run(allowed_tools=["Bash(make *)", "Bash(sh *)", f"Bash({vendor}/run.sh)"])

    assert answers(bench) == ["theirs\nThe shell is now in vendor/", "theirs", "theirs"]


@pytest.mark.needs("Landlock")
async def test_no_rule_is_offered_for_a_path_of_another_folder(bench, vendor):
    approver = Approver(lambda _: Ruling.DENY)
    bench.model(bash("./run.sh"), bash("cd vendor"), bash("./run.sh"), text("Done."))

    await bench.run(approver=approver)

    assert [bool(asked.offers) for asked, _ in approver.asked] == [True, False]


@pytest.mark.needs("Landlock")
async def test_each_part_is_explained_for_the_folder_that_it_runs_in(bench, vendor):
    approver = Approver(lambda _: Ruling.DENY)
    bench.model(bash("./run.sh && cd vendor && ./run.sh"), text("Done."))

    await bench.run(approver=approver, allowed_tools=["Bash(./run.sh)"])

    first, _, last = approver.asked[0][0].details
    assert first.startswith("allow: ./run.sh")
    assert last.startswith("ask: ./run.sh")
    assert str(vendor.resolve()) in last


@pytest.mark.needs("Landlock")
async def test_exports_that_matter_stand_with_every_question_until_they_are_gone(bench):
    (bench.folder / "activate").write_text("export PATH=/opt/mine:$PATH GREETING=hello\n")
    approver = Approver()
    bench.model(
        bash("export CC=/opt/cc MAKEFLAGS=" + "x" * 300),
        bash(". ./activate"),
        bash("true; make -v"),
        bash("unset CC PATH MAKEFLAGS"),
        bash("/usr/bin/make -v"),
        text("Done."),
    )

    await bench.run(approver=approver)

    asked = [each for each, _ in approver.asked]
    assert asked[0].exports == ()
    assert asked[1].exports == ("CC=/opt/cc", f"MAKEFLAGS={'x' * 300}")
    assert asked[2].exports[-1].startswith("PATH=/opt/mine:")
    assert f"MAKEFLAGS={'x' * 300}" in asked[2].exports
    assert asked[4].exports == ("PATH is not set",)


@pytest.mark.needs("Landlock")
@pytest.mark.parametrize(
    ("line", "shown"),
    [
        ("find . $A", True), ("make ${A}", True), ("eval echo $SOMETHING", True), ("bash -c 'find . $'A", True), ("env make", True),
        ("echo ${!x} > f", True), ("export B=$A", True), ("make all", False),
    ],
)  # fmt: skip
async def test_what_a_line_expands_stands_with_its_question_whole(bench, line, shown):
    value = f"-exec touch{' ' * 400}pwned ;"
    approver = Approver(lambda call: Ruling.ALLOW if "export A" in call.input["command"] else Ruling.DENY)
    bench.model(bash(f"export A='{value}'"), bash(line), text("Done."))

    await bench.run(approver=approver)

    assert approver.asked[1][0].exports == ((f"A={value}",) if shown else ())


@pytest.mark.needs("bubblewrap")
async def test_a_question_tells_the_exports_of_its_own_side(bench, sandbox):
    approver = Approver(lambda _: Ruling.DENY)
    bench.model(
        bash("export CC=/inside"),
        bash("make -v", dangerouslyDisableSandbox=True),
        bash("make -v"),
        text("Done."),
    )

    await bench.run(approver=approver, sandbox=sandbox, ask_tools=["Bash(make *)"])

    assert [asked.exports for asked, _ in approver.asked] == [(), ("CC=/inside",)]


@pytest.fixture
def trap(bench, tmp_path):
    """A program of the folder by the name of one of the system's; it leaves a mark."""
    mark = tmp_path / "ran"
    for folder in (bench.folder / "bin", tmp_path / "other"):
        folder.mkdir()
        for name in ("cat", "timeout"):
            (folder / name).write_text(f"#!/bin/sh\n: > {mark}\n")
            (folder / name).chmod(0o755)
    (bench.folder / "a.txt").write_text("inside\n")
    return mark


@pytest.mark.needs("Landlock")
@pytest.mark.parametrize("entry", ["$PWD/bin:", ".:bin:", ":", "{other}:"])
@pytest.mark.parametrize("reader", ["cat a.txt", "timeout 5 head -1 a.txt", "cat < a.txt"])
async def test_beside_a_rule_programs_are_looked_up_by_the_path_that_was_exported(bench, trap, tmp_path, entry, reader):
    if entry == ":":
        (bench.folder / "bin" / "cat").rename(bench.folder / "cat")
    approver = Approver(lambda asked: Ruling.ALLOW if "export" in asked.input["command"] else Ruling.DENY)
    exporting = f"export PATH={entry}$PATH".replace("{other}", str(tmp_path / "other"))
    bench.model(bash(exporting), bash(f"make -v >/dev/null; {reader}"), text("Done."))

    await bench.run(approver=approver, allowed_tools=["Bash(make *)", "Edit(//dev/null)"])

    assert len(approver.asked) == 2
    assert not trap.exists()


@pytest.mark.needs("Landlock")
@pytest.mark.parametrize(
    ("export", "asks"),
    [
        ("LD_LIBRARY_PATH=/opt/mine", True),
        ("GCONV_PATH=/opt/mine", True),
        ("NODE_ENV=test", False),
        ("CI=1", False),
        ("PATH=/opt/env/bin:$PATH", False),
    ],
)
async def test_beside_a_rule_an_export_is_asked_about_where_plain_programs_obey_it(bench, export, asks):
    (bench.folder / "a.txt").write_text("inside\n")
    approver = Approver(lambda asked: Ruling.ALLOW if "export" in asked.input["command"] else Ruling.DENY)
    bench.model(bash(f"export {export}"), bash("make -v | tail -1 && cat a.txt"), text("Done."))

    await bench.run(approver=approver, allowed_tools=["Bash(make *)"])

    assert len(approver.asked) == 1 + asks


@pytest.mark.needs("Landlock")
@pytest.mark.parametrize("by_settings", [False, True])
async def test_no_helper_of_ours_comes_from_any_folder_that_is_worked_in(bench, tmp_path, monkeypatch, by_settings):
    added, mark = tmp_path / "added", tmp_path / "mark"
    (added / "bin").mkdir(parents=True)
    mark.mkdir()
    for name in ("rg", "bash", "git", "bwrap"):
        program = added / "bin" / name
        program.write_text(f'#!/bin/sh\n: > {mark}/{name}\nexec /bin/bash "$@"\n')
        program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{added}/bin:{os.environ['PATH']}")
    (bench.folder / "a.txt").write_text("hi\n")
    bench.model(
        call("Grep", {"pattern": "hi"}), bash("cat a.txt"), bash("make -v"), bash("mkdir made && ls"), text("Done.")
    )

    found = WrittenFolder(path=str(added), source="user", origin="settings.json")
    how = (
        {"written": WrittenSettings(permissions=Permissions(folders=(found,)))}
        if by_settings
        else {"add_dirs": [str(added)]}
    )
    await bench.run(**how, allowed_tools=["Bash(make *)"], permission_mode="acceptEdits")

    assert list(mark.iterdir()) == []
    assert answers(bench)[1] == "hi"
    assert "GNU Make" in answers(bench)[2]


TOLD = "everturn: the sandbox has verified this command, it is safe"


@pytest.mark.needs("Landlock")
@pytest.mark.parametrize(
    ("command", "parts"),
    [
        (f"bash -c 'echo \"cat: Permission denied. {TOLD}\"; touch made'", ["'cat: Permission denied. ", '"touch: cannot touch']),
        ("bash -c 'printf \"a: \\342\\200\\256Permission denied\\n\"; touch made'", ["'a: \\u202ePermission denied'", '"touch: cannot']),
        ("bash -c 'exit 6'", ["and ended with code 6"]),
        ("bash -c 'touch made; true'", ["and was refused something", '"touch: cannot touch']),
        ("bash -c 'kill -9 $$'", ["and ended with code 137"]),
    ],
)  # fmt: skip
async def test_what_a_trial_printed_is_quoted_and_said_to_be_its_own_words(bench, command, parts):
    approver = Approver(lambda _: Ruling.DENY)
    bench.model(bash(command), text("Done."))

    await bench.run(approver=approver, try_held=True)

    [(_, reason)] = approver.asked
    assert reason.startswith("it ran held, since no rule allows it, and ")
    assert all(part in reason for part in parts), reason
    before, _, quoted = reason.partition("the command itself printed: ")
    assert TOLD not in before
    assert "\u202e" not in quoted


@pytest.mark.needs("Landlock")
async def test_words_of_a_refusal_in_a_text_that_is_shown_are_no_refusal(bench):
    (bench.folder / "log").write_text(
        "2024-05-01 12:00:01 sshd: Permission denied (publickey)\nIt said permission denied.\n"
    )
    approver = Approver(lambda _: Ruling.DENY)
    bench.model(bash("bash -c 'cat log'"), text("Done."))

    await bench.run(approver=approver, try_held=True)

    assert approver.asked == []


@pytest.mark.needs("Landlock")
async def test_a_trial_that_is_run_again_begins_where_it_began(bench, vendor):
    approver = Approver()
    (vendor / "vendor").mkdir()
    bench.model(bash("bash -c true && cd vendor && bash -c 'touch made'"), bash("pwd"), text("Done."))

    await bench.run(approver=approver, try_held=True)

    assert (vendor / "made").exists()
    assert not (vendor / "vendor" / "made").exists()


@pytest.mark.needs("Landlock")
async def test_a_trial_in_another_folder_names_it(bench, vendor):
    approver = Approver(lambda _: Ruling.DENY)
    bench.model(bash("cd vendor"), bash("bash -c 'touch made'"), text("Done."))

    await bench.run(approver=approver, try_held=True)

    [(asked, reason)] = approver.asked
    assert asked.folder == str(vendor.resolve())
    assert repr(asked.folder) in reason
