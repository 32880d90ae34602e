"""The program: its one line, its errors, its end."""

import asyncio
import json
import signal
import sys
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

CERTIFICATES = Path(__file__).parent / "certificates"


@asynccontextmanager
async def program(*arguments: str):
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "everturn.modelserver",
        *arguments,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        yield process
    finally:
        if process.returncode is None:
            process.kill()
        await process.communicate()


@pytest.fixture
def hello(tmp_path) -> Path:
    path = tmp_path / "hello.json"
    path.write_text('["Hello"]', "utf-8")
    return path


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
async def test_it_prints_its_address_serves_logs_and_ends_cleanly(number, hello, client, ask, tmp_path):
    log = tmp_path / "log.jsonl"
    async with program("--script", str(hello), "--log", str(log)) as process:
        url = (await process.stdout.readline()).decode().strip()
        reply = await client.post(url, ask())
        process.send_signal(number)
        out, err = await process.communicate()
    assert reply.json["content"] == [{"type": "text", "text": "Hello"}]
    assert (process.returncode, out, err) == (0, b"", b"")
    assert [json.loads(line)["body"] for line in log.read_text("utf-8").splitlines()] == [ask()]


async def test_a_script_that_is_not_there_is_told_in_a_line(tmp_path):
    path = tmp_path / "nowhere.json"
    async with program("--script", str(path)) as process:
        out, err = await process.communicate()
    said = f"modelserver: the script {path} cannot be read: No such file or directory\n"
    assert (process.returncode, out, err.decode()) == (2, b"", said)


async def test_it_ends_at_once_while_a_client_waits(client, ask, tmp_path):
    path = tmp_path / "slow.json"
    path.write_text('[{"stall": true}]', "utf-8")
    async with program("--script", str(path)) as process:
        url = (await process.stdout.readline()).decode().strip()
        waiting = asyncio.create_task(client.post(url, ask(), size=0))
        assert (await waiting).ended == "silence"
        process.terminate()
        assert (await process.communicate(), process.returncode) == ((b"", b""), 0)


async def test_several_files_make_one_server_and_https_is_offered(hello, tmp_path):
    cases = tmp_path / "cases.jsonl"
    cases.write_text('{"id": "a", "answers": ["A"]}\n{"id": "b", "responses": [{"transport": "rst"}]}\n', "utf-8")
    tls = ("--tls-cert", str(CERTIFICATES / "localhost.pem"), "--tls-key", str(CERTIFICATES / "localhost.key"))
    async with program("--script", str(hello), "--script", str(cases), *tls) as process:
        assert (await process.stdout.readline()).startswith(b"https://127.0.0.1:")
        process.terminate()
        await process.wait()
    assert process.returncode == 0


async def test_help_shows_examples():
    async with program("--help") as process:
        out, _ = await process.communicate()
    assert process.returncode == 0
    assert b"examples:" in out
    assert b"python -m everturn.modelserver --script hello.json --port 8080" in out


async def test_the_rules_are_printed():
    async with program("--rules") as process:
        out, _ = await process.communicate()
    assert process.returncode == 0
    assert b"| `calls-answered` |" in out


async def complaint(*arguments: str) -> str:
    async with program(*arguments) as process:
        out, err = await process.communicate()
    assert (process.returncode, out) == (2, b"")
    return err.decode().splitlines()[-1]


async def test_bad_arguments_and_scripts_are_told_in_a_line(hello, tmp_path):
    bad = tmp_path / "bad.json"
    bad.write_text('[\n  {"text": 5}\n]', "utf-8")
    prefix = "python -m everturn.modelserver: error:"
    assert await complaint() == f"{prefix} --script FILE is needed"
    assert (
        await complaint("--script", str(hello), "--tls-cert", "x") == f"{prefix} --tls-cert and --tls-key go together"
    )
    assert await complaint("--script", str(bad)) == f"modelserver: {bad}:2: [0].text: Expected `str | null`, got `int`"
    assert (
        await complaint("--script", str(hello), "--script", str(hello))
        == f"modelserver: {hello}: there is another script without an id"
    )
    assert "No such file" in await complaint("--script", str(tmp_path / "none.json"))
    assert await complaint("--script", str(hello), "--port", "99999") == (
        "modelserver: cannot listen on 127.0.0.1:99999: bind(): port must be 0-65535."
    )
    assert await complaint("--script", str(hello), "--log", str(tmp_path / "none" / "log")) == (
        f"modelserver: the log {tmp_path / 'none' / 'log'} cannot be written: No such file or directory"
    )
    assert await complaint(str(hello)) == f"{prefix} a script is named like this: --script {hello}"
    assert await complaint("--scripts", str(hello)) == f"{prefix} there is no option --scripts"
    assert await complaint("--script", str(hello), "--time-scale", "-1") == f"{prefix} --time-scale is 0 or more"
    assert "tls" in (await complaint("--script", str(hello), "--tls-cert", str(hello), "--tls-key", str(hello))).lower()


async def test_a_port_in_use_is_told(hello):
    async with program("--script", str(hello)) as process:
        port = (await process.stdout.readline()).decode().strip().rpartition(":")[2]
        assert "in use" in await complaint("--script", str(hello), "--port", port)
        process.terminate()
        await process.wait()
