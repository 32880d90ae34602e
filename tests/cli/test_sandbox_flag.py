"""The sandbox from the command line and from settings files."""

import json

from tests.sandbox.kinds import LANDLOCK

from everturn.modelserver import call, text


def bash(command):
    return call("Bash", {"command": command})


def result(program):
    [block] = [block for block in program.requests[1].body["messages"][-1]["content"] if block["type"] == "tool_result"]
    return block["content"]


def chosen(sandbox):
    """The kind of sandbox; the flag or a file switches it on."""
    kind = {name: value for name, value in sandbox.items() if name != "enabled"}
    return ("--settings", json.dumps({"sandbox": kind}))


async def test_the_flag_holds_commands_in_the_folder(program, sandbox):
    outside = program.folder.parent / "outside"
    program.model(
        bash(f"echo a > a; mkdir -p .claude; echo x > .claude/settings.json; echo b > {outside}"), text("Done.")
    )

    done = await program.run("-p", "Go", "--sandbox", *chosen(sandbox))

    assert (done.code, done.out) == (0, "Done.\n")
    assert [path.name for path in program.folder.iterdir()] == ["a"]
    assert not outside.exists()
    held = (
        "/settings.json may not be changed from inside"
        if sandbox is not LANDLOCK
        else " was changed, and has been put back"
    )
    assert f"{program.folder}/.claude{held}" in result(program)


async def test_the_flag_switches_on_what_the_settings_describe(program, sandbox):
    more = program.folder.parent / "more"
    more.mkdir()
    program.home.mkdir(parents=True)
    (program.home / "settings.json").write_text(json.dumps({"sandbox": {"filesystem": {"allowWrite": [str(more)]}}}))
    program.model(bash(f"echo a > {more}/a && cat {more}/a"), text("Done."))

    await program.run("-p", "Go", "--sandbox", *chosen(sandbox))

    assert result(program) == "a"


async def test_a_relative_path_in_the_users_file_starts_from_that_file(program, sandbox):
    program.home.mkdir(parents=True)
    (program.home / "cache").mkdir()
    settings = {"sandbox": {"enabled": True, "filesystem": {"allowWrite": ["./cache"]}}}
    (program.home / "settings.json").write_text(json.dumps(settings))
    program.model(bash(f"echo a > {program.home}/cache/a && cat {program.home}/cache/a"), text("Done."))

    await program.run("-p", "Go", *chosen(sandbox))

    assert result(program) == "a"


async def test_a_setting_that_is_not_supported_is_refused_with_its_place(program):
    given = json.dumps({"sandbox": {"enabled": True, "network": {"socksProxyPort": 1080}}})

    done = await program.run("-p", "Go", "--settings", given)

    assert done.code != 0
    assert "sandbox.network.socksProxyPort" in done.err
    assert "is not supported: commands are given an HTTP proxy only" in done.err
    assert program.requests == []


async def test_a_repository_that_nobody_trusts_cannot_open_the_sandbox(program, sandbox):
    outside = program.folder.parent / "outside"
    (program.folder / ".claude").mkdir()
    settings = {"sandbox": {"enabled": False, "filesystem": {"allowWrite": ["/"]}, "excludedCommands": ["touch *"]}}
    (program.folder / ".claude" / "settings.json").write_text(json.dumps(settings))
    program.model(bash(f"touch {outside}"), text("Done."))

    await program.run("-p", "Go", "--sandbox", *chosen(sandbox))

    assert not outside.exists()
