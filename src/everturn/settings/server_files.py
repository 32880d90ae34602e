"""Files that define MCP servers: what `--mcp-config` names, and how `.mcp.json` is written."""

from collections.abc import Iterable
from pathlib import Path

from everturn.core.errors import OptionError
from everturn.ports.trust import Definition
from everturn.settings.files import SettingsText, is_inline, load_settings, parse_settings
from everturn.settings.places import COMMAND_LINE, MANAGED, SettingsPlace
from everturn.settings.trust import SERVERS, define

FLAG = "--mcp-config"


def join_given_servers(
    servers: Iterable[Definition], given: Iterable[str], *, only_these: bool
) -> tuple[Definition, ...]:
    """What the command line names counts before the settings; an administrator counts before both. Raises `OptionError`."""
    found = tuple(servers)
    managed = tuple(one for one in found if one.source == MANAGED)
    below = () if only_these else tuple(one for one in found if one.source != MANAGED)
    return (*below, *(one for text in given for one in load_given_servers(text)), *managed)


def load_given_servers(given: str) -> tuple[Definition, ...]:
    """The servers of a file or of JSON on the command line. Raises `OptionError`."""
    text = _load(given)
    servers = text.values.get(SERVERS)
    if not isinstance(servers, dict):
        raise text.problem((SERVERS,), 'must be an object, such as {"mcpServers": {"name": {"command": "…"}}}')
    place = SettingsPlace(source=COMMAND_LINE, path=text.where, folder="/")
    return tuple(define(place, text, (SERVERS, name), value) for name, value in servers.items())


def _load(given: str) -> SettingsText:
    if is_inline(given):
        return parse_settings(given, FLAG)
    if "\0" in given or not given.strip():
        raise OptionError(FLAG, "must be a file or a JSON object")
    if (found := load_settings(Path(given).expanduser())) is None:
        raise OptionError(FLAG, f"there is no file {given}")
    return found
