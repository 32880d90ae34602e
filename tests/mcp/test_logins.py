"""Logins of HTTP servers: asked for once, kept for their owner alone, renewed in mid-call."""

import asyncio
import os
import stat
import subprocess
import sys
from pathlib import Path

import httpx2
import pytest
from tests.mcp.authorisation import Guarded
from tests.mcp.conftest import PATIENCE_S, text_of

from everturn.compose.system import SystemClock
from everturn.mcp.client import McpClient
from everturn.mcp.faults import NeedsAuthorisation
from everturn.mcp.host import Host
from everturn.mcp.oauth import log_in
from everturn.mcp.servers import HttpServer
from everturn.mcp.tokens import Login, LoginFile
from everturn.models.transport.choose import choose_transport


@pytest.fixture
async def host(tmp_path):
    host = Host(
        clock=SystemClock(),
        environment=os.environ,
        client_version="1.2.3",
        open_transport=lambda url: choose_transport({}, url, stall_s=100_000.0, body_cap=1 << 60),
        login_folder=str(tmp_path / "logins"),
    )
    yield host
    await host.aclose()


def list_modes(folder):
    """Of a folder, and of what is in it."""
    return stat.S_IMODE(Path(folder).stat().st_mode), [
        stat.S_IMODE(file.stat().st_mode) for file in Path(folder).iterdir()
    ]


@pytest.fixture
async def browser():
    """Opens what it is shown, and follows where that leads."""
    opened = []

    def show(url):
        opened.append(asyncio.get_running_loop().create_task(asyncio.to_thread(httpx2.get, url, follow_redirects=True)))

    yield show
    await asyncio.gather(*opened)


@pytest.fixture
async def guard(stage):
    guard = Guarded()
    guard.server = await stage.serve(guard)
    return guard


@pytest.fixture
async def client(guard, host):
    server = HttpServer(name="web", url=f"{guard.server.url}/mcp", call_timeout_s=PATIENCE_S)
    client = McpClient(server, host)
    yield client
    await client.aclose()


async def test_a_login_is_asked_for_once_and_used_from_then_on(guard, client, host, browser):
    with pytest.raises(NeedsAuthorisation) as refused:
        await client.connect()
    await log_in(client.server, host, browser, refused=refused.value)

    assert text_of(await client.call_tool("a")) == "a"
    assert guard.grants == ["authorization_code"]
    assert guard.registered[0]["client_name"] == "Everturn"
    called = [seen for seen in guard.server.requests if seen.path == "/mcp" and b"tools/call" in seen.body]
    assert [seen.headers["authorization"] for seen in called] == ["Bearer a1"]


async def test_a_login_needs_no_refusal_to_begin_with(client, host, browser):
    await log_in(client.server, host, browser)

    assert text_of(await client.call_tool("a")) == "a"


async def test_a_login_is_kept_for_its_owner_alone(client, host, browser):
    await log_in(client.server, host, browser)

    folder, (file,) = list_modes(host.login_folder)
    assert (folder, file) == (0o700, 0o600)
    assert LoginFile(host.login_folder, client.server.url).load().access_token == "a1"


async def test_a_token_that_expires_between_two_calls_is_renewed_without_a_question(guard, client, host, browser):
    await log_in(client.server, host, browser)
    await client.call_tool("a")
    guard.good = "a token that the server has made up meanwhile"

    assert text_of(await client.call_tool("b")) == "b"
    assert guard.grants == ["authorization_code", "refresh_token"]
    assert LoginFile(host.login_folder, client.server.url).load().access_token == "a2"


async def test_calls_that_find_the_token_expired_at_the_same_time_renew_it_once(guard, client, host, browser):
    await log_in(client.server, host, browser)
    await client.call_tool("a")
    guard.good = "another"

    outcomes = await asyncio.gather(*(client.call_tool(f"n{number}") for number in range(5)))

    assert [text_of(outcome) for outcome in outcomes] == [f"n{number}" for number in range(5)]
    assert guard.grants.count("refresh_token") == 1


async def test_a_token_that_another_session_has_renewed_is_taken_from_the_file(guard, client, host, browser):
    await log_in(client.server, host, browser)
    await client.call_tool("a")
    file = LoginFile(host.login_folder, client.server.url)
    guard.good = "from elsewhere"
    file.save(Login(tokens={"access_token": "from elsewhere"}))

    assert text_of(await client.call_tool("b")) == "b"
    assert guard.grants == ["authorization_code"]


async def test_a_token_that_cannot_be_renewed_asks_for_a_login(guard, client, host, browser):
    await log_in(client.server, host, browser)
    await client.call_tool("a")
    guard.good, guard.renews = "another", False

    with pytest.raises(NeedsAuthorisation) as caught:
        await client.call_tool("b")

    assert caught.value.text == 'The MCP server "web" wants a login. `everturn mcp login web` does it.'
    assert "a1" not in caught.value.text


async def test_a_login_that_nobody_finishes_ends(client, host):
    with pytest.raises(NeedsAuthorisation) as caught:
        await log_in(client.server, host, lambda _: None, patience_s=0.5)

    assert caught.value.text == 'Nobody came back from the login of the MCP server "web" within 0.5 s.'


async def test_a_login_that_the_person_declines_says_so(guard, client, host, browser):
    async def decline(exchange):
        back = dict(pair.split("=", 1) for pair in exchange.path.partition("?")[2].split("&"))
        address = httpx2.URL(f"http://x/?{exchange.path.partition('?')[2]}").params["redirect_uri"]
        await exchange.reply(302, location=f"{address}?error=access_denied&state={back['state']}")

    guard.authorise = decline
    with pytest.raises(NeedsAuthorisation) as caught:
        await log_in(client.server, host, browser)

    assert caught.value.text == (
        'The login of the MCP server "web" failed: the authorisation server said: access_denied.'
    )


async def test_a_login_at_an_address_that_is_not_encrypted_is_refused(guard, client, host):
    async def lead_away(exchange):
        await guard.tell(exchange, {"resource": f"{guard.url}/mcp", "authorization_servers": ["http://10.0.0.1"]})

    guard.describe_resource = lead_away
    with pytest.raises(NeedsAuthorisation) as caught:
        await log_in(client.server, host, lambda _: None)

    assert caught.value.text == ('The login of the MCP server "web" leads to http://10.0.0.1, which is not encrypted.')


async def test_a_login_that_cannot_be_kept_is_told(client, host, browser):
    host.login_folder = __file__

    with pytest.raises(NeedsAuthorisation) as caught:
        await log_in(client.server, host, browser)

    assert "cannot be kept" in caught.value.text


async def test_a_server_without_a_login_says_so(stage, host, browser):
    async def answer(exchange):
        await exchange.reply(200, b"{}", content_type="application/json")

    server = await stage.serve(answer)
    with pytest.raises(NeedsAuthorisation) as caught:
        await log_in(HttpServer(name="web", url=f"{server.url}/mcp"), host, browser)

    assert caught.value.text == 'The MCP server "web" wants no login: it answers without one.'


@pytest.mark.parametrize("content", ["", "{", "[]", '{"tokens": 7}', '{"tokens": {"access_token": 5}}'])
def test_a_login_file_that_cannot_be_read_is_none(tmp_path, content):
    file = LoginFile(str(tmp_path), "https://example.com")
    file.save(Login())
    (path,) = tmp_path.iterdir()
    path.write_text(content)

    assert file.load().access_token == ""


def test_a_login_is_forgotten(tmp_path):
    file = LoginFile(str(tmp_path), "https://example.com")
    file.save(Login(tokens={"access_token": "a"}))

    assert (file.remove(), file.remove(), file.load().access_token) == (True, False, "")


def test_neither_the_client_nor_a_login_file_imports_the_package():
    program = (
        "import sys, everturn.mcp.client, everturn.mcp.http_link, everturn.mcp.stdio_link, everturn.mcp.tokens;"
        "print([name for name in sys.modules if name.split('.')[0] in {'mcp', 'httpx2', 'pydantic', 'anyio'}])"
    )

    assert subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout == "[]\n"
