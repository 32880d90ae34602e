"""`everturn doctor`: each thing that can be wrong is found, and said with how to mend it."""

import asyncio
import socket
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import msgspec
import pytest

PAGE = b"<html><title>Log in</title></html>"


@asynccontextmanager
async def page_server() -> AsyncGenerator[str]:
    """A server that is no API: whatever is asked, it shows a page."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        head = f"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: {len(PAGE)}\r\nConnection: close\r\n\r\n"
        writer.write(head.encode() + PAGE)
        await writer.drain()
        writer.close()

    async with await asyncio.start_server(answer, "127.0.0.1", 0) as server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"


async def examine(program, **env: str | None) -> tuple[int, dict[str, dict[str, Any]]]:
    done = await program.run("doctor", "--json", env=env)
    report = msgspec.json.decode(done.out)
    assert report["ok"] == (done.code == 0)
    return done.code, {check["name"]: check for check in report["checks"]}


async def test_all_is_well_where_everything_is_there(program):
    code, checks = await examine(program)
    assert code == 0
    assert list(checks) == [
        *("versions", "settings", "home", "key", "model", "git", "ripgrep", "shell", "unasked", "sandbox", "terminal"),
    ]
    assert [name for name, check in checks.items() if check["state"] == "fail"] == []
    assert checks["model"]["detail"] == f"claude-sonnet-5 answers at {program.server.url}"
    assert checks["key"]["detail"] == "ANTHROPIC_API_KEY is set"


async def test_for_people_each_check_is_a_line(program):
    done = await program.run("doctor")
    assert done.code == 0
    assert f"ok    model     claude-sonnet-5 answers at {program.server.url}\n" in done.out


async def test_nothing_is_written_by_looking(program):
    await examine(program)
    assert not program.home.exists()


async def test_a_missing_key_fails_and_the_model_is_not_asked(program):
    code, checks = await examine(program, ANTHROPIC_API_KEY=None)
    assert (code, checks["key"]["state"], checks["model"]["state"]) == (1, "fail", "warn")
    assert "ANTHROPIC_API_KEY" in checks["key"]["mend"]


async def test_a_network_without_the_api_fails(program):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        code, checks = await examine(program, ANTHROPIC_BASE_URL=f"http://127.0.0.1:{taken.getsockname()[1]}")
    assert (code, checks["model"]["state"]) == (1, "fail")
    assert "network" in checks["model"]["mend"]


@pytest.mark.parametrize(
    ("env", "said"),
    [
        ({"ANTHROPIC_API_KEY": "sk-ant-another-made-up-key"}, "key"),
        ({"ANTHROPIC_MODEL": "claude-nobody-9"}, "claude-nobody-9"),
    ],
)
async def test_a_refused_key_and_an_unknown_model_fail(program, env, said):
    program.model("Hello.", key=program.key)
    code, checks = await examine(program, **env)
    assert (code, checks["model"]["state"]) == (1, "fail")
    assert said in checks["model"]["detail"] + checks["model"]["mend"]
    assert "another-made-up" not in str(checks)


async def test_an_address_that_goes_too_far_is_told(program):
    code, checks = await examine(program, ANTHROPIC_BASE_URL=f"{program.server.url}/v1")
    assert (code, checks["model"]["detail"]) == (
        1,
        "The API refused the request (HTTP 404): Not Found. Check ANTHROPIC_BASE_URL: it ends where /v1 begins.",
    )
    assert checks["model"]["mend"] == (
        "Check ANTHROPIC_BASE_URL: https://api.anthropic.com, say, without /v1 at its end."
    )


async def test_a_home_that_cannot_be_made_is_found_by_trying(program):
    """Where the rights of the folder above promise more than it keeps."""
    _, checks = await examine(program, EVERTURN_HOME="/proc/nowhere")
    assert (checks["home"]["state"], checks["home"]["detail"]) == (
        "warn",
        "/proc/nowhere cannot be written; sessions are kept in memory only",
    )


async def test_broken_settings_fail_with_file_and_line(program):
    program.home.mkdir(parents=True)
    (program.home / "settings.json").write_text('{\n"effortLevel": 5}', "utf-8")
    code, checks = await examine(program)
    assert (code, checks["settings"]["state"]) == (1, "fail")
    assert f"{program.home / 'settings.json'}:2: effortLevel" in checks["settings"]["detail"]


async def test_missing_programs_and_a_closed_home_are_warnings(program, tmp_path):
    program.home.parent.mkdir()
    program.home.write_text("in the way", "utf-8")
    code, checks = await examine(program, PATH=str(tmp_path))
    assert code == 0
    # ripgrep is installed with us, whatever the PATH.
    assert [name for name, check in checks.items() if check["state"] == "warn"] == ["home", "git", "shell"]
    assert all(check["mend"] for check in checks.values() if check["state"] != "ok")


async def test_the_home_is_the_one_that_a_run_would_use(program, tmp_path):
    shared = tmp_path / "shared"
    _, checks = await examine(program, EVERTURN_HOME=None, CLAUDE_CONFIG_DIR=str(shared))
    assert checks["home"]["detail"] == f"{shared} is made when it is needed"
    assert checks["settings"]["detail"].startswith(str(shared / "settings.json"))


async def test_a_sandbox_that_is_off_is_no_reason_to_worry(program, tmp_path):
    for path in (program.env["PATH"], str(tmp_path)):
        _, checks = await examine(program, PATH=path)
        assert (checks["sandbox"]["state"], checks["sandbox"]["detail"].startswith("off")) == ("ok", True)


async def test_an_unknown_word_is_refused(program):
    done = await program.run("doctor", "--jsn")
    assert (done.code, done.out) == (2, "")
    assert "did you mean '--json'?" in done.err


async def test_a_page_in_place_of_the_api_fails(program):
    async with page_server() as url:
        code, checks = await examine(program, ANTHROPIC_BASE_URL=url)
    assert (code, checks["model"]["state"]) == (1, "fail")
    assert "ANTHROPIC_BASE_URL" in checks["model"]["detail"] + checks["model"]["mend"]


@pytest.mark.needs("Landlock")
@pytest.mark.parametrize(
    ("without", "state", "detail"),
    [
        ("", "ok", "commands that only read are confined by Landlock"),
        ("bubblewrap", "ok", "without bubblewrap acceptEdits asks about commands"),
        ("off", "warn", "commands that only read cannot be confined"),
    ],
)
async def test_what_holds_commands_that_nobody_approved_is_told(program, without, state, detail):
    _, checks = await examine(program, EVERTURN_HOLD_WITHOUT=without)

    assert checks["unasked"]["state"] == state
    assert detail in checks["unasked"]["detail"]
