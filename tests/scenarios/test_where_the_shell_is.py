"""A command that moves the shell says so, however it ended and whatever held it; one that does not says nothing."""

import pytest

from everturn.modelserver import call, text

NOW = "The shell is now in tests/"


@pytest.fixture
def project(bench):
    (bench.folder / "tests" / "deep").mkdir(parents=True)
    return bench


def bash(command, **fields):
    return call("Bash", {"command": command, **fields})


def said(bench):
    """The results of all calls, in order."""
    blocks = [block for message in bench.sent[-1] for block in message["content"] if block["type"] == "tool_result"]
    return [block["content"] for block in blocks]


@pytest.mark.parametrize(
    ("command", "told"),
    [
        ("cd tests", NOW),
        ("cd tests && echo ok", f"ok\n{NOW}"),
        ("cd tests/deep && ls && cd ..", NOW),
        ("cd tests && false", f"Exit code 1\n{NOW}"),
        ("cd tests; exit 3", f"Exit code 3\n{NOW}"),
        ("pushd tests > /dev/null", NOW),
        ("(cd tests && echo ok)", "ok"),
        ("cd tests && cd ..", "(no output)"),
    ],
)
async def test_it_is_told_where_the_shell_is(project, command, told):
    project.model(bash(command), bash("cd ../tests || cd tests"), text("Done."))

    await project.run(permission_mode="bypassPermissions")

    assert said(project)[0] == told


async def test_one_that_leaves_the_folder_from_elsewhere_and_fails_is_told_in_one_sentence(project):
    project.model(bash("cd tests"), bash("cd /usr && ls nothing 2>/dev/null"), text("Done."))

    await project.run(permission_mode="bypassPermissions")

    assert said(project)[1] == (
        "Exit code 2\nThe command ended in /usr, outside the working folder; the next one starts in the working folder"
    )


@pytest.mark.parametrize(
    ("command", "told"),
    [
        ("cat a.txt | head -1", True),
        ("cat a.txt; echo ok", True),
        ("grep x a.txt 2>&1 | tail -1", True),
        ("cat a.txt 2>/dev/null | head -1", False),
        ("cat b.txt | head -1", False),
        ("grep nothing b.txt", False),
        ("cat ../a.txt; cd ..; cat b.txt", False),
    ],
)
async def test_one_that_misses_a_file_where_the_shell_was_moved_to_is_told_so(project, command, told):
    (project.folder / "a.txt").write_text("x\n")
    (project.folder / "tests" / "b.txt").write_text("y\n")
    project.model(bash("cd tests"), bash(command), text("Done."))

    await project.run(permission_mode="bypassPermissions")

    assert ("The command ran in tests/, where an earlier one has moved the shell" in said(project)[1]) is told


@pytest.mark.needs("Landlock")
async def test_a_held_command_tells_it_too(project):
    project.model(bash("cd tests && ls"), bash("ls"), bash("cd .. && ls"), text("Done."))

    run = await project.run()

    assert run.result.denials == ()
    assert said(project) == [f"deep\n{NOW}", "deep", "tests\nThe shell is back in the working folder"]


async def test_one_in_a_sandbox_tells_it_too(project, sandbox):
    project.model(bash("cd tests && ls"), text("Done."))

    await project.run(permission_mode="bypassPermissions", sandbox=sandbox)

    assert said(project)[0].endswith(NOW)


async def test_one_in_the_background_does_not_move_it_and_says_so(project):
    project.model(bash("cd tests && sleep 0", run_in_background=True), bash("pwd"), text("Done."))

    await project.run(permission_mode="bypassPermissions")

    first, second = said(project)
    assert first.endswith(
        "\nThe next command starts in the working folder: a `cd` in the background does not move the shell"
    )
    assert second == str(project.folder.resolve())
