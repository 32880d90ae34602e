"""What nobody approved is held by the system: it reads the working folder, and whatever we misjudged stays without effect."""

import asyncio
import os
import subprocess
from pathlib import Path

import pytest
from tests.conftest import Bench
from tests.needs import NOBODY
from tests.permissions.rules_of import rules_of

from everturn.modelserver import ModelServer, call, text
from everturn.permissions.policy import RulePolicy
from everturn.ports.abort import AbortSignal
from everturn.ports.files import FileStates
from everturn.ports.holding import Holding
from everturn.ports.policy import Ruling, Verdict
from everturn.ports.tasks import Tasks
from everturn.ports.tool import ToolContext
from everturn.sandbox.held.holder import CommandHolder
from everturn.sandbox.held.premises import Premises
from everturn.tools.bash import bash_tool

pytestmark = pytest.mark.needs("Landlock")
SECRET = "the treasure is below the oak"


class Approver:
    def __init__(self, ruling=Ruling.ALLOW):
        self.verdict = Verdict(ruling=ruling, reason="the person said no" if ruling is Ruling.DENY else "")
        self.asked = []

    async def approve(self, call, reason):
        self.asked.append((call, reason))
        return self.verdict


async def run_held(bench, *commands, holding=None, denied=(), newest=99, home=None):
    """As if judgement had missed everything: only the wall is left. `denied`: rules that keep files from being read."""
    folder = str(bench.folder.resolve())
    find_hides = RulePolicy("default", folder, rules=rules_of(deny=denied)).find_hides
    premises = Premises(folders=lambda: (folder,), home=str(home or bench.home), find_hides=find_hides)
    bash = bash_tool(holder=CommandHolder(premises, newest=newest))
    tasks = Tasks()
    context = ToolContext(
        folder=folder,
        tool_use_id="toolu_1",
        abort=AbortSignal(),
        files=FileStates(),
        progress=lambda _: None,
        tasks=tasks,
        holding=holding or Holding(),
    )
    results = [(await bash.run(bash.parse({"command": command}), context)).content for command in commands]
    await tasks.aclose()
    return results


def bash(command, **fields):
    return call("Bash", {"command": command, **fields})


def answers(bench, place=-1):
    """Of the calls, in the request at this place."""
    return [block["content"] for block in bench.sent[place][-1]["content"] if block["type"] == "tool_result"]


def list_names(folder):
    return sorted(path.name for path in folder.iterdir())


@pytest.fixture
def outside(bench):
    """A file that the folder has a link to."""
    path = bench.home.parent / "outside.txt"
    path.write_text(SECRET)
    (bench.folder / "notes.txt").symlink_to(path)
    return path


async def test_a_link_of_the_folder_leads_a_reader_nowhere(bench, outside):
    (bench.folder / "a.txt").write_text("inside\n")
    bench.model(bash("cat *"), text("Done."))

    await bench.run()

    [told] = answers(bench)
    assert "inside" in told
    assert SECRET not in told
    assert "This command ran without approval" in told


async def test_a_reader_that_was_misjudged_writes_nothing_and_reads_nothing_outside(bench, outside):
    marker = bench.home.parent / "marker"
    line = f"cat {outside}; touch {marker} inside; echo x > {marker}; echo x > inside; env | grep -c KEY"

    [told] = await run_held(bench, line)

    assert SECRET not in told
    assert not marker.exists()
    assert list_names(bench.folder) == ["notes.txt"]


async def test_nothing_of_a_reader_is_taken_over_but_the_folder_that_it_ended_in(bench):
    (bench.folder / "sub").mkdir()
    forged = r"printf '/tmp\0/tmp\0declare -x BASH_ENV=\"/tmp/evil\"\n\0' >&240"

    _, told = await run_held(
        bench,
        f"cd sub; export BASH_ENV=/tmp/evil PATH=/tmp/bin X=1; {forged}; exit 0",
        "echo ${BASH_ENV-unset} ${X-unset}; pwd; echo $PATH",
    )

    assert told.startswith("unset unset\n")
    assert "/tmp/bin" not in told


async def test_the_folder_that_a_reader_ended_in_counts_for_the_next_command(bench):
    (bench.folder / "sub").mkdir()
    bench.model(bash("cd sub && ls"), bash("pwd"), text("Done."))

    await bench.run()

    assert answers(bench) == [f"{bench.folder}/sub"]


async def test_what_a_rule_allows_runs_as_before(bench):
    bench.model(bash("touch made; echo $HELLO"), text("Done."))

    await bench.run(allowed_tools=["Bash"])

    assert (bench.folder / "made").exists()


async def test_a_reader_does_not_start_programs_of_the_folder(bench):
    for name in ("ls", "tool"):
        program = bench.folder / name
        program.write_text("#!/bin/sh\necho taken\n")
        program.chmod(0o755)

    [told] = await run_held(bench, "./tool; PATH=.:$PATH ls")

    assert "taken" not in told
    assert "Permission denied" in told


@pytest.mark.needs("bubblewrap", "Landlock")
async def test_nothing_of_ours_lies_in_a_folder_that_is_worked_in(bench):
    """Neither what git is given of the person's settings nor what stands for the system's files: an edit could write it."""
    place = bench.folder / "tmp"
    place.mkdir()
    bench.env["TMPDIR"] = str(place)
    bench.model(bash("git --version; ls tmp"), bash("mkdir made; ls tmp"), text("Done."))

    await bench.run(permission_mode="acceptEdits")

    assert (bench.folder / "made").exists()
    assert "everturn-" not in answers(bench, 1)[0] + answers(bench)[0]


async def test_a_reader_has_a_short_environment(bench, monkeypatch):
    monkeypatch.setenv("DATABASE_PASSWORD", SECRET)

    [told] = await run_held(bench, "env; cat /proc/$PPID/environ")

    assert SECRET not in told
    assert "GIT_OPTIONAL_LOCKS=0" in told


async def test_a_variable_that_a_held_command_is_not_given_is_asked_about(bench, monkeypatch):
    monkeypatch.setenv("DATABASE_URL", "postgres://")
    approver = Approver()
    bench.model(bash("echo $DATABASE_URL"), text("Done."))

    await bench.run(approver=approver)

    assert answers(bench) == ["postgres://"]
    assert "the variable DATABASE_URL" in approver.asked[0][1]


@pytest.mark.needs("bubblewrap")
async def test_edits_write_the_folder_without_what_is_protected(bench, outside):
    line = (
        f"mkdir made; touch made/a; cp notes.txt copy; mkdir .git .everturn; touch {outside}.new; cp made/a .mcp.json"
    )

    await run_held(bench, line, holding=Holding(writes=True))

    assert (bench.folder / "made" / "a").exists()
    assert list_names(bench.folder) == ["made", "notes.txt"]
    assert not outside.with_name("outside.txt.new").exists()


@pytest.mark.needs("bubblewrap")
async def test_a_folder_that_is_swapped_for_a_link_in_the_same_line_leads_an_edit_nowhere(bench):
    away = bench.home.parent / "away"
    away.mkdir()
    (bench.folder / "dir").mkdir()
    (bench.folder / "dir" / "up").symlink_to(away)
    (bench.folder / "a").write_text("x")
    bench.model(bash("mv dir d2 && cp a d2/up/x"), text("Done."))

    await bench.run(permission_mode="acceptEdits")

    assert list(away.iterdir()) == []


async def test_without_bubblewrap_commands_of_accept_edits_are_asked_about(bench, monkeypatch):
    approver = Approver()
    bench.env["EVERTURN_HOLD_WITHOUT"] = "bubblewrap"
    bench.model(bash("mkdir made"), text("Done."))

    await bench.run(permission_mode="acceptEdits", approver=approver)

    assert "bubblewrap" in approver.asked[0][1]
    assert (bench.folder / "made").is_dir()


async def test_where_nothing_holds_commands_only_plain_ones_run_unasked_and_that_is_said(bench):
    approver = Approver()
    bench.env["EVERTURN_HOLD_WITHOUT"] = "off"
    (bench.folder / "a.txt").write_text("inside\n")
    bench.model(bash("cat a.txt"), bash("sort -k2 a.txt"), text("Done."))

    run = await bench.run(approver=approver)

    assert [asked.input["command"] for asked, _ in approver.asked] == ["sort -k2 a.txt"]
    assert [event.text for event in run.of("notice") if "cannot confine commands" in event.text]


async def test_what_would_be_asked_about_runs_held_first_and_is_done_where_it_met_no_wall(bench):
    approver = Approver()
    bench.model(bash("bash -c 'echo $((6 * 7))'"), text("Done."))

    await bench.run(approver=approver, try_held=True)

    assert answers(bench)[0].startswith("42\n(It ran held")
    assert approver.asked == []


async def test_what_met_the_wall_is_asked_about_with_what_it_wanted(bench):
    approver = Approver()
    bench.model(bash("touch made && echo yes"), text("Done."))

    await bench.run(approver=approver, try_held=True)

    assert answers(bench) == ["yes"]
    [(asked, reason)] = approver.asked
    assert asked.input["command"] == "touch made && echo yes"
    assert "cannot touch 'made': Permission denied" in reason


async def test_what_met_the_wall_and_was_not_approved_has_changed_nothing(bench):
    bench.model(bash("touch made"), text("Done."))

    await bench.run(approver=Approver(Ruling.DENY), try_held=True)

    [told] = answers(bench)
    assert "It was not approved: the person said no" in told
    assert not (bench.folder / "made").exists()


async def test_an_export_that_decides_which_programs_run_is_shown_with_the_next_question(bench):
    approver = Approver()
    bench.model(bash("export PATH=/opt/mine:$PATH"), bash("make test"), text("Done."))

    await bench.run(approver=approver)

    assert any(each.startswith("PATH=/opt/mine:") for each in approver.asked[1][0].exports)


async def test_what_is_exported_in_the_sandbox_does_not_count_outside(bench, sandbox):
    approver = Approver()
    bench.model(
        bash("export PATH=/inside:$PATH GREETING=hello"),
        bash("echo $GREETING; echo $PATH"),
        bash("echo ${GREETING-none}; echo $PATH", dangerouslyDisableSandbox=True),
        text("Done."),
    )

    await bench.run(approver=approver, sandbox=sandbox)

    assert answers(bench, 2)[0].startswith("hello\n/inside:")
    assert answers(bench, 3)[0].startswith("none\n")
    assert "/inside" not in answers(bench, 3)[0]


@pytest.fixture
def repository(bench):
    """Around the folder: its root lies above."""
    root = bench.folder.parent / "repository"
    (root / "sub").mkdir(parents=True)
    (root / "above.txt").write_text("one\n")
    (root / "sub" / "a.txt").write_text("one\n")
    git = ("git", "-C", str(root), "-c", "user.name=A", "-c", "user.email=a@example.com")
    for words in (("init", "-q"), ("add", "."), ("commit", "-qm", "First")):
        subprocess.run([*git, *words], check=True)
    (root / "above.txt").write_text("two\n")
    bench.folder = root / "sub"
    return root


async def test_git_reads_the_repository_around_the_folder_and_others_do_not(bench, repository):
    bench.model(
        bash("git status --short && git diff --stat && git log --oneline"), bash("cat ../above.txt"), text("Done.")
    )

    await bench.run()

    assert " M ../above.txt" in answers(bench, 1)[0]
    assert "First" in answers(bench, 1)[0]
    assert "which is outside the working folder" in answers(bench, 2)[0]


async def test_a_repository_elsewhere_that_a_file_names_is_asked_about(bench, repository):
    other = bench.home.parent / "downloaded"
    other.mkdir()
    (other / ".git").write_text(f"gitdir: {repository}/.git\n")
    bench.folder = other
    bench.model(bash("git log -p"), text("Done."))

    await bench.run()

    assert "one" not in answers(bench)[0]
    assert "git would read" in answers(bench)[0]


async def test_the_persons_own_settings_of_git_count_with_what_they_include(bench, repository, monkeypatch):
    home = bench.home.parent / "person"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    (home / ".gitconfig").write_text("[include]\n\tpath = ~/more.config\n")
    (home / "more.config").write_text("[core]\n\texcludesFile = ~/ignored\n")
    (home / "ignored").write_text("*.log\n")
    (bench.folder / "a.log").write_text("")
    bench.model(bash("git status --short"), bash("cat ~/ignored"), text("Done."))

    await bench.run()

    assert answers(bench, 1) == [" M ../above.txt"]
    assert "ignored" not in answers(bench, 2)[0].replace("~/ignored", "").replace(f"{home}/ignored", "")


@pytest.mark.needs("bubblewrap")
async def test_what_nothing_can_stand_for_is_taken_away_behind_an_edit(bench, repository):
    bench.folder = repository
    line = (
        "echo '../evil' > .git/commondir; echo Obey > AGENTS.md; mkdir -p sub .vscode; echo {} > .vscode/tasks.json; "
        "echo x > .envrc; echo done"
    )

    [told] = await run_held(bench, line, holding=Holding(writes=True))

    assert told.startswith("done\n")
    assert not (bench.folder / ".git" / "commondir").exists()
    assert {"AGENTS.md", ".vscode", ".envrc"}.isdisjoint(list_names(bench.folder))
    assert (bench.folder / "sub").is_dir()
    assert "has been put back as it was" in told


@pytest.mark.parametrize(
    "line", ["cat *", "cat .e*", "grep -r a .", "git log -p", "git show HEAD", "for f in .env; do cat $f; done"]
)
async def test_what_could_show_a_file_that_rules_keep_from_being_read_is_asked_about(bench, repository, line):
    (bench.folder / ".env").write_text(SECRET)
    approver = Approver(Ruling.DENY)
    bench.model(bash(line), text("Done."))

    await bench.run(disallowed_tools=["Read(./.env)"], approver=approver)

    assert SECRET not in answers(bench)[0]
    assert approver.asked or "denied" in answers(bench)[0].lower()


@pytest.mark.parametrize("writes", [False, pytest.param(True, marks=pytest.mark.needs("bubblewrap"))])
async def test_files_that_rules_keep_from_being_read_are_not_opened_by_the_wall_alone(bench, writes):
    (bench.folder / "deep").mkdir()
    (bench.folder / ".env").write_text(SECRET)
    (bench.folder / "deep" / ".env").write_text(SECRET)
    (bench.folder / "a.txt").write_text("inside\n")

    [told] = await run_held(
        bench,
        "cat a.txt .env deep/.env; cat < .env; grep -r . .",
        holding=Holding(writes=writes),
        denied=["Read(.env)"],
    )

    assert "inside" in told
    assert SECRET not in told


EMPTYING = """
import asyncio
import os
for flags in (os.O_RDONLY | os.O_TRUNC, 3 | os.O_TRUNC, os.O_WRONLY | os.O_TRUNC, os.O_RDWR | os.O_TRUNC):
    try:
        os.close(os.open("kept.txt", flags))
    except OSError as error:
        print(error.strerror)
try:
    os.truncate("kept.txt", 0)
except OSError as error:
    print(error.strerror)
try:
    os.kill(os.getppid(), 0)
    print("reached its own")
except OSError as error:
    print(error.strerror)
"""


@pytest.mark.parametrize("version", [1, 2, 3, 5, 99])
async def test_what_an_older_landlock_lets_pass_is_refused_too(bench, version):
    """By its rules alone a file could be emptied before version 3, and anybody be signalled before 6."""
    (bench.folder / "kept.txt").write_text("kept")
    (bench.folder / "empty.py").write_text(EMPTYING)

    line = "python3 empty.py; echo x > /dev/null && echo fine"
    # A version manager in the person's own home may have the interpreter.
    told, after = await run_held(bench, line, "cat kept.txt", newest=version, home=Path.home())

    assert after == "kept"
    *refused, _, fine = told.splitlines()
    assert fine == "fine"
    assert len(refused) == len(("read", "neither", "write", "both", "by name"))


@pytest.mark.needs("bubblewrap")
async def test_what_stands_for_something_that_is_not_there_does_not_pass_for_it(bench):
    shown, unseen = await run_held(bench, "ls -A", "echo done", holding=Holding(writes=True))

    assert ".claude, .everturn, .git, .mcp.json does not exist" in shown
    assert unseen == "done"


LOOKS_AT_US = """
import asyncio
import os
for number in range(max(1, os.getpid() - 2000), os.getpid()):
    for descriptor in range(40):
        path = f"/proc/{number}/fd/{descriptor}"
        try:
            if os.readlink(path) == "pipe:[INODE]":
                print("found", os.read(os.open(path, os.O_RDONLY | os.O_NONBLOCK), 100))
        except OSError:
            pass
"""


async def test_our_own_pipes_cannot_be_opened_through_the_thread_that_starts_held_commands(bench):
    ours, person = os.pipe()
    try:
        os.write(person, b"what the person typed")
        (bench.folder / "look.py").write_text(LOOKS_AT_US.replace("INODE", str(os.fstat(ours).st_ino)))

        [said] = await run_held(bench, "python3 look.py", home=Path.home())

        assert "found" not in said
        assert os.read(ours, 100) == b"what the person typed"
    finally:
        os.close(ours)
        os.close(person)


async def test_a_descriptor_that_somebody_has_left_open_is_not_handed_on(bench, outside):
    left = os.open(outside, os.O_RDONLY)
    os.set_inheritable(left, True)
    try:
        [said] = await run_held(bench, f"cat <&{left}")
    finally:
        os.close(left)

    assert SECRET not in said


TREES = [
    "cp -r fixtures/. .",
    "cp -rT fixtures .",
    "mv fixtures/sub .",
    "cp -a fixtures/sub made",
    "mv fixtures f && cp -r f/. .",
]


@pytest.mark.needs("bubblewrap")
@pytest.mark.parametrize("line", TREES)
async def test_what_is_protected_in_a_folder_does_not_go_along_unasked(bench, line):
    for name in (".envrc", ".vscode/tasks.json", "sub/.husky/pre-commit"):
        path = bench.folder / "fixtures" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("evil")
    approver = Approver(Ruling.DENY)
    bench.model(bash(line), text("Done."))

    await bench.run(permission_mode="acceptEdits", approver=approver)

    assert len(approver.asked) == 1
    assert list_names(bench.folder) == ["fixtures"]


@pytest.mark.needs("bubblewrap")
@pytest.mark.parametrize("line", ["mv src s", "rm -r src", "cp -r fixtures/. .", "cp -r fixtures/src ."])
async def test_rules_against_writing_hold_for_what_lies_deeper(bench, line):
    for name in ("src/vendor/v.c", "fixtures/src/vendor/v.c"):
        (bench.folder / name).parent.mkdir(parents=True)
        (bench.folder / name).write_text(name)
    bench.model(bash(line), text("Done."))

    await bench.run(permission_mode="acceptEdits", disallowed_tools=["Edit(/src/vendor/**)"])

    assert (bench.folder / "src/vendor/v.c").read_text() == "src/vendor/v.c"


@pytest.mark.needs("bubblewrap")
@pytest.mark.needs("bubblewrap")
@pytest.mark.parametrize(
    ("place", "name"),
    [
        ("sub/tools", "bazel"),
        ("lib/site-packages", "evil.pth"),
        ("sub/.github", "copilot-instructions.md"),
        ("sub/mise", "config.toml"),
    ],
)
async def test_an_edit_in_the_background_is_asked_about_since_what_it_moves_may_be_another_thing_then(
    bench, place, name
):
    approver = Approver(Ruling.DENY)
    later = f"sleep 0.1 && mv x {place}"
    bench.model(
        bash(f"mkdir -p x {os.path.dirname(place)}"),  # noqa: PTH120 - a path as text
        bash(later, run_in_background=True),
        call("Write", {"file_path": f"x/{name}", "content": "x"}),
        bash("touch x/plain"),
        text("Done."),
    )

    engine = bench.engine(permission_mode="acceptEdits", approver=approver)
    await bench.go_on(engine, "Go on.")

    assert [(asked.input["command"], reason) for asked, reason in approver.asked] == [
        (
            later,
            "mode acceptEdits: it would change files in the background, beside other calls, and is judged by what is there now",
        )
    ]
    assert sorted(path.name for path in (bench.folder / "x").iterdir()) == sorted([name, "plain"])


@pytest.mark.parametrize("options", [{"permission_mode": "acceptEdits"}, {"sandbox": True}])
async def test_a_folder_with_a_file_that_must_not_be_read_does_not_get_another_name(bench, options):
    (bench.folder / "conf").mkdir()
    (bench.folder / "conf/keys.env").write_text(SECRET)
    bench.model(bash("mv conf c"), bash("cat c/keys.env"), text("Done."))

    await bench.run(disallowed_tools=["Read(./conf/keys.env)"], **options)

    assert SECRET not in answers(bench)[0]


@pytest.mark.parametrize("given", [{"add_dirs": ["more"]}, {"allow": ["./more"]}])
async def test_a_link_that_a_command_puts_in_place_of_a_folder_opens_nothing(bench, sandbox, given):
    away = bench.home.parent / "away"
    away.mkdir()
    filesystem = {"filesystem": {"allowWrite": given.get("allow", [])}}
    bench.model(bash(f"ln -s {away} more"), bash(f"touch {away}/made"), text("Done."))

    await bench.run(sandbox={**sandbox, **filesystem}, add_dirs=given.get("add_dirs", []))

    assert list(away.iterdir()) == []


async def test_a_program_that_changes_its_user_is_not_ended_by_a_thread_that_cannot(bench):
    bench.model(bash("ls"), text("Done."))
    await bench.run()

    user = os.geteuid()
    # Whoever is not root can only become what they are.
    os.seteuid(NOBODY if user == 0 else user)
    os.seteuid(user)

    assert os.geteuid() == user


SPELLED = [
    'cp "-r" fixtures pkg/a',
    "cp '-a' fixtures pkg",
    r"cp \-r fixtures pkg",
    "cp -r -- -d pkg",
    "mv -- -d pkg",
    'rm "-r" fixtures',
    "rm -r fixtures",
    "mv conf pkg/.config",
    "cp -P linked m && cp evil m/tasks.json",
    "mv linked m && cp evil m/tasks.json",
    "mv holder n && cp evil n/linked/tasks.json",
    "cp evil pkg",
    "mv evil pkg",
]


@pytest.mark.needs("bubblewrap")
@pytest.mark.parametrize("line", SPELLED)
async def test_what_is_protected_is_taken_along_in_no_spelling_and_by_no_link(bench, line):
    """Deeper than the wall knows names: judgement is alone here."""
    made = [
        "fixtures/deep/.vscode/tasks.json",
        "fixtures/deep/.envrc",
        "-d/.envrc",
        "conf/git/config",
        "evil",
        "pkg/kept",
    ]
    for name in made:
        (bench.folder / name).parent.mkdir(parents=True, exist_ok=True)
        (bench.folder / name).write_text("mine")
    (bench.folder / "holder").mkdir()
    for link in ("linked", "holder/linked"):
        (bench.folder / link).symlink_to(bench.folder / "fixtures/deep/.vscode")
    (bench.folder / "pkg" / "evil").symlink_to("../fixtures/deep/.envrc")
    (bench.folder / "evil").write_text("evil")
    approver = Approver(Ruling.DENY)
    bench.model(bash(line), text("Done."))

    await bench.run(permission_mode="acceptEdits", approver=approver)

    assert len(approver.asked) == 1
    assert [(bench.folder / name).read_text() for name in made] == ["mine"] * 4 + ["evil", "mine"]


@pytest.mark.needs("bubblewrap")
@pytest.mark.parametrize(
    "line", ['rm "-r" top', "cp '-r' other top", "cp -P lock m && cp evil m", "mv other/x.lock y.txt"]
)
async def test_rules_with_stars_hold_for_what_is_taken_along(bench, line):
    for name in ("top/i/x.lock", "other/x.lock", "evil"):
        (bench.folder / name).parent.mkdir(parents=True, exist_ok=True)
        (bench.folder / name).write_text(name)
    (bench.folder / "lock").symlink_to("top/i/x.lock")
    bench.model(bash(line), text("Done."))

    await bench.run(permission_mode="acceptEdits", disallowed_tools=["Edit(*.lock)"])

    assert (bench.folder / "top/i/x.lock").read_text() == "top/i/x.lock"
    assert (bench.folder / "other/x.lock").exists()
    assert not (bench.folder / "top/other").exists()


@pytest.mark.needs("bubblewrap")
@pytest.mark.parametrize("rule", ["Read(conf/keys.json)", "Read(./conf/keys.json)", "Read(keys.json)"])
@pytest.mark.parametrize("line", ["cp -r conf c", "cp -rT conf c", "cp -a conf/. c", "cp -rL conf c", "mv conf c"])
async def test_what_must_not_be_read_does_not_go_along_to_a_name_that_no_rule_covers(bench, line, rule):
    """By judgement: the wall would let an empty file go along."""
    (bench.folder / "conf").mkdir()
    (bench.folder / "conf/keys.json").write_text(SECRET)
    bench.model(bash(line), text("Done."))

    run = await bench.run(permission_mode="acceptEdits", disallowed_tools=[rule])

    assert [denial.tool_name for denial in run.result.denials] == ["Bash"]
    assert not (bench.folder / "c").exists()


@pytest.mark.needs("bubblewrap")
async def test_a_refused_folder_is_told_with_the_name_in_it_that_is_protected(bench):
    (bench.folder / "fixtures/deep").mkdir(parents=True)
    (bench.folder / "fixtures/deep/.envrc").write_text("x")
    approver = Approver(Ruling.DENY)
    bench.model(bash("cp -r fixtures made"), text("Done."))

    await bench.run(permission_mode="acceptEdits", approver=approver)

    assert "fixtures/deep/.envrc goes with it, and .envrc is protected" in approver.asked[0][1]


@pytest.mark.needs("bubblewrap")
@pytest.mark.parametrize("without", ["bubblewrap", "landlock"])
async def test_a_file_that_was_replaced_beside_a_hidden_one_is_read(bench, without):
    """Edit and Write put a new file in the place of the old one: rules of the kernel know files, and no names."""
    bench.env["EVERTURN_HOLD_WITHOUT"] = without
    (bench.folder / ".env").write_text(SECRET)
    path = bench.folder / "neighbour"
    path.write_text("before\n")
    edit = call("Edit", {"file_path": str(path), "old_string": "before", "new_string": "after"})
    bench.model(
        bash("cat neighbour"), call("Read", {"file_path": str(path)}), edit, bash("cat neighbour"), text("Done.")
    )

    await bench.run(permission_mode="acceptEdits", disallowed_tools=["Read(./.env)"])

    said = [answers(bench, place)[0] for place in range(1, 5)]
    assert (said[0], said[3]) == ("before", "after")


@pytest.mark.needs("bubblewrap")
@pytest.mark.parametrize("without", ["bubblewrap", "landlock"])
async def test_whatever_is_replaced_is_read_and_what_is_hidden_is_not(bench, without):
    """By the wall alone."""
    folder, outputs = bench.folder.resolve(), bench.home.parent.resolve() / "output.txt"
    premises = Premises(
        folders=lambda: (str(folder),),
        home=str(bench.home),
        list_outputs=lambda: (str(outputs),),
        find_hides=RulePolicy("default", str(folder), rules=rules_of(deny=["Read(.env)"])).find_hides,
    )
    holder = CommandHolder(premises, without=without)
    tool, tasks = bash_tool(holder=holder), Tasks()
    context = ToolContext(
        folder=str(folder),
        tool_use_id="toolu_1",
        abort=AbortSignal(),
        files=FileStates(),
        progress=lambda _: None,
        tasks=tasks,
        holding=Holding(),
    )
    paths = (folder / "a", folder / "deep" / "b", folder / "deep" / ".env", folder / ".env", outputs)
    for turn in range(8):
        replace_files(folder / "deep", paths, turn)
        said = (
            await tool.run(tool.parse({"command": f"cat a deep/b {outputs}; cat .env deep/.env; true"}), context)
        ).content
        assert said.splitlines()[:3] == [f"{path.name} {turn}" for path in (paths[0], paths[1], outputs)]
        assert f".env {turn}" not in said
    await tasks.aclose()
    await holder.aclose()


def replace_files(deep, paths, turn):
    """Each by a new one; in some turns the folder, too."""
    if turn % 3 == 0 and deep.exists():
        deep.rename(deep.with_name(f"deep{turn}"))
    deep.mkdir(exist_ok=True)
    for path in paths:
        beside = path.with_name("beside")
        beside.write_text(f"{path.name} {turn}\n")
        beside.replace(path)


SWAPS = "for i in {1..150}; do mv -T d e; ln -sT OUTSIDE d; mv -T d f; mv -T e d; rm -rf f; done"
BESIDE = {
    "Write": call("Write", {"file_path": "d/new.txt", "content": "evil"}),
    "cp": bash("cp x d/copied.txt"),
    "a redirection": bash("echo evil > d/redirected.txt"),
    "Read": call("Read", {"file_path": "d/a.txt"}),
    "cat": bash("cat d/a.txt d/*"),
    "rm": bash("rm -rf d/gone"),
}


@pytest.mark.needs("bubblewrap")
@pytest.mark.parametrize("step", BESIDE.values(), ids=BESIDE)
async def test_a_link_that_another_session_swaps_in_leads_nowhere(bench, tmp_path, step):
    """Both work in one folder; what the other one runs was allowed."""
    outside = tmp_path / "outside"
    for place, content in ((outside, "secret"), (bench.folder / "d", "one")):
        (place / "gone").mkdir(parents=True)
        (place / "a.txt").write_text(content)
    (bench.folder / "x").write_text("evil")
    (tmp_path / "other").mkdir()
    bench.model(*[step] * 10, text("Done."))
    async with ModelServer() as server:
        other = Bench(server, bench.folder, tmp_path / "other")
        other.model(bash(SWAPS.replace("OUTSIDE", str(outside))), text("Done."))
        await asyncio.gather(other.run(permission_mode="bypassPermissions"), bench.run(permission_mode="acceptEdits"))
        await other.engines[0].aclose()

    assert list_names(outside) == ["a.txt", "gone"]
    assert (outside / "a.txt").read_text() == "secret"
    assert [told for at in range(1, 11) for told in answers(bench, at) if "secret" in told] == []
