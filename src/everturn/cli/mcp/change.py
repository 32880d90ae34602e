"""`everturn mcp add`, `add-json` and `remove`: definitions in files of the user and of the project."""

import copy
import os
from pathlib import Path
from typing import Any

import msgspec

from everturn.cli.config.change import make_home
from everturn.cli.console import write
from everturn.cli.errors import UsageError
from everturn.cli.syntax import Arguments
from everturn.core.errors import OptionError
from everturn.core.state import Exit
from everturn.frontends.harmless import make_line
from everturn.mcp.configuration import read_servers
from everturn.ports.trust import Definition
from everturn.settings.files import load_settings, replace_settings
from everturn.settings.places import LOCAL, LOCAL_NAME, OURS, PROJECT, USER, SettingsPlace, SettingsRoots
from everturn.settings.program_files import find_roots, load_program_settings, settings_path
from everturn.settings.trust import MCP_FILE, SERVERS, define, digest_of, label_of
from everturn.settings.trust_book import append_trust, load_book

SEE = "everturn mcp add --help"


def run_add(asked: Arguments) -> int:
    """Raises `UsageError`, `OptionError`."""
    name, *words = asked.words
    transport = asked.text("--transport") or "stdio"
    value: dict[str, Any]
    if transport == "stdio":
        if "--header" in asked:
            raise UsageError("--header is for --transport http or sse", see=SEE)
        if len(words) == 1 and words[0].startswith(("http://", "https://")):
            raise UsageError(f"an address needs its transport: everturn mcp add {name} {words[0]} --transport http")
        value = {"command": words[0], "args": words[1:]}
        if "--env" in asked:
            value["env"] = dict(split_pair(each, "=", "--env NAME=VALUE") for each in asked.all("--env"))
    else:
        if "--env" in asked:
            raise UsageError("--env is for commands; an address gets --header", see=SEE)
        if len(words) != 1:
            raise UsageError("one address at a time", see=SEE)
        value = {"type": transport, "url": words[0]}
        if "--header" in asked:
            value["headers"] = dict(split_pair(each, ":", '--header "NAME: VALUE"') for each in asked.all("--header"))
    return add(name, value, asked.text("--scope") or USER)


def run_add_json(asked: Arguments) -> int:
    """Raises `UsageError`, `OptionError`."""
    name, text = asked.words
    try:
        value = msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeEncodeError) as error:
        raise UsageError(f"this is no JSON: {error}", see="everturn mcp add-json --help") from None
    return add(name, value, asked.text("--scope") or USER)


def split_pair(text: str, mark: str, form: str) -> tuple[str, str]:
    name, found, value = text.partition(mark)
    if not found or not name.strip():
        raise UsageError(f"it is written {form}", see=SEE)
    return name.strip(), value.strip() if mark == ":" else value


def add(name: str, value: Any, scope: str) -> int:
    """Judged as it would be at the start, so that nothing is written that would be left out there."""
    roots = find_roots(os.environ)
    path = find_file(scope, roots)
    judged = Definition(kind=SERVERS, name=name, value=value, source="command line", path=str(path), origin=str(path))
    read_servers((judged,), {}, os.environ, roots.folder)
    values = load_values(path)
    servers = values.setdefault(SERVERS, {})
    if not isinstance(servers, dict):
        raise OptionError(str(path), f"{SERVERS} must be an object")
    replaced = "replaced" if name in servers else "added"
    servers[name] = value
    make_home(path.parent)
    replace_settings(path, values)
    write(f"{make_line(name)} was {replaced} in {make_line(str(path))}\n")
    if scope != USER:
        write(agree_to_own(path, scope, name, roots))
    return Exit.OK


def agree_to_own(path: Path, scope: str, name: str, roots: SettingsRoots) -> str:
    """Who defines a server in a folder that they trust agrees to it. Says what is missing where they do not trust it."""
    text = load_settings(path)
    _, trust = load_program_settings(roots, os.environ)
    book = load_book(roots.home)
    root = os.path.realpath(roots.root)
    before = book.get(root)
    if text is None or before is None or before.declined or not trust.trusted:
        return "It starts when you trust this folder: everturn trust\n"
    place = SettingsPlace(source=PROJECT if scope == PROJECT else LOCAL, path=str(path), folder=roots.folder)
    definition = define(place, text, (SERVERS, name), text.values[SERVERS][name])
    pins = {**before.pins, label_of(definition, roots.root): digest_of(definition)}
    append_trust(roots.home, {**book, root: msgspec.structs.replace(before, pins=pins)})
    return ""


def run_remove(asked: Arguments) -> int:
    """Raises `UsageError`, `OptionError`. Without a scope, it must be defined in one file only."""
    [name] = asked.words
    roots = find_roots(os.environ)
    scopes = (asked.text("--scope"),) if "--scope" in asked else (USER, PROJECT, LOCAL)
    files = {scope: find_file(scope, roots) for scope in scopes}
    holding = {scope: path for scope, path in files.items() if name in load_values(path).get(SERVERS, {})}
    if not holding:
        raise UsageError(f"no file of yours defines the MCP server {name!r:.80}", see="everturn mcp list")
    if len(holding) > 1:
        raise UsageError(f"{name} is defined in several places; name one: --scope {' or '.join(holding)}")
    [path] = holding.values()
    values = load_values(path)
    del values[SERVERS][name]
    replace_settings(path, values)
    write(f"{make_line(name)} was removed from {make_line(str(path))}\n")
    return Exit.OK


def find_file(scope: str, roots: SettingsRoots) -> Path:
    if scope == PROJECT:
        return Path(roots.folder, MCP_FILE)
    return Path(roots.root, OURS, LOCAL_NAME) if scope == LOCAL else settings_path(os.environ)


def load_values(path: Path) -> dict[str, Any]:
    """Raises `OptionError` for a file that cannot be understood: it is never overwritten."""
    text = load_settings(path)
    return copy.deepcopy(text.values) if text else {}
