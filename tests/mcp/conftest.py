"""Clients of real and of hostile servers, closed at the end of each test with all that they started."""

import os
import sys
from pathlib import Path

import pytest
from tests.loopback import Stage

from everturn.compose.system import SystemClock
from everturn.mcp.client import McpClient
from everturn.mcp.host import Host
from everturn.mcp.servers import StdioServer
from everturn.models.transport.choose import choose_transport

SERVERS = Path(__file__).with_name("servers")
PATIENCE_S = 120.0
"""For what only ends a hanging test."""


@pytest.fixture
def home(tmp_path):
    return tmp_path / "tokens"


@pytest.fixture
async def host(tmp_path):
    host = Host(
        clock=SystemClock(),
        environment=os.environ,
        client_version="1.2.3",
        open_transport=lambda url: choose_transport({}, url, stall_s=100_000.0, body_cap=1 << 60),
        roots=lambda: (str(tmp_path),),
    )
    yield host
    await host.aclose()


@pytest.fixture
async def connect_to(host):
    """Makes clients; closes them."""
    made = []

    def make(server, **wishes):
        made.append(McpClient(server, host, **wishes))
        return made[-1]

    yield make
    for client in made:
        await client.aclose()


@pytest.fixture
def plain(connect_to):
    """A client of `servers/plain.py`, with one of its faults."""

    def make(fault="", *, wishes=None, **fields):
        given = {"start_timeout_s": PATIENCE_S, "call_timeout_s": PATIENCE_S, **fields}
        command = (str(SERVERS / "plain.py"), *([fault] if fault else []))
        return connect_to(StdioServer(name="plain", command=sys.executable, args=command, **given), **(wishes or {}))

    return make


@pytest.fixture
async def stage():
    stage = Stage()
    yield stage
    await stage.close()


def text_of(outcome):
    return "".join(block.text for block in outcome.content)
