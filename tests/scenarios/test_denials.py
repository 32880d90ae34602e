"""A denial names what decided, all that was refused, the rule or mode that would help, and the nearest thing that is allowed."""

import os

import pytest

from everturn.core.denials import DenialCause
from everturn.modelserver import call, calls, text
from everturn.permissions.advice import THERE
from everturn.ports.policy import Ruling, Verdict

pytestmark = pytest.mark.needs("Landlock")
NOBODY = "and nobody is here to approve it."
PYTHON = "The user can allow it with the rule Bash(python *), which allows any such code; there is no narrower one."
PYTEST = "Allowed are commands by the rule Bash(pytest *), and those that only read."
LONG = f"python -c 'print({'1 + ' * 40}1)'"
TRY = "To try code out, put it into a test and run that."


async def denied(bench, name, fields, **options):
    bench.model(call(name, fields), text("Done."))
    run = await bench.run(**options)
    assert len(run.result.denials) == 1
    [block] = [block for block in bench.sent[-1][-1]["content"] if block["type"] == "tool_result"]
    return block["content"].removeprefix("<tool_use_error>Permission denied: ").removesuffix("</tool_use_error>")


@pytest.mark.parametrize(
    ("command", "told"),
    [
        ("python - <<'EOF'\nprint(1)\nEOF", f"no rule allows 'python -', {NOBODY} {PYTHON} {PYTEST} {TRY}"),
        (
            "python -m pkg",
            f"no rule allows 'python -m pkg', {NOBODY} The user can allow it with the rule Bash(python -m pkg). {PYTEST} {TRY}",
        ),
        (
            "python -m pip install a",
            (f"no rule allows 'python -m pip install a', {NOBODY} The user can allow it with the rule Bash(python -m pip install a). "
            f"{PYTEST}"),
        ),
        (
            LONG,
            f"no rule allows {LONG[:80]!r}, {NOBODY} {PYTHON} {PYTEST} {TRY}",
        ),
        (
            "python $TMPDIR/x.py",
            (f"no rule allows 'python $TMPDIR/x.py', {NOBODY} The user can allow it with the rule Bash(python $TMPDIR/*), which "
            f"allows any such code; there is no narrower one. {PYTEST} {TRY}"),
        ),
        (
            "make && npm test; true",
            (f"no rule allows 'make', 'npm test', {NOBODY} The user can allow it with the rules Bash(make), Bash(npm test *). "
            f"{PYTEST}"),
        ),
        (
            "make && pytest -q; npm test",
            (f"no rule allows 'make', 'npm test', {NOBODY} The user can allow it with the rules Bash(make), Bash(npm test *). "
            f"{PYTEST}"),
        ),
        (
            "a1; a2; a3; a4; a5; a6; a7",
            f"no rule allows 'a1', 'a2', 'a3', 'a4', 'a5' and 2 more, {NOBODY} {PYTEST}",
        ),
    ],
)  # fmt: skip
async def test_a_command_is_told_what_would_help_and_what_runs_without(bench, command, told):
    assert (
        await denied(
            bench, "Bash", {"command": command}, allowed_tools=["Bash(pytest *)"], permission_mode="acceptEdits"
        )
        == f"mode acceptEdits: {told}"
    )


@pytest.mark.parametrize(
    "command",
    [
        "python - <<'EOF'\nprint(1)\nEOF", "make 2>&1", "sed -i s/a/b/ x", "rm x", "make > /dev/null", "make > x.log",
        "make | tee x.log", "cp a b && make", "sort < /etc/shadow > x",
    ],
)  # fmt: skip
async def test_the_scratch_folder_is_not_named_where_it_would_not_help(bench, command):
    assert "$TMPDIR" not in await denied(bench, "Bash", {"command": command})


@pytest.mark.parametrize(
    "command", ["sort a > x.log", "sort a | tee x.log", "cp a b", "touch x", "cat > /tmp/x <<'EOF'\nEOF"]
)
async def test_it_is_named_where_what_is_written_could_lie_there(bench, command):
    assert "Temporary files need no approval in /" in await denied(bench, "Bash", {"command": command})


async def test_what_is_not_understood_does_not_hide_the_parts_that_no_rule_allows(bench):
    told = await denied(bench, "Bash", {"command": "f() { make; }; npm install; f"})

    assert told.startswith("mode default: not understood: ")
    assert "; no rule allows 'make', 'npm install', 'f', and nobody" in told


async def test_all_programs_that_are_not_the_systems_are_named(bench, monkeypatch):
    (bench.folder / "bin").mkdir()
    for name in ("node", "ruff"):
        (bench.folder / "bin" / name).write_text("#!/bin/sh\n")
        (bench.folder / "bin" / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{bench.folder}/bin:{os.environ['PATH']}")

    told = await denied(bench, "Bash", {"command": "node --version; ruff --version"})

    place = bench.folder.resolve()
    assert (
        f"node is {place}/bin/node, which a command without approval does not find; ruff is {place}/bin/ruff, " in told
    )


@pytest.mark.parametrize("command", [".venv/bin/python -V", ".venv/bin/python -m pip list", ".venv/bin/pip show x"])
async def test_who_asks_for_the_version_of_an_environment_is_told_where_it_stands(bench, command):
    (bench.folder / ".venv").mkdir()
    (bench.folder / ".venv" / "pyvenv.cfg").write_text("version = 3.12.1\n")

    told = await denied(bench, "Bash", {"command": command})

    assert (
        ".venv/pyvenv.cfg tells its version, and the folders in .venv/lib/python*/site-packages its packages: to read and list "
        "these needs no approval."
    ) in told


async def test_an_environment_first_in_the_path_is_not_answered_for_by_another_python(bench, monkeypatch):
    (bench.folder / ".venv" / "bin").mkdir(parents=True)
    (bench.folder / ".venv" / "pyvenv.cfg").write_text("version = 3.99.1\n")
    (bench.folder / ".venv" / "bin" / "python").symlink_to("/usr/bin/env")
    monkeypatch.setenv("PATH", f"{bench.folder}/.venv/bin:{os.environ['PATH']}")

    told = await denied(bench, "Bash", {"command": "python --version"})

    assert f"{bench.folder.resolve()}/.venv/pyvenv.cfg tells its version" in told


@pytest.mark.parametrize(
    "command", ["/bin/bash --version", "ls /usr/bin", "ls -l /usr/bin/b*", "find /usr/lib -maxdepth 0"]
)
async def test_versions_of_the_systems_programs_and_lists_of_its_folders_need_no_approval(bench, command):
    bench.model(call("Bash", {"command": command}), text("Done."))

    run = await bench.run()

    assert run.result.denials == ()
    assert [event.is_error for event in run.of("tool_end")] == [False]


@pytest.mark.parametrize(
    "command", ["ls /root", "ls /etc", "cat /usr/bin/ls", "cd /usr/bin && ls", "grep -r x /usr/share"]
)
async def test_other_folders_and_what_files_hold_there_do(bench, command):
    await denied(bench, "Bash", {"command": command})


async def test_all_parts_beside_a_rule_are_named(bench):
    told = await denied(
        bench,
        "Bash",
        {"command": "touch made; git status; for f in *; do wc -l $f; done"},
        allowed_tools=["Bash(touch made)"],
    )

    assert ", and 'git status', 'wc -l $f' beside it need a rule, too" in told


async def test_files_name_the_folder_and_the_mode(bench):
    (bench.folder / "a").write_text("x")

    outside = await denied(bench, "Glob", {"pattern": "*", "path": "/usr/lib"})
    inside = await denied(bench, "Write", {"file_path": "new", "content": "x"})

    assert outside == (
        f"mode default: reading outside the working folder, {NOBODY} The user can allow it with the rule Read(//usr/lib/**). "
        f"The working folder is {bench.folder.resolve()}."
    )
    assert inside == f"mode default: Write needs approval, {NOBODY} The user can allow it with the mode acceptEdits."


@pytest.mark.parametrize(
    ("command", "told"),
    [
        ("cp a $TMPDIR/a && sed -i s/x/y/ $TMPDIR/a", True),
        ('touch "${TMPDIR}/a"', True),
        ("sed -i s/x/y/ a", False),
        ("make > $TMPDIR/log", False),
    ],
)
async def test_what_changes_files_of_the_scratch_folder_is_told_what_does_it_unasked(bench, command, told):
    (bench.folder / "a").write_text("x\n")

    said = await denied(bench, "Bash", {"command": command})

    assert (THERE in said) is told


async def test_what_is_said_to_need_no_approval_there_needs_none(bench):
    (bench.folder / "a").write_text("x\n")
    bench.model(
        call(
            "Bash",
            {"command": "cp a $TMPDIR/a; mkdir $TMPDIR/d; cat a | tee $TMPDIR/b; cat a > $TMPDIR/c; echo $TMPDIR"},
        ),
        text("Done."),
    )
    engine = bench.engine()
    await bench.go_on(engine)
    [block] = [block for block in bench.sent[-1][-1]["content"] if block["type"] == "tool_result"]
    place = block["content"].split("\n")[-1]
    bench.model(
        calls(
            ("Glob", {"pattern": f"{place}/*"}),
            ("Read", {"file_path": f"{place}/a"}),
            ("Edit", {"file_path": f"{place}/a", "old_string": "x", "new_string": "y"}),
            ("Write", {"file_path": f"{place}/e", "content": "e"}),
        ),
        text("Done."),
    )

    run = await bench.go_on(engine)

    assert run.result.denials == ()
    assert [event.is_error for event in run.of("tool_end")] == [False] * 4


@pytest.mark.parametrize(
    ("command", "reason"),
    [
        ("make", "'make' may change something"),
        ("git log && python -m pytest -q", "'python -m pytest -q' may change something"),
        ("cat /etc/passwd", "'cat /etc/passwd' reads /etc/passwd, which is outside the working folder"),
        ("cat a | tee b", "it would write '{folder}/b'"),
        ("rm -rf $T", "what 'rm -rf $T' removes is not known before it runs: no rule and no mode approves it"),
        ("if", "not understood: it cannot be parsed"),
    ],
)
async def test_plan_mode_names_the_part_that_it_refuses(bench, command, reason):
    (bench.folder / "a").write_text("x")

    planned = await denied(bench, "Bash", {"command": command}, permission_mode="plan")

    assert planned == (
        f"mode plan: {reason.format(folder=bench.folder.resolve())}. Plan mode allows what only reads in the working folders; "
        "what should change belongs in the plan."
    )


async def test_plan_mode_and_deny_rules_say_what_they_say(bench):
    written = await denied(bench, "Write", {"file_path": "new", "content": "x"}, permission_mode="plan")
    ruled = await denied(bench, "Bash", {"command": "make all"}, disallowed_tools=["Bash(make *)"])

    assert written == (
        "mode plan: Write may change something. Plan mode allows what only reads in the working folders; what should change "
        "belongs in the plan."
    )
    assert ruled == "Bash(make *) denies 'make all' (command line)."


class Refusing:
    async def approve(self, call, reason):
        return Verdict(ruling=Ruling.DENY)


TOUCH = ("Bash", {"command": "touch a"})


@pytest.mark.parametrize(
    ("call_", "options", "cause", "unasked"),
    [
        (TOUCH, {"disallowed_tools": ["Bash(touch:*)"]}, DenialCause.RULE, False),
        (TOUCH, {"ask_tools": ["Bash(touch:*)"]}, DenialCause.RULE, True),
        (TOUCH, {"ask_tools": ["Bash(touch:*)"], "permission_mode": "dontAsk"}, DenialCause.MODE, False),
        (TOUCH, {"permission_mode": "plan"}, DenialCause.MODE, False),
        (TOUCH, {}, DenialCause.UNAPPROVED, True),
        (TOUCH, {"approver": Refusing()}, DenialCause.PERSON, False),
        (("Bash", {"command": "rm -rf /"}), {}, DenialCause.IRREVERSIBLE, True),
        (("Bash", {"command": "ls /root > .git/config"}), {}, DenialCause.PROTECTED_PATH, True),
        (("Bash", {"command": "true > .git/config"}), {"allowed_tools": ["Bash"]}, DenialCause.PROTECTED_PATH, True),
        (("Bash", {"command": "cat ../secret"}), {}, DenialCause.OUTSIDE, True),
        (("Bash", {"command": "echo x > ../x"}), {"permission_mode": "acceptEdits"}, DenialCause.OUTSIDE, True),
        (("Write", {"file_path": "a", "content": ""}), {}, DenialCause.UNAPPROVED, True),
        (("Write", {"file_path": ".git/config", "content": ""}), {}, DenialCause.PROTECTED_PATH, True),
        (("Read", {"file_path": "../secret"}), {}, DenialCause.OUTSIDE, True),
    ],
)
async def test_the_cause_of_a_denial_is_a_value_in_event_result_and_session(bench, call_, options, cause, unasked):
    (bench.folder.parent / "secret").write_text("s")
    bench.model(call(*call_), text("Then not."))
    engine = bench.engine(**options)

    run = await bench.go_on(engine)

    [told], [denial] = run.of("permission_denied"), run.result.denials
    [record] = [record for record in bench.records(engine.session_id) if record["type"] == "denied"]
    assert (told.cause, told.unasked) == (denial.cause, denial.unasked) == (cause, unasked)
    assert (record["cause"], record.get("unasked", False)) == (str(cause), unasked)


async def test_an_approver_that_is_a_program_may_name_the_cause(bench):
    class Checking:
        async def approve(self, call, reason):
            return Verdict(ruling=Ruling.DENY, cause=DenialCause.RULE)

    bench.model(call(*TOUCH), text("Then not."))

    run = await bench.run(approver=Checking())

    assert run.result.denials[0].cause is DenialCause.RULE
