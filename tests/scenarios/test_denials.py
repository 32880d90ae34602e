"""A denial names what decided, all that was refused, the rule or mode that would help, and the nearest thing that is allowed."""

import pytest

from everturn.modelserver import call, text

pytestmark = pytest.mark.needs("Landlock")
NOBODY = "and nobody is here to approve it."
PYTHON = "The user can allow it with the rule Bash(python *), for any such code; no narrower rule would do."
PYTEST = "Allowed are commands by the rule Bash(pytest *), and those that only read."
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
            "python $TMPDIR/x.py",
            (f"no rule allows 'python $TMPDIR/x.py', {NOBODY} The user can allow it with the rule Bash(python $TMPDIR/*), for any "
            f"such code; no narrower rule would do. {PYTEST} {TRY}"),
        ),
        (
            "make && npm test; true",
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
    "command", ["python - <<'EOF'\nprint(1)\nEOF", "make 2>&1", "sed -i s/a/b/ x", "rm x", "make > /dev/null"]
)
async def test_the_scratch_folder_is_not_named_where_it_would_not_help(bench, command):
    assert "$TMPDIR" not in await denied(bench, "Bash", {"command": command})


@pytest.mark.parametrize(
    "command", ["make > x.log", "make | tee x.log", "cp a b", "touch x", "cat > /tmp/x <<'EOF'\nEOF"]
)
async def test_it_is_named_where_what_is_written_could_lie_there(bench, command):
    assert "Temporary files need no approval in /" in await denied(bench, "Bash", {"command": command})


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


async def test_plan_mode_and_deny_rules_say_what_they_say(bench):
    planned = await denied(bench, "Bash", {"command": "make"}, permission_mode="plan")
    ruled = await denied(bench, "Bash", {"command": "make all"}, disallowed_tools=["Bash(make *)"])

    assert planned == (
        "mode plan: Bash may change something. Plan mode allows what only reads; what should change belongs in the plan."
    )
    assert ruled == "Bash(make *) denies 'make all' (command line)."
