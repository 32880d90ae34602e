"""Little servers on loopback that the tests of this room talk to, and values that many of them need."""

import socket
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest
from tests.loopback import CERTIFICATES, Stage

from everturn.core.messages import text_block
from everturn.core.transcript import Wire
from everturn.models.catalog import JsonCatalog
from everturn.ports.model import Request


@pytest.fixture
async def stage() -> AsyncIterator[Stage]:
    stage = Stage()
    yield stage
    await stage.close()


@pytest.fixture(scope="session")
def certificates() -> Path:
    return CERTIFICATES


@pytest.fixture(scope="session")
def catalog() -> JsonCatalog:
    return JsonCatalog()


@pytest.fixture
def closed_port() -> int:
    """Nobody listens here."""
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        return sock.getsockname()[1]


@pytest.fixture
def ask() -> Callable[..., Request]:
    """A small request; any field can be given."""

    def build(**fields) -> Request:
        usual = {"model": "claude-opus-5", "messages": (Wire("user", (text_block("hello"),)),), "max_tokens": 1_000}
        return Request(**{**usual, **fields})

    return build
