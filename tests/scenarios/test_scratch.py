"""The session's scratch folder: `TMPDIR` for commands, written without a question, and never a way to anything else."""

import os
from pathlib import Path

import pytest
from tests.tools.processes import until

from everturn.modelserver import call, text
from everturn.ports.abort import AbortSignal
from everturn.ports.files import FileStates
from everturn.ports.holding import Bounds, Holding
from everturn.ports.policy import Ruling, Verdict
from everturn.ports.tasks import Tasks
from everturn.ports.tool import ToolContext
from everturn.sandbox.held.holder import CommandHolder
from everturn.sandbox.held.premises import Premises
from everturn.sandbox.session_scratch import SessionScratch
from everturn.tools.bash import bash_tool

HEREDOC = "cat > $TMPDIR/x.py <<'EOF'\nprint(6 * 7)\nEOF"
MODES = ["default", "acceptEdits", "dontAsk", "bypassPermissions"]
WALLS = [
    pytest.param("bubblewrap", marks=pytest.mark.needs("Landlock")),
    pytest.param("landlock", marks=pytest.mark.needs("bubblewrap")),
    "off",
]
"""Which of them the machine is taken not to have."""


class Approver:
    def __init__(self, ruling=Ruling.DENY):
        self.ruling, self.asked = ruling, []

    async def approve(self, call, reason):
        self.asked.append((call, reason))
        return Verdict(ruling=self.ruling, reason="the person said no")


def bash(command, **fields):
    return call("Bash", {"command": command, **fields})


def answers(bench, place=-1):
    return [block["content"] for block in bench.sent[place][-1]["content"] if block["type"] == "tool_result"]


def all_answers(bench):
    return [answer for at in range(1, len(bench.sent)) for answer in answers(bench, at)]


@pytest.fixture(autouse=True)
def temporary(bench, tmp_path):
    """Where the system wants temporary files: short, and nobody else's."""
    place = tmp_path / "temporary"
    place.mkdir()
    bench.env["TMPDIR"] = str(place)
    return place


def list_names(folder):
    return sorted(path.name for path in folder.iterdir())


def list_scratch(temporary):
    return sorted(temporary.glob("everturn-scratch-*"))


@pytest.mark.parametrize("without", WALLS)
@pytest.mark.parametrize("mode", MODES)
async def test_a_file_is_written_and_read_there_without_a_question(bench, mode, without):
    approver = Approver()
    bench.env["EVERTURN_HOLD_WITHOUT"] = without
    bench.model(bash(HEREDOC), bash("cat $TMPDIR/x.py"), bash('grep -c print "${TMPDIR}/x.py"'), text("Done."))

    await bench.run(permission_mode=mode, approver=approver)

    assert all_answers(bench) == ["(no output)", "print(6 * 7)", "1"]
    assert approver.asked == []


@pytest.mark.parametrize(
    "command",
    [
        "echo x | tee $TMPDIR/a",
        "cp a.txt $TMPDIR/b && cat $TMPDIR/b",
        "mkdir -p $TMPDIR/d/e && rmdir $TMPDIR/d/e",
        "cp -r sub $TMPDIR/d",
        "cd sub && cp b.txt $TMPDIR/ && wc -l $TMPDIR/b.txt",
        "for f in a.txt sub/b.txt; do grep -H x $f >> $TMPDIR/all; done; cat $TMPDIR/all",
        "set -o pipefail; cat a.txt | tee -a $TMPDIR/log | head -1; echo ${PIPESTATUS[0]}",
        "sort a.txt > ${TMPDIR}/sorted && diff a.txt ${TMPDIR}/sorted",
        "for f in a b; do sort a.txt > $TMPDIR/$f; done; cat $TMPDIR/b",
        'for f in one two; do echo "$f" >> "${TMPDIR}/$f.log"; done',
        'log="$TMPDIR/log"; echo ok; cat a.txt > $TMPDIR/log; cat "$log"',
        "cd $TMPDIR && echo hello > there && cat there",
    ],
)
@pytest.mark.parametrize("without", WALLS[:2])
async def test_small_commands_work_there_without_a_question(bench, command, without):
    (bench.folder / "sub").mkdir()
    (bench.folder / "a.txt").write_text("x\n")
    (bench.folder / "sub" / "b.txt").write_text("x\n")
    bench.env["EVERTURN_HOLD_WITHOUT"] = without
    approver = Approver()
    bench.model(bash(command), text("Done."))

    run = await bench.run(approver=approver)

    assert approver.asked == []
    assert [event.is_error for event in run.of("tool_end")] == [False], all_answers(bench)


@pytest.mark.parametrize("mode", ["default", "acceptEdits", "dontAsk"])
@pytest.mark.parametrize(
    "command",
    [
        "TMPDIR={out}; cat > $TMPDIR/y <<'E'\nx\nE",
        "export TMPDIR={out}; echo x > $TMPDIR/y",
        "unset TMPDIR; echo x > $TMPDIR{out}/y",
        "for TMPDIR in {out}; do echo x > $TMPDIR/y; done",
        "for f in a ../../../../../../../..{out}/y; do echo x > $TMPDIR/$f; done",
        "for f in $(cat names); do echo x > $TMPDIR/$f; done",
        "for f in '*'; do echo x > $TMPDIR/$f; done",
        "read TMPDIR < where; echo x > $TMPDIR/y",
        'read "TMP""DIR" < where; echo x > $TMPDIR/y',
        "printf -v TMPDIR {out}; echo x > $TMPDIR/y",
        "printf -v 'TMPDI'R {out}; echo x > $TMPDIR/y",
        "declare TM'P'DIR={out}; echo x > $TMPDIR/y",
        "mapfile -t TMP\\DIR < where; echo x > $TMPDIR/y",
        "source ./where.sh; echo x > $TMPDIR/y",
        ". ./where.sh && echo x > $TMPDIR/y",
        "eval TMP'DIR={out}'; echo x > $TMPDIR/y",
        "x=eval; $x TMP'DIR={out}'; echo x > $TMPDIR/y",
        "TMPDIR={out} && echo x | tee $TMPDIR/y",
        "TMPDIR={out}; cp a.txt $TMPDIR/y",
        "echo x > ${TMPDIR:+{out}}/y",
        "echo x > ${TMPDIR%/*}/y",
        "echo x > $TMPDIR/../y",
        "echo x > $TMPDIR/link/y",
        "echo x > $TMPDIR/file",
        "cp a.txt $TMPDIR/link/y",
        "cp a.txt $TMPDIR/file",
        "cp -P link $TMPDIR/other && echo x > $TMPDIR/other/y",
        "cp -r sub $TMPDIR/sub && echo x > $TMPDIR/sub/link/y",
        "echo x | tee $TMPDIR/link/y",
        "mkdir $TMPDIR/link/y",
        "rm -r $TMPDIR/link/kept",
        "cat $TMPDIR/link/kept/secret",
        "cat $TMPDIR/link/kept/*",
        "cat < $TMPDIR/link/kept/secret",
        "IFS=/; echo x > $TMPDIR/y; cat $TMPDIR/link/kept/secret",
        "cd $TMPDIR/link && echo x > y",
        "echo x > /proc/self/cwd/y; cd $TMPDIR && echo x > /proc/self/cwd/link/y",
        "$TMPDIR/run.sh",
        "bash $TMPDIR/run.sh",
        "python3 $TMPDIR/run.py",
        "PATH=$TMPDIR:$PATH run.sh",
        "ln -s {out} $TMPDIR/z; echo x > $TMPDIR/z/y",
    ],
)
async def test_no_line_leads_out_of_it_or_runs_what_is_in_it_without_a_question(bench, temporary, command, mode):
    out = bench.home.parent / "out"
    (out / "kept").mkdir(parents=True)
    (out / "kept" / "secret").write_text("SECRET")
    (out / "file").write_text("before")
    (bench.folder / "a.txt").write_text("x\n")
    (bench.folder / "where").write_text(f"{out}\n")
    (bench.folder / "where.sh").write_text(f"TMPDIR={out}\n")
    (bench.folder / "link").symlink_to(out)
    (bench.folder / "sub").mkdir()
    (bench.folder / "sub" / "link").symlink_to(out)
    approver = Approver()

    def plant(event):
        """By a command that a person approved, or another program of theirs."""
        for scratch in list_scratch(temporary):
            if not os.path.lexists(scratch / "link"):
                (scratch / "link").symlink_to(out)
                (scratch / "file").symlink_to(out / "file")
                (scratch / "run.sh").write_text(f"#!/bin/sh\ntouch {out}/ran\n")
                (scratch / "run.sh").chmod(0o755)
                (scratch / "run.py").write_text(f"open('{out}/ran', 'w')\n")

    bench.model(bash("echo $TMPDIR"), bash(command.replace("{out}", str(out))), text("Done."))
    async with bench.engine(permission_mode=mode, approver=approver) as engine:
        await bench.go_on(engine, on_event=plant)

    assert sorted(path.name for path in out.iterdir()) == ["file", "kept"]
    assert (out / "file").read_text() == "before"
    assert (out / "kept" / "secret").exists()
    assert "SECRET" not in answers(bench, 2)[0]


async def test_a_value_that_an_earlier_command_set_is_not_taken_for_ours(bench):
    approver = Approver(Ruling.ALLOW)
    out = bench.home.parent / "out"
    out.mkdir()
    bench.model(
        bash(f"export TMPDIR={out}"),
        bash("echo x > $TMPDIR/y"),
        bash("unset TMPDIR"),
        bash("echo x > $TMPDIR/y"),
        text("Done."),
    )

    await bench.run(approver=approver)

    asked = [each.input["command"] for each, _ in approver.asked]
    assert asked == [f"export TMPDIR={out}", "echo x > $TMPDIR/y", "unset TMPDIR", "echo x > $TMPDIR/y"]


@pytest.mark.parametrize(
    "command",
    ["cd $TMPDIR && git status", "git -C $TMPDIR log", "cd $TMPDIR/bare && git log", "git --git-dir=$TMPDIR/bare log"],
)
async def test_a_repository_there_counts_for_nothing(bench, temporary, command):
    approver = Approver()
    ran = bench.home.parent / "ran"

    def plant(event):
        for scratch in list_scratch(temporary):
            for git in (scratch / ".git", scratch / "bare"):
                if not git.exists():
                    (git / "objects").mkdir(parents=True)
                    (git / "refs").mkdir()
                    (git / "HEAD").write_text("ref: refs/heads/main\n")
                    (git / "config").write_text(f"[core]\n\tfsmonitor = touch {ran}\n\tpager = touch {ran}\n")

    bench.model(bash("echo $TMPDIR"), bash(command), text("Done."))
    async with bench.engine(approver=approver) as engine:
        await bench.go_on(engine, on_event=plant)

    assert len(approver.asked) == 1
    assert not ran.exists()


async def test_plan_mode_reads_there_and_writes_nothing(bench):
    bench.model(
        bash(HEREDOC), bash("echo x | tee $TMPDIR/a"), bash("cp a $TMPDIR/b"), bash("ls $TMPDIR"), text("Done.")
    )

    run = await bench.run(permission_mode="plan")

    assert [event.is_error for event in run.of("tool_end")] == [True, True, True, False]
    assert all_answers(bench)[-1] == "(no output)"


async def test_file_tools_work_there_by_its_path_and_a_denial_names_it(bench, temporary):
    async def play(engine, name, **given):
        bench.model(call(name, given), text("Done."))
        run = await bench.go_on(engine)
        return run.of("tool_end")[-1].is_error, answers(bench)[0]

    async with bench.engine() as engine:
        failed, told = await play(engine, "Write", file_path="/tmp/everturn-test-note.txt", content="x")
        [scratch] = list_scratch(temporary)
        assert failed
        assert f"Temporary files need no approval in {scratch} ($TMPDIR in commands)." in told
        path = f"{scratch}/note.txt"
        assert not (await play(engine, "Write", file_path=path, content="one\n"))[0]
        assert not (await play(engine, "Edit", file_path=path, old_string="one", new_string="two"))[0]
        assert "two" in (await play(engine, "Read", file_path=path))[1]
        assert "note.txt" in (await play(engine, "Grep", pattern="two", path=str(scratch)))[1]
        assert "note.txt" in (await play(engine, "Glob", pattern="*.txt", path=str(scratch)))[1]
        assert "two" in (await play(engine, "Bash", command=f"cat {path}"))[1]
        (scratch / "keys").symlink_to(bench.home)
        assert (await play(engine, "Write", file_path=f"{scratch}/keys/authorized_keys", content="x"))[0]
        assert (await play(engine, "Write", file_path=f"{scratch}/AGENTS.md", content="x"))[0]
        (bench.home / "outside").write_text("x")
        os.link(bench.home / "outside", scratch / "second")
        assert (await play(engine, "Bash", command="echo y > $TMPDIR/second"))[0]
        assert (bench.home / "outside").read_text() == "x"
    assert not scratch.exists()
    assert not (bench.home / "authorized_keys").exists()


async def test_file_tools_do_not_take_the_variable_for_a_folder(bench):
    bench.model(call("Write", {"file_path": "$TMPDIR/x.py", "content": "x\n"}), bash("echo $TMPDIR"), text("Done."))

    run = await bench.run(permission_mode="acceptEdits")

    refused, place = all_answers(bench)
    assert "(`echo $TMPDIR` prints it)" in refused
    assert "everturn-scratch-" in place
    assert (run.result.denials, list_names(bench.folder)) == ((), [])


@pytest.mark.parametrize(
    "command", ["sort a > /tmp/x.log", "cat > /tmp/x.py <<'EOF'\nEOF", "cp a /tmp/b", "sort a | tee x.log"]
)
async def test_a_denied_command_that_wants_a_file_is_told_where_one_may_be_written(bench, temporary, command):
    bench.model(bash(command), text("Done."))

    await bench.run()

    [scratch] = list_scratch(temporary)
    assert str(scratch) in answers(bench)[0]


async def test_it_is_private_made_on_first_need_and_goes_with_the_session(bench, temporary):
    bench.model(
        text("Hello."),
        bash("echo $TMPDIR; stat -c %a $TMPDIR; touch inside 2>/dev/null; echo x > $TMPDIR/y"),
        text("Done."),
    )
    async with bench.engine() as engine:
        await bench.go_on(engine)
        assert list_scratch(temporary) == []
        await bench.go_on(engine)
        [scratch] = list_scratch(temporary)
        assert (scratch.stat().st_mode & 0o777, scratch.stat().st_uid) == (0o700, os.getuid())
    assert list_scratch(temporary) == []


async def test_a_resumed_session_is_told_that_what_was_there_is_gone(bench):
    bench.model(bash(HEREDOC), text("Done."), text("I see."), text("I know."))
    async with bench.engine() as engine:
        await bench.go_on(engine)
        session = engine.session_id
    async with bench.engine(resume=session) as engine:
        await bench.go_on(engine)
        await bench.go_on(engine)

    told = [block["text"] for message in bench.sent[-1] for block in message["content"] if block["type"] == "text"]
    assert len([each for each in told if "and $TMPDIR is empty" in each]) == 1


@pytest.mark.parametrize("mode", ["default", "bypassPermissions"])
async def test_it_is_the_same_folder_in_the_sandbox_and_for_held_and_approved_commands(bench, sandbox, mode):
    approver = Approver(Ruling.ALLOW)
    bench.model(
        bash(HEREDOC),
        bash("python3 $TMPDIR/x.py > $TMPDIR/out; cat $TMPDIR/out"),
        bash("cat $TMPDIR/out; echo $TMPDIR", dangerouslyDisableSandbox=True),
        bash("cat $TMPDIR/out; echo $TMPDIR"),
        text("Done."),
    )

    await bench.run(sandbox=sandbox, approver=approver, permission_mode=mode)

    _, second, third, fourth = all_answers(bench)
    assert second == "42"
    assert third == fourth
    assert third.startswith("42\n/")


async def test_what_is_run_from_there_is_asked_about_as_always(bench):
    approver = Approver(Ruling.ALLOW)
    bench.model(bash(HEREDOC), bash("python3 $TMPDIR/x.py"), text("Done."))

    await bench.run(approver=approver)

    assert [each.input["command"] for each, _ in approver.asked] == ["python3 $TMPDIR/x.py"]
    assert answers(bench) == ["42"]


async def test_a_rule_for_a_command_lets_its_output_be_kept_there(bench):
    (bench.folder / "Makefile").write_text("all:\n\t@echo made\n")
    bench.model(
        bash("make > $TMPDIR/log 2>&1; tail -1 $TMPDIR/log"), bash("make | tee $TMPDIR/log | tail -1"), text("Done.")
    )

    run = await bench.run(allowed_tools=["Bash(make *)"])

    assert all_answers(bench) == ["made", "made"], run.events


async def run_held(bench, *commands, without="", bounds=None, holding=None, before=lambda _: None):
    """As if judgement had missed everything: only the wall is left. `before` is given the folder, which SCRATCH stands for."""
    folder, scratch = str(bench.folder.resolve()), SessionScratch(tuple, bench.env["TMPDIR"])
    premises = Premises(folders=lambda: (folder,), home=str(bench.home), scratch=scratch, bounds=bounds or Bounds())
    tool, tasks = bash_tool(holder=CommandHolder(premises, without=without), scratch=scratch), Tasks()
    before(Path(scratch.make()))
    context = ToolContext(
        folder=folder,
        tool_use_id="toolu_1",
        abort=AbortSignal(),
        files=FileStates(),
        progress=lambda _: None,
        tasks=tasks,
        holding=holding or Holding(scratch=True),
    )
    lines = [command.replace("SCRATCH", scratch.find()) for command in commands]
    results = [(await tool.run(tool.parse({"command": line}), context)).content for line in lines]
    left = list_names(Path(scratch.find()))
    await tasks.aclose()
    scratch.close()
    return results, left


@pytest.mark.parametrize("without", WALLS[:2])
async def test_the_wall_alone_lets_a_command_write_there_and_nowhere_else(bench, without):
    out = bench.home.parent / "out"
    out.mkdir()
    line = (
        f"echo x > $TMPDIR/y; ln -s {out} $TMPDIR/way; echo x > $TMPDIR/way/y; echo x > inside; echo x > {out}/z; "
        f"mv $TMPDIR/y {out}/w; ln $TMPDIR/y second; cp $TMPDIR/y $TMPDIR/copy; mkdir -p $TMPDIR/../q; cat $TMPDIR/way/secret"
    )
    (out / "secret").write_text("SECRET")

    [told], left = await run_held(bench, line, without=without)

    assert sorted(path.name for path in out.iterdir()) == ["secret"]
    assert list(bench.folder.iterdir()) == []
    assert left == ["copy", "way", "y"]
    assert "SECRET" not in told


@pytest.mark.parametrize("without", WALLS[:2])
async def test_a_held_reader_reads_there_and_writes_nothing_there(bench, without):
    def put(scratch):
        (scratch / "note").write_text("found\n")

    line = "cat SCRATCH/note; echo x > SCRATCH/made; rm SCRATCH/note; echo mine > $TMPDIR/own && cat $TMPDIR/own"

    [told], left = await run_held(bench, line, without=without, holding=Holding(), before=put)

    assert left == ["note"]
    assert "found" in told
    assert "mine" in told


@pytest.mark.needs("Landlock")
async def test_what_a_held_command_may_put_there_is_bounded_and_what_was_there_does_not_count(bench):
    def fill(scratch):
        for number in range(30):
            (scratch / f"{number}").write_text("")

    [fine, told], _ = await run_held(
        bench,
        "echo x > $TMPDIR/one; echo ok",
        "for i in {1..60}; do echo x > $TMPDIR/n$i; done; sleep 600",
        bounds=Bounds(temporary_files=40),
        before=fill,
    )

    assert fine == "ok"
    assert "made more than 40 temporary files" in told


@pytest.mark.parametrize(
    "command",
    [
        "make -f $TMPDIR/Makefile",
        'make -f "$TMPDIR/Makefile"',
        "make -C $TMPDIR",
        "make -C$TMPDIR",
        "make -f SCRATCH/Makefile",
        "make -fSCRATCH/Makefile",
        "make -C UP/SCRATCH",
        "cd $TMPDIR && make",
        "cd SCRATCH; make",
        "make -C link",
        "make -C $(echo $TMPDIR)",
        "make -C $(printf /%s tmp)/x",
        "make -C PLACE/everturn-*",
        "make -C /proc/self/cwd/x",
        "timeout 5 make -C $TMPDIR",
        "make -C $(printf %s /x); echo x > $TMPDIR/y",
        # Through what it reads.
        "make -f - < $TMPDIR/Makefile",
        "make -f - < link/Makefile",
        "make -f - 0<> link/Makefile",
        "f=link; make -f - < $f/Makefile",
        "{ make -f -; } < link/Makefile",
        "cat $TMPDIR/Makefile | make -f -",
        "cat link/Makefile | make -f -",
        "cat < link/Makefile | make -f -",
        "cat link/Makefile | tee | make -f -",
        "cat link/Makefile | (make -f -)",
        "cat link/Makefile | { cd sub && make -f -; }",
        "(cd link && cat Makefile) | make -f -",
        "cat PLACE/*/Makefile | make -f -",
        "grep -rh '' PLACE | make -f -",
        "cat names | xargs cat | make -f -",
        "make -f - < <(cat link/Makefile)",
        "make -f <(cat link/Makefile)",
        'make -f - <<< "$(cat link/Makefile)"',
        "make -f - <<E\n$(cat link/Makefile)\nE",
        "make -f - <<< 'include SCRATCH/Makefile'",
        "make -f - <<'E'\ninclude SCRATCH/Makefile\nE",
        "make -f - <<'E'\ninclude $(TMPDIR)/Makefile\nE",
        "make -f - <<'E'\ninclude PLACE/every*/Makefile PLACE/ever*/Makefile\nE",
        # What it reads are its words.
        "echo $TMPDIR/Makefile | xargs make -f",
        "echo link/Makefile | xargs make -f",
        "echo '\"PLACE\"/'* | xargs make -C",
        "cat names | xargs make -f",
        "xargs make -f < names",
        "timeout 9 xargs make -f < names",
        "find PLACE -name Makefile | xargs make -f",
        "find link/ -name Makefile | xargs make -f",
        # Folders around it, and patterns that the program may expand.
        "make WHERE=PLACE",
        "make 'WHAT=PLACE/*/x'",
    ],
)
async def test_a_rule_for_a_program_is_none_for_what_stands_there(bench, temporary, command):
    ran = bench.home.parent / "ran"
    approver = Approver()

    def plant(event):
        for scratch in list_scratch(temporary):
            (scratch / "Makefile").write_text(f"all:\n\ttouch {ran}\n")
            if not (bench.folder / "link").exists():
                (bench.folder / "link").symlink_to(scratch)
                (bench.folder / "names").write_text(f"{scratch}/Makefile\n")
                (bench.folder / "sub").mkdir()

    async with bench.engine(approver=approver, allowed_tools=["Bash(make *)"]) as engine:
        bench.model(bash("echo $TMPDIR"), text("Done."))
        await bench.go_on(engine, on_event=plant)
        [scratch] = list_scratch(temporary)
        relative = f"../../../../../../..{scratch}"
        line = command.replace("UP/SCRATCH", relative).replace("SCRATCH", str(scratch)).replace("PLACE", str(temporary))
        bench.model(bash(line), text("Done."))
        await bench.go_on(engine)

    assert [each.input["command"] for each, _ in approver.asked] == [line]
    assert not ran.exists()


@pytest.mark.parametrize(
    "options", [{"allowed_tools": ["Bash"]}, {"allowed_tools": ["Bash(make *)"], "permission_mode": "acceptEdits"}]
)
async def test_where_every_command_or_every_edit_is_allowed_it_may_run(bench, options):
    bench.model(
        bash("printf 'all:\\n\\t@echo made\\n' > $TMPDIR/Makefile"), bash("make -f $TMPDIR/Makefile"), text("Done.")
    )

    await bench.run(**options)

    assert answers(bench) == ["made"]


@pytest.mark.parametrize(
    "command",
    [
        "make $(ls sub)",
        "make -C ./su*",
        "make WHAT=~/x",
        "make > $TMPDIR/log; cat $TMPDIR/log",
        "make | tee $TMPDIR/log | tail -1",
        "make 2>&1 | tail -1 > $TMPDIR/log; make -f Makefile < /dev/null",
        "make -f - < Makefile",
        "cat Makefile | make -f -",
        "cat Makefile | make -f - | tee $TMPDIR/log",
        "make -f - <<'E'\nall:\n\t@echo /* made */ $@ /tmp\nE",
        "make -f - <<< 'all: ;@echo made'",
        "echo all | xargs make",
        "find sub -name '*.mk' | xargs make",
        "ls sub | xargs make",
        "find . -name '*.mk' | head -2 | xargs make | tee -a $TMPDIR/log",
        "make -f <(cat Makefile)",
        "make -C sub/.. DESTDIR=/usr",
    ],
)
async def test_words_and_inputs_that_cannot_lead_there_are_covered_as_before(bench, temporary, command):
    (bench.folder / "sub").mkdir()
    (bench.folder / "Makefile").write_text("all:\n\t@echo made\n")
    approver = Approver()
    bench.model(bash("echo x > $TMPDIR/used"), bash(command), text("Done."))

    await bench.run(approver=approver, allowed_tools=["Bash(make *)", "Bash(find *)"])

    assert approver.asked == []


async def test_no_longer_yes_is_offered_for_what_stands_there(bench, temporary):
    approver = Approver()
    bench.model(bash(HEREDOC), text("Done."))
    async with bench.engine(approver=approver) as engine:
        await bench.go_on(engine)
        [scratch] = list_scratch(temporary)
        bench.model(bash(f"python3 {scratch}/x.py"), bash("python3 $TMPDIR/x.py"), text("Done."))
        await bench.go_on(engine)

    assert [each.offers for each, _ in approver.asked] == [(), ()]


@pytest.mark.needs("bubblewrap")
async def test_where_edits_are_accepted_files_go_there_and_back(bench):
    (bench.folder / "a.txt").write_text("one\n")
    approver = Approver()
    bench.model(
        bash(
            "mv a.txt $TMPDIR/b.txt && touch $TMPDIR/c && sed -i s/one/two/ $TMPDIR/b.txt && cp -p $TMPDIR/b.txt d.txt"
        ),
        bash("ls $TMPDIR && cat d.txt"),
        text("Done."),
    )

    await bench.run(approver=approver, permission_mode="acceptEdits")

    assert approver.asked == []
    assert answers(bench) == ["b.txt\nc\ntwo"]
    await until(lambda: list_names(bench.folder) == ["d.txt"])


FOLDERS_AWAY = (
    "cp -r $TMPDIR/d/. src/",
    "cp -r $TMPDIR/d src/tools",
    "mv $TMPDIR/d src/tools",
    "cd $TMPDIR && cp -r d FOLDER/src/tools",
    "mv $TMPDIR/d $TMPDIR/e && mv $TMPDIR/e src/tools",
)


@pytest.mark.needs("bubblewrap")
@pytest.mark.parametrize("line", FOLDERS_AWAY)
async def test_a_folder_there_is_not_taken_away_unasked_since_the_background_may_fill_it(bench, line):
    """What was judged would be another thing by then, such as `tools/bazel`, which Bazel starts."""
    (bench.folder / "src").mkdir()
    line = line.replace("FOLDER", str(bench.folder))
    approver = Approver()
    bench.model(
        bash("mkdir $TMPDIR/d; echo x > $TMPDIR/d/a.txt"),
        bash("sleep 0.3; echo evil > $TMPDIR/d/bazel; sleep 1000", run_in_background=True),
        bash(line),
        text("Done."),
    )

    await bench.run(approver=approver, permission_mode="acceptEdits")

    assert [asked.input["command"] for asked, _ in approver.asked] == [line]
    assert list_names(bench.folder / "src") == []


@pytest.mark.parametrize("behind", [False, True], ids=["", "in the background"])
@pytest.mark.parametrize(
    "line", ["sleep 9; make -f PLACE/every*/Makefile", "make -C slow && find link/ | xargs make -f", "make -C PLACE"]
)
async def test_what_may_be_put_there_while_an_allowed_line_waits_is_asked_about(bench, temporary, line, behind):
    """The folder is not even made yet. A line that takes too long goes on in the background, beside commands that fill the folder."""
    (bench.folder / "link").symlink_to(temporary)
    line = line.replace("PLACE", str(temporary))
    approver = Approver()
    bench.model(bash(line, run_in_background=behind), text("Done."))

    await bench.run(approver=approver, allowed_tools=["Bash(make *)"])

    assert [asked.input["command"] for asked, _ in approver.asked] == [line]


@pytest.mark.needs("bubblewrap")
async def test_a_folder_is_copied_within_it_and_into_it_unasked(bench):
    (bench.folder / "src").mkdir()
    (bench.folder / "src/a.txt").write_text("one\n")
    approver = Approver()
    copies = bash("cp -r src $TMPDIR/d"), bash("cp -r $TMPDIR/d $TMPDIR/e")
    bench.model(*copies, bash("cat $TMPDIR/e/a.txt"), text("Done."))

    await bench.run(approver=approver, permission_mode="acceptEdits")

    assert approver.asked == []
    assert answers(bench) == ["one"]


async def test_what_needs_more_than_a_wall_for_readers_is_asked_about(bench):
    approver = Approver()
    (bench.folder / "a.txt").write_text("one\n")
    lines = [
        "touch $TMPDIR/a",
        "sed -i s/a/b/ $TMPDIR/a",
        "cp -p a.txt $TMPDIR/a",
        "mv a.txt $TMPDIR/a",
        "chmod +x $TMPDIR/a",
    ]
    bench.model(*map(bash, lines), text("Done."))

    await bench.run(approver=approver)

    assert [each.input["command"] for each, _ in approver.asked] == lines


async def test_where_the_shell_is_now_is_told_and_told_again_when_a_command_fails_there(bench):
    (bench.folder / "sub").mkdir()
    lines = ["cd sub && ls", "ls", "ls nothing", "cd ..", "ls nothing"]
    bench.model(*map(bash, lines), text("Done."))

    await bench.run()

    moved, still, failed, back, elsewhere = all_answers(bench)
    assert moved == "The shell is now in sub/"
    assert still == "(no output)"
    assert "The command ran in sub/" in failed
    assert back == "The shell is back in the working folder"
    assert "The command ran in" not in elsewhere


async def test_it_never_lies_in_a_folder_that_is_worked_in(bench):
    """A rule for a program of the project would run what is written there."""
    place = bench.folder / "tmp"
    place.mkdir()
    bench.env["TMPDIR"] = str(place)
    bench.model(bash("echo $TMPDIR"), text("Done."))

    await bench.run()

    [told] = all_answers(bench)
    assert told.startswith("/")
    assert not told.startswith(str(bench.folder))
