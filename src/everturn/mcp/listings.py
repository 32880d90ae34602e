"""Reads a list of a server to its last page; an entry that cannot be read costs nobody the others."""

from typing import Any, TypeVar

import msgspec

from everturn.mcp.connection import ServerConnection
from everturn.mcp.definitions import Listing
from everturn.mcp.faults import ProtocolFault
from everturn.mcp.servers import Server

T = TypeVar("T")
MAX_PAGES = 200
MAX_ITEMS = 10_000
_SHOWN = 200


class _Page(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    next_cursor: str | None = None
    ttl_ms: float | None = None


_PAGE = msgspec.json.Decoder(_Page)
_FIELDS = msgspec.json.Decoder(dict[str, msgspec.Raw])
_ENTRIES = msgspec.json.Decoder(list[msgspec.Raw])


async def load_listing(
    connection: ServerConnection, server: Server, method: str, key: str, item: type[T]
) -> Listing[T]:
    """`key` names the list in the answer. Raises `McpFault`."""
    items: list[T] = []
    problems: list[str] = []
    fresh: list[float] = []
    cursors: set[str] = set()
    params: dict[str, Any] | None = None
    for _ in range(MAX_PAGES):
        raw = await connection.request(method, params, timeout_s=server.start_timeout_s)
        try:
            page, entries = _PAGE.decode(raw), _ENTRIES.decode(_FIELDS.decode(raw)[key])
        except (msgspec.DecodeError, KeyError, RecursionError):
            text = f'The MCP server "{server.name}" answered {method} with something that is no list.'
            raise ProtocolFault(server.name, text) from None
        for entry in entries:
            _take(bytes(entry), item, items, problems)
        if page.ttl_ms is not None:
            fresh.append(page.ttl_ms / 1_000)
        cursor = page.next_cursor
        if cursor is None:
            break
        if cursor in cursors or len(items) >= MAX_ITEMS:
            problems.append(f"The list has no end; the first {len(items):,} entries were taken.")
            break
        cursors.add(cursor)
        params = {"cursor": cursor}
    return Listing(items=tuple(items), fresh_s=min(fresh, default=None), problems=tuple(problems))


def _take(raw: bytes, item: type[T], items: list[T], problems: list[str]) -> None:
    try:
        items.append(msgspec.json.decode(raw, type=item))
    except (msgspec.DecodeError, RecursionError) as error:
        shown = raw[:_SHOWN].decode("utf-8", "replace")
        problems.append(f"An entry was left out, because it cannot be read ({error}): {shown}")
