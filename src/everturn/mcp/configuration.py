"""From the definitions of `.mcp.json`, settings and `--mcp-config` to checked servers; what is wrong is told by file and field."""

# As in `core.prefix`: without OpenSSL.
import re
from _blake2 import blake2b
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import msgspec

from everturn.core.errors import OptionError
from everturn.mcp.servers import CALL_S, START_S, HttpServer, InProcessServer, Server, StdioServer
from everturn.ports.trust import Definition

MAX_NAME = 64
MAX_PORT = 65_535
MAX_MS = 1e9
"""Of a time limit: eleven days."""
COMMAND_LINE = "command line"
"""Source of definitions that somebody asks for explicitly: a mistake in one of them ends the run."""
OF_THE_REPOSITORY = frozenset({"project", "local"})
OUR_KEYS = frozenset({"ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "BRAVE_API_KEY"})
"""Variables that a definition of a repository never gets the content of."""
PROJECT_VARIABLE = "CLAUDE_PROJECT_DIR"
HTTP_TYPES = {"http": "http", "streamable-http": "http", "sse": "sse"}
_NAME = re.compile(r"[A-Za-z0-9_-]+")
_VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}")
_COMMON = frozenset({"type", "timeout", "alwaysLoad"})
_FIELDS = {
    "stdio": _COMMON | {"command", "args", "env", "cwd"},
    "http": _COMMON | {"url", "headers", "oauth"},
    "sse": _COMMON | {"url", "headers", "oauth"},
}
_NOT_YET = {
    "headersHelper": "is not supported; write the header with a variable instead: ${TOKEN}",
}


class ConfiguredServer(msgspec.Struct, frozen=True, kw_only=True):
    """A server that may be started."""

    server: Server
    source: str
    """user, project, local, command line, managed or options."""
    origin: str
    """`file:line` of its definition."""
    always_load: bool = False
    """Its tools are listed from the start, however many there are."""
    key: str = ""
    """Digest of the definition as it is written; empty for a server in this process, of which nothing is kept."""

    @property
    def name(self) -> str:
        return self.server.name


class ServerList(msgspec.Struct, frozen=True, kw_only=True):
    """In the order in which they were defined."""

    servers: tuple[ConfiguredServer, ...] = ()
    remarks: tuple[str, ...] = ()
    """What was passed over, a sentence each."""


class EntryProblem(Exception):
    """What keeps a definition from being a server."""

    def __init__(self, field: str, reason: str) -> None:
        super().__init__(f"{field} {reason}".strip())
        self.field = field


def read_servers(
    definitions: Iterable[Definition], in_process: Mapping[str, Any], env: Mapping[str, str], folder: str
) -> ServerList:
    """`in_process`: what `Options.mcp_servers` names, definitions as maps or server objects; they count before all others.

    Of two definitions with the same name the last one counts, as a whole. Raises `OptionError` for a mistake on the command line
    or in the options; any other wrong definition is left out and told.
    """
    remarks: list[str] = []
    found: dict[str, ConfiguredServer] = {}
    for definition in definitions:
        try:
            found[definition.name] = _read(definition, env, folder, remarks.append)
        except EntryProblem as problem:
            told = f"mcpServers.{definition.name}{f'.{problem.field}' if problem.field else ''}"
            reason = str(problem).removeprefix(problem.field).strip()
            if definition.source == COMMAND_LINE:
                raise OptionError(definition.origin, f"{told} {reason}") from None
            found.pop(definition.name, None)
            remarks.append(f"{definition.origin}: {told} {reason}; the server is left out")
    for name, value in in_process.items():
        found[name] = _adopt(name, value, env, folder, remarks.append)
    return ServerList(servers=tuple(found.values()), remarks=tuple(remarks))


def _adopt(
    name: str, value: Any, env: Mapping[str, str], folder: str, remark: Callable[[str], None]
) -> ConfiguredServer:
    field = f"mcp_servers[{name!r}]"
    try:
        if isinstance(value, Mapping):
            definition = Definition(
                kind="mcpServers", name=name, value=dict(value), source="options", path="", origin="mcp_servers"
            )
            return _read(definition, env, folder, remark)
        check_name(name)
    except EntryProblem as problem:
        raise OptionError(field, str(problem)) from None
    return ConfiguredServer(server=InProcessServer(name=name, server=value), source="options", origin="mcp_servers")


def check_name(name: str) -> None:
    """A rule such as `mcp__github` must mean one server only. Raises `EntryProblem`."""
    if not _NAME.fullmatch(name) or len(name) > MAX_NAME:
        raise EntryProblem("", f"is no name for a server: 1 to {MAX_NAME} letters, digits, `_` or `-`")
    if "__" in name or name.startswith("_") or name.endswith("_"):
        raise EntryProblem("", "is no name for a server: `__` separates the server from the tool in names of tools")


def _read(
    definition: Definition, env: Mapping[str, str], folder: str, remark: Callable[[str], None]
) -> ConfiguredServer:
    name, value = definition.name, definition.value
    if not name or not isinstance(value, dict):
        raise EntryProblem("", 'must be an object, such as {"command": "npx", "args": ["-y", "package"]}')
    check_name(name)
    kind = _kind_of(value)
    for field in value:
        if field not in _FIELDS[kind]:
            reason = _NOT_YET.get(field, "is unknown and was passed over")
            remark(f"{definition.origin}: mcpServers.{name}.{field} {reason}")
    expand = _Expander(definition, env, remark)
    start_s, call_s = _limits(value, env)
    server: Server
    if kind == "stdio":
        server = StdioServer(
            name=name,
            command=expand.text("command", value.get("command")),
            args=tuple(expand.texts("args", value.get("args", []))),
            env={**expand.map("env", value.get("env", {})), PROJECT_VARIABLE: folder},
            folder=expand.text("cwd", value["cwd"]) if "cwd" in value else folder,
            start_timeout_s=start_s,
            call_timeout_s=call_s,
        )
    else:
        url = expand.text("url", value.get("url"))
        if not url.startswith(("http://", "https://")):
            raise EntryProblem("url", "must begin with http:// or https://")
        headers = expand.map("headers", value.get("headers", {}))
        if any("\n" in text or "\r" in text for pair in headers.items() for text in pair):
            raise EntryProblem("headers", "must not hold line breaks")
        server = HttpServer(
            name=name,
            url=url,
            headers=headers,
            kind="sse" if kind == "sse" else "http",
            **_read_login(value.get("oauth", {}), expand),
            start_timeout_s=start_s,
            call_timeout_s=call_s,
        )
    always = value.get("alwaysLoad", False)
    if not isinstance(always, bool):
        raise EntryProblem("alwaysLoad", "must be true or false")
    return ConfiguredServer(
        server=server,
        source=definition.source,
        origin=definition.origin,
        always_load=always,
        key=digest_entry(name, value),
    )


def _read_login(value: Any, expand: "_Expander") -> dict[str, Any]:
    """As which the person has registered Everturn with the authorisation server."""
    if not isinstance(value, dict):
        raise EntryProblem("oauth", "must be an object")
    port = value.get("callbackPort", 0)
    if isinstance(port, bool) or not isinstance(port, int) or not 0 <= port <= MAX_PORT:
        raise EntryProblem("oauth.callbackPort", "must be the number of a port")
    texts = {"client_id": "clientId", "client_secret": "clientSecret"}
    given = {field: expand.text(f"oauth.{name}", value[name]) for field, name in texts.items() if name in value}
    return {**given, "callback_port": port}


def digest_entry(name: str, value: Any) -> str:
    return blake2b(msgspec.json.encode([name, value], order="sorted"), digest_size=16).hexdigest()


def _kind_of(value: Mapping[str, Any]) -> str:
    named = value.get("type")
    if named is None:
        if "url" in value:
            raise EntryProblem("type", 'is missing: a server with a url is "http" or "sse"')
        return "stdio"
    if named == "stdio":
        return "stdio"
    if isinstance(named, str) and named in HTTP_TYPES:
        return HTTP_TYPES[named]
    if named in {"ws", "sdk"}:
        raise EntryProblem("type", f"is {named}, which is not supported (there are: stdio, http, sse)")
    raise EntryProblem("type", f"must be stdio, http or sse, not {named!r:.40}")


def _limits(value: Mapping[str, Any], env: Mapping[str, str]) -> tuple[float, float]:
    """Seconds for the start and for a call. Everybody writes them in milliseconds."""
    given = value.get("timeout")
    if given is not None and not _is_duration(given):
        raise EntryProblem("timeout", "must be a number of milliseconds")
    call_ms = given if given is not None else _duration_of(env, "MCP_TOOL_TIMEOUT")
    start_ms = _duration_of(env, "MCP_TIMEOUT")
    return (start_ms / 1_000 if start_ms else START_S), (call_ms / 1_000 if call_ms else CALL_S)


def _is_duration(given: Any) -> bool:
    return not isinstance(given, bool) and isinstance(given, int | float) and 0 < given <= MAX_MS


def _duration_of(env: Mapping[str, str], name: str) -> float | None:
    """A variable with anything else in it counts as not set."""
    text = env.get(name, "").strip()
    return float(text) if text.isdecimal() and _is_duration(int(text)) else None


class _Expander:
    """Puts variables in: `${NAME}` and `${NAME:-default}`. One that is not set stays as it is, and is told."""

    def __init__(self, definition: Definition, env: Mapping[str, str], remark: Callable[[str], None]) -> None:
        self._definition = definition
        self._env = env
        self._remark = remark

    def text(self, field: str, value: Any) -> str:
        if not isinstance(value, str) or not value.strip():
            raise EntryProblem(field, "must be a text")
        return self._expand(field, value)

    def texts(self, field: str, value: Any) -> list[str]:
        if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
            raise EntryProblem(field, "must be a list of texts")
        return [self._expand(field, each) for each in value]

    def map(self, field: str, value: Any) -> dict[str, str]:
        if not isinstance(value, dict) or not all(isinstance(each, str) for each in value.values()):
            raise EntryProblem(field, "must map names to texts")
        return {name: self._expand(f"{field}.{name}", each) for name, each in value.items()}

    def _expand(self, field: str, text: str) -> str:
        if "\0" in text:
            raise EntryProblem(field, "holds a null character")
        return _VARIABLE.sub(lambda found: self._replace(field, found), text)

    def _replace(self, field: str, found: re.Match[str]) -> str:
        name, default = found[1], found[2]
        where = f"{self._definition.origin}: mcpServers.{self._definition.name}.{field}"
        if name in OUR_KEYS and self._definition.source in OF_THE_REPOSITORY:
            self._remark(f"{where} names {name}, which no server of a repository is given")
            return ""
        if name == PROJECT_VARIABLE and name not in self._env:
            return found[0] if default is None else default
        content = self._env.get(name)
        if content is None and default is None:
            self._remark(f"{where} names {name}, which is not set; it stays as it is written")
            return found[0]
        return content or default or ""
