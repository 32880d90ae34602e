"""A goal: whenever the model stops, a command shows whether the work is done, and the model goes on until it is."""

import subprocess

import pytest

from everturn.core.errors import OptionError
from everturn.core.messages import Kind
from everturn.core.state import AbortCause, Reason
from everturn.modelserver import call, text

FAILING = """\
import pathlib, sys
left = int(pathlib.Path("left").read_text())
print(f"{left} of 5 tests failed in 0.{left}1s")
sys.exit(1 if left else 0)
"""


def write_left(left):
    return call("Write", {"file_path": "left", "content": str(left)})


def goal(bench, **options):
    (bench.folder / "check.py").write_text(FAILING)
    (bench.folder / "left").write_text("5")
    given = {"goal": "All tests pass.", "verify": "python3 check.py", "permission_mode": "acceptEdits"}
    return bench.engine(**given | options)


def overwrite(left):
    """A command may change what Write would first have to read."""
    return call("Bash", {"command": f"echo {left} > left"})


async def test_from_five_failing_tests_to_none_the_model_is_sent_on(bench):
    engine = goal(bench, permission_mode="bypassPermissions")
    bench.model(
        text("I stop."), overwrite(3), text("Better."), overwrite(1), text("Nearly."), overwrite(0), text("Done.")
    )

    run = await bench.go_on(engine, "Mend the tests.")

    assert [each for each in run.transitions if each != "next_turn"] == ["goal_retry"] * 3
    assert run.reason is Reason.COMPLETED
    assert (run.result.goal, run.result.goal_attempts, run.result.is_error) == ("met", 4, False)
    assert run.result.text == "Done."
    assert [(event.attempt, event.passed) for event in run.of("verification_end")] == [
        (1, False),
        (2, False),
        (3, False),
        (4, True),
    ]
    told = [message.text for message in engine.transcript if message.kind is Kind.HIDDEN]
    assert [line for each in told for line in each.splitlines() if "tests failed" in line] == [
        "5 of 5 tests failed in 0.51s",
        "3 of 5 tests failed in 0.31s",
        "1 of 5 tests failed in 0.11s",
    ]
    assert "Verification 3 failed (the work ends after 20): the command" in told[2]


async def test_the_model_is_told_the_goal_once_and_before_its_first_answer(bench):
    engine = goal(bench)
    (bench.folder / "left").write_text("0")
    bench.model(text("Done."))

    await bench.go_on(engine, "Mend the tests.")

    [first] = bench.sent
    [told] = [block["text"] for message in first for block in message["content"] if "All tests pass." in block["text"]]
    assert "Verified by: python3 check.py" in told


async def test_the_same_output_three_times_ends_the_query(bench):
    engine = goal(bench)
    bench.model(text("I stop."))

    run = await bench.go_on(engine)

    assert run.transitions == ["goal_retry"] * 2
    assert run.reason is Reason.GOAL_NOT_MET
    assert (run.result.subtype, run.result.is_error, run.result.exit) == ("error_during_execution", True, 1)
    assert run.result.terminal_reason == "goal_not_met"
    assert (run.result.goal, run.result.goal_attempts) == ("not_met", 3)
    assert [event.stuck for event in run.of("verification_end")] == [False, False, True]
    assert "python3 check.py" in run.result.errors[0]
    assert (run.result.answered, run.result.text) == (True, "I stop.")
    assert "same as last time" in bench.sent[2][-1]["content"][0]["text"]


async def test_the_same_long_output_is_the_same_though_its_durations_are_not_as_long(bench):
    """More than is compared: what was left out, and where it was cut, depends on how many digits each duration has."""
    (bench.folder / "check.py").write_text(
        "import random\nfor n in range(30_000): print(f'test {n} passed in {random.random() * 10 ** random.randrange(6):.2f}s')\n"
        "print('1 failed'); exit(1)\n"
    )
    engine = bench.engine(verify="python3 check.py")
    bench.model(text("I stop."))

    run = await bench.go_on(engine)

    assert run.reason is Reason.GOAL_NOT_MET
    assert run.result.goal_attempts == 3


async def test_a_denied_command_is_refused_before_any_call(bench):
    with pytest.raises(OptionError, match=r"verify: the command of the goal may not run: .*Bash\(make"):
        bench.engine(goal="It works.", verify="make test", disallowed_tools=["Bash(make *)"])

    assert bench.requests == []


async def test_a_weakened_test_is_listed_with_how_it_was_found(bench):
    (bench.folder / "tests").mkdir()
    (bench.folder / "tests" / "test_sum.py").write_text("assert 1 + 1 == 3\n")
    (bench.folder / "tests" / "test_same.py").write_text("assert True\n")
    (bench.folder / "sums.py").write_text("")
    (bench.folder / "check.sh").write_text("for each in tests/*.py; do python3 $each || exit 1; done\n")
    engine = bench.engine(verify="sh check.sh", permission_mode="bypassPermissions")
    bench.model(
        call("Bash", {"command": "echo 'assert True' > tests/test_sum.py; echo 1 > sums.py; touch tests/test_same.py"}),
        call("Bash", {"command": "echo 'pass' > tests/test_new.py"}),
        text("Done."),
    )

    run = await bench.go_on(engine)

    assert run.result.goal == "met"
    assert [(file.path, file.change, file.found) for file in run.result.goal_files] == [
        ("tests/test_new.py", "new", "a test file by its name or folder"),
        ("tests/test_sum.py", "changed", "a test file by its name or folder"),
    ]


@pytest.mark.parametrize(
    ("line", "listed"),
    [
        ("sed -i s/3/2/ tests/test_sum.py", [("tests/test_sum.py", "changed")]),
        (
            "touch -r tests/test_sum.py seen; sed -i s/3/2/ tests/test_sum.py; touch -r seen tests/test_sum.py",
            [("tests/test_sum.py", "changed")],
        ),
        ("git checkout -q -- tests/test_sum.py", [("tests/test_sum.py", "changed")]),
        ("rm tests/test_sum.py", [("tests/test_sum.py", "removed")]),
        ("mv tests old; mkdir tests", [("old/test_sum.py", "new"), ("tests/test_sum.py", "removed")]),
        ("rm -r tests; ln -s . tests", [("tests/test_sum.py", "removed")]),
        ("echo exit 0 > scripts/check.sh", [("scripts/check.sh", "changed")]),
        ("echo 'exit 0' > common.inc", [("common.inc", "changed")]),
        ("echo > conftest.py", [("conftest.py", "new")]),
        ("echo > GNUmakefile", [("GNUmakefile", "new")]),
        ("echo > .pytest.ini", [(".pytest.ini", "new")]),
    ],
)
async def test_however_a_test_is_weakened_it_is_listed(bench, line, listed):
    for name, content in {
        "tests/test_sum.py": "assert 1 + 1 == 2\n",
        "scripts/check.sh": ". ./common.inc\nfor each in tests/*.py; do python3 $each || exit 1; done\n",
        "common.inc": "",
    }.items():
        (bench.folder / name).parent.mkdir(exist_ok=True)
        (bench.folder / name).write_text(content)
    commit = "git init -q && git add . && git -c user.name=A -c user.email=a@example.com commit -qm A"
    subprocess.run(["sh", "-c", commit], cwd=bench.folder, check=True)  # noqa: ASYNC221 (a test)
    (bench.folder / "tests/test_sum.py").write_text("assert 1 + 1 == 3\n")
    options = {"permission_mode": "bypassPermissions", "limits": {"goal_attempts": 1}}
    engine = bench.engine(verify="sh scripts/check.sh", **options)
    bench.model(call("Bash", {"command": line}), text("Done."))

    run = await bench.go_on(engine)

    assert [(file.path, file.change) for file in run.result.goal_files] == listed


async def test_the_script_of_the_command_and_what_it_names_are_watched(bench):
    (bench.folder / "check.sh").write_text("cat data/expected.txt; exit 0\n")
    (bench.folder / "data").mkdir()
    (bench.folder / "data" / "expected.txt").write_text("5\n")
    (bench.folder / "Makefile").write_text("test:\n\ttrue\n")
    engine = bench.engine(verify="sh check.sh", permission_mode="bypassPermissions")
    bench.model(
        call("Bash", {"command": "echo 4 > data/expected.txt; echo '#' >> check.sh; rm Makefile"}), text("Done.")
    )

    run = await bench.go_on(engine)

    assert [(file.path, file.change, file.found) for file in run.result.goal_files] == [
        ("check.sh", "changed", "the command names it"),
        ("data/expected.txt", "changed", "a script or recipe of the command names it"),
        ("Makefile", "removed", "a file that says how tests are built and run, by its name"),
    ]


@pytest.mark.parametrize("name", ["checks.py", "checks/__main__.py"])
async def test_a_file_that_is_run_in_the_place_of_a_module_is_listed(bench, name):
    engine = bench.engine(verify="python3 -m checks", permission_mode="bypassPermissions")
    bench.model(call("Write", {"file_path": name, "content": "raise SystemExit(0)"}), text("Done."))

    run = await bench.go_on(engine)

    assert run.result.goal == "met"
    assert [(file.path, file.change, file.found) for file in run.result.goal_files] == [
        (name, "new", "the command names it")
    ]


def weakened(bench, **options):
    """An engine whose goal fails until somebody weakens the test."""
    (bench.folder / "tests").mkdir()
    (bench.folder / "tests" / "test_sum.py").write_text("assert 1 + 1 == 3\n")
    given = {"verify": "python3 tests/test_sum.py && test -e done", "permission_mode": "bypassPermissions"}
    return bench.engine(**given | options)


WEAKENS = call("Bash", {"command": "echo 'assert True' > tests/test_sum.py"})
TOUCHED = ("tests/test_sum.py", "changed")


async def test_a_test_that_was_weakened_before_an_interruption_is_listed_with_a_later_prompt(bench):
    engine = weakened(bench)
    bench.model(WEAKENS, call("Bash", {"command": "touch done"}), text("Done."))
    await bench.go_on(engine, on_event=lambda event: engine.abort(AbortCause.USER) if is_result(event) else None)

    run = await bench.go_on(engine)

    assert run.result.goal == "met"
    assert TOUCHED in [(file.path, file.change) for file in run.result.goal_files]


def is_result(event):
    return event.__struct_config__.tag == "tool_end"


async def test_a_test_that_was_weakened_before_a_restart_is_listed_when_the_goal_is_met(bench):
    engine = weakened(bench, limits={"goal_attempts": 1})
    bench.model(WEAKENS, text("Done."))
    earlier = await bench.go_on(engine)
    await engine.aclose()
    later = bench.engine(resume=engine.session_id, permission_mode="bypassPermissions")
    bench.model(call("Bash", {"command": "touch done"}), text("Now."))

    run = await bench.go_on(later)

    assert (earlier.result.goal, run.result.goal) == ("not_met", "met")
    for each in (earlier, run):
        assert TOUCHED in [(file.path, file.change) for file in each.result.goal_files]


async def test_what_changed_before_a_goal_was_met_is_not_listed_with_the_next_work(bench):
    engine = weakened(bench)
    bench.model(WEAKENS, call("Bash", {"command": "touch done"}), text("Done."), text("Again."))
    first = await bench.go_on(engine)

    second = await bench.go_on(engine)

    assert ([file.path for file in first.result.goal_files], first.result.goal) == (
        ["done", "tests/test_sum.py"],
        "met",
    )
    assert (second.result.goal_files, second.result.goal) == ((), "met")


async def test_exactly_this_command_is_permitted_to_the_model_too(bench):
    engine = goal(bench, permission_mode="default")
    bench.model(
        call("Bash", {"command": "python3 check.py"}),
        call("Bash", {"command": "python3 check.py; touch more"}),
        call("Bash", {"command": "export PATH=$PWD:$PATH; cd /"}),
        text("I stop."),
    )

    run = await bench.go_on(engine)

    assert [denial.tool_input["command"] for denial in run.result.denials[:2]] == [
        "python3 check.py; touch more",
        "export PATH=$PWD:$PATH; cd /",
    ]
    assert "5 of 5 tests failed" in str(bench.sent[1][-1])


async def test_nothing_that_the_models_shell_has_set_reaches_the_command(bench):
    (bench.folder / "sub").mkdir()
    engine = bench.engine(verify="pwd; echo [$WEAKER]; false", permission_mode="bypassPermissions")
    bench.model(call("Bash", {"command": "cd sub; export WEAKER=yes"}), text("Done."))

    run = await bench.go_on(engine)

    assert run.of("verification_end")[0].output == f"{bench.folder.resolve()}\n[]"


async def test_the_hooks_of_the_user_are_heard_first_and_a_prevention_leaves_the_goal_unverified(bench):
    from everturn.ports.hooks import StopVerdict

    async def hook(turn):
        return StopVerdict(prevent="Enough.") if turn.stop_hook_active else "Lint fails."

    engine = goal(bench, hooks={"stop": hook})
    bench.model(text("Done."))

    run = await bench.go_on(engine)

    assert run.transitions == ["stop_hook_blocking"]
    assert run.reason is Reason.STOP_HOOK_PREVENTED
    assert (run.result.goal, run.result.goal_attempts) == ("not_verified", 0)
    assert run.of("verification_start") == []


async def test_a_goal_that_is_met_ends_the_work_budget(bench):
    engine = goal(bench, work_budget=100_000)
    (bench.folder / "left").write_text("0")
    bench.model(text("Done."))

    run = await bench.go_on(engine)

    assert run.transitions == []
    assert run.result.goal == "met"


async def test_the_last_attempt_ends_the_query(bench):
    engine = bench.engine(verify="date +%s%N; false", limits={"goal_attempts": 4})
    bench.model(text("Done."))

    run = await bench.go_on(engine)

    assert run.transitions == ["goal_retry"] * 3
    assert run.reason is Reason.GOAL_NOT_MET
    assert run.result.errors == (
        "The goal is not met: its command failed 4 times, which is the limit (goal_attempts): date +%s%N; false",
    )


async def test_a_goal_is_done_with_once_it_is_met_and_one_of_the_options_holds_for_every_prompt(bench):
    engine = goal(bench, permission_mode="bypassPermissions")
    bench.model(overwrite(0), text("Done."), text("Again."), text("And later."))
    await bench.go_on(engine)
    assert engine.notes.goal is None

    assert (await bench.go_on(engine)).result.goal == "met"
    assert "is met or was removed" not in str(bench.sent[-1])
    await engine.aclose()
    later = bench.engine(resume=engine.session_id)

    assert (await bench.go_on(later)).result.goal == ""
    assert str(bench.sent[-1]).count("is met or was removed: no command runs any more") == 1
    assert (await bench.go_on(later, "And now?")).result.goal == ""
    assert str(bench.sent[-1]).count("is met or was removed: no command runs any more") == 1


async def test_a_goal_that_was_not_met_stays_with_the_session(bench):
    engine = goal(bench)
    bench.model(text("I stop."))
    await bench.go_on(engine)
    await engine.aclose()
    (bench.folder / "left").write_text("0")
    later = bench.engine(resume=engine.session_id)
    bench.model(text("Now."))

    run = await bench.go_on(later)

    assert (run.result.goal, run.result.goal_attempts) == ("met", 1)


async def approve(_call, _reason):
    return True


@pytest.mark.parametrize(
    ("options", "is_told"),
    [
        ({"permission_mode": "default"}, True),
        ({"permission_mode": "default", "allowed_tools": ["Edit(src/**)"]}, False),
        ({"permission_mode": "default", "allowed_tools": ["Bash"]}, False),
        ({"permission_mode": "default", "allowed_tools": ["Bash(pytest *)", "Read"]}, True),
        ({"permission_mode": "default", "allowed_tools": ["mcp__files"]}, False),
        ({"permission_mode": "default", "approver": approve}, False),
        ({"permission_mode": "acceptEdits"}, False),
    ],
)
async def test_a_goal_for_which_no_file_may_be_changed_is_told_at_the_start(bench, options, is_told):
    engine = goal(bench, **options)
    (bench.folder / "left").write_text("0")
    bench.model(text("Done."))

    run = await bench.go_on(engine)

    assert any("may not change files" in notice.text for notice in run.of("notice")) is is_told


async def test_a_goal_of_the_options_is_neither_replaced_nor_removed_in_the_session(bench):
    engine = goal(bench)
    bench.model(text("I stop."))
    await bench.go_on(engine)

    with pytest.raises(OptionError, match=r"goal: the one that Everturn was started with stays: All tests pass\."):
        await engine.set_goal("It works.", "true")
    with pytest.raises(OptionError, match="stays"):
        engine.clear_goal()

    assert engine.goal is not None
    assert engine.goal.command == "python3 check.py"


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"goal": "It works."}, "goal: needs verify"),
        ({"goal": "", "verify": "true"}, "goal: "),
        ({"goal": "It works.", "verify": " "}, "verify: "),
        ({"verify": "true", "limits": {"goal_attempts": 0}}, "goal_attempts"),
    ],
)
def test_a_goal_that_nobody_can_verify_is_refused(bench, given, told):
    with pytest.raises(OptionError, match=told):
        bench.engine(**given)
