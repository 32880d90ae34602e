"""The servers that are defined for the present folder, those included that do not start here."""

import os

import msgspec

from everturn.cli.errors import UsageError
from everturn.compose.mcp import build_host
from everturn.compose.system import SystemClock
from everturn.mcp.configuration import ConfiguredServer, ServerList, read_servers
from everturn.mcp.host import Host
from everturn.mcp.pinned import PinBook
from everturn.ports.trust import Definition
from everturn.settings.checks import nearest
from everturn.settings.program_files import SettingsArguments, find_roots, load_program_settings, program_home
from everturn.settings.trust import SERVERS


class DefinedServer(msgspec.Struct, frozen=True, kw_only=True):
    definition: Definition
    why_not: str
    """What keeps it from starting; empty where nothing does."""


def load_defined() -> tuple[tuple[DefinedServer, ...], tuple[str, ...]]:
    """In the order of the configuration, and what is to be said of the files."""
    roots = find_roots(os.environ)
    merged, _ = load_program_settings(roots, os.environ)
    whole, _ = load_program_settings(roots, os.environ, SettingsArguments(trust=True))
    starting = {one.name: one for one in merged.servers}
    every = {one.name: one for one in (*whole.servers, *(one for one in whole.definitions if one.kind == SERVERS))}
    found: list[DefinedServer] = []
    for one in every.values():
        if one in starting.values():
            why = ""
        elif one in whole.servers:
            why = (
                "it is new or has changed since the folder was trusted"
                if merged.trusted
                else "the folder is not trusted"
            )
        elif one.name in starting:
            one, why = starting[one.name], ""  # noqa: PLW2901 (the definition that counts)
        else:
            why = "disabledMcpjsonServers names it"
        found.append(DefinedServer(definition=one, why_not=why))
    return tuple(found), tuple(str(problem) for problem in merged.problems)


def read_one(definition: Definition) -> ServerList:
    roots = find_roots(os.environ)
    merged, _ = load_program_settings(roots, os.environ)
    return read_servers((definition,), {}, merged.env, roots.folder)


def find_defined(name: str) -> DefinedServer:
    """Raises `UsageError`."""
    defined, _ = load_defined()
    for one in defined:
        if one.definition.name == name:
            return one
    names = [one.definition.name for one in defined]
    hint = nearest(name, names) or (f" (there are: {', '.join(names)})" if names else "")
    raise UsageError(f"there is no MCP server {name!r:.80}{hint}", see="everturn mcp list")


def find_readable(one: DefinedServer) -> ConfiguredServer:
    """Raises `UsageError` for a definition that is wrong."""
    read = read_one(one.definition)
    if not read.servers:
        raise UsageError("\n".join(read.remarks), see="everturn mcp --help")
    return read.servers[0]


def open_host() -> Host:
    roots = find_roots(os.environ)
    merged, _ = load_program_settings(roots, os.environ)
    return build_host(merged.env, SystemClock(), roots.folder, roots.home)


def open_book() -> PinBook:
    return PinBook(program_home(os.environ))
