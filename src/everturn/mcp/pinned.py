"""Definitions of a server as they were when somebody last agreed to them, kept in our home: offered at once, and compared later."""

# As in `core.prefix`: without OpenSSL.
import os
from _blake2 import blake2b
from pathlib import Path

import msgspec

from everturn.mcp.configuration import ConfiguredServer
from everturn.mcp.definitions import PromptDefinition, ToolDefinition

FOLDER = "mcp"
PRIVATE = 0o600
MAX_BYTES = 16 * 1024 * 1024
MAX_TOOLS = 1_000
"""Of one server; what comes after them is left out."""
_KEY_LENGTH = 16
_MAX_DIFFERENCE = 4_000


class PinnedServer(msgspec.Struct, frozen=True, kw_only=True):
    """What a server offered the last time."""

    name: str
    tools: tuple[ToolDefinition, ...] = ()
    prompts: tuple[PromptDefinition, ...] = ()
    instructions: str = ""
    protocol_version: str = ""
    has_resources: bool = False


class PinBook:
    """One file for each server and definition of it: whoever changes how a server is started begins anew."""

    def __init__(self, home: Path) -> None:
        self._folder = home / FOLDER

    def load(self, server: ConfiguredServer) -> PinnedServer | None:
        """None where nothing is known, also because the file cannot be read."""
        if not server.key:
            return None
        try:
            with self._path(server).open("rb") as file:
                content = file.read(MAX_BYTES + 1)
            return msgspec.json.decode(content, type=PinnedServer) if len(content) <= MAX_BYTES else None
        except (OSError, msgspec.DecodeError):
            return None

    def keep(self, server: ConfiguredServer, pinned: PinnedServer) -> str:
        """Writes it in one step. Returns what went wrong, or an empty text."""
        if not server.key:
            return ""
        path = self._path(server)
        beside = path.with_name(f"{path.name}.{os.urandom(8).hex()}.new")
        try:
            self._folder.mkdir(0o700, parents=True, exist_ok=True)
            descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, PRIVATE)
            try:
                with os.fdopen(descriptor, "wb") as file:
                    file.write(msgspec.json.encode(pinned))
                beside.replace(path)
            except BaseException:
                beside.unlink(missing_ok=True)
                raise
        except (OSError, UnicodeEncodeError) as error:
            reason = error.strerror if isinstance(error, OSError) else error
            return f"the definitions of the MCP server {server.name} cannot be kept: {reason}"
        return ""

    def _path(self, server: ConfiguredServer) -> Path:
        return self._folder / f"{server.name}-{server.key[:_KEY_LENGTH]}.json"


def digest_tool(tool: ToolDefinition) -> str:
    """Of all that the model reads of it, and of what the server claims."""
    told = [tool.name, tool.title, tool.description, tool.input_schema, tool.annotations]
    return blake2b(msgspec.json.encode(told, order="sorted"), digest_size=16).hexdigest()


def render_difference(before: ToolDefinition, after: ToolDefinition) -> str:
    """What has changed, line by line."""
    import difflib

    lines = list(difflib.unified_diff(_lines(before), _lines(after), "agreed to", "now", n=1, lineterm=""))
    text = "\n".join(lines)
    return text if len(text) <= _MAX_DIFFERENCE else f"{text[:_MAX_DIFFERENCE]}\n…"


def _lines(tool: ToolDefinition) -> list[str]:
    schema = msgspec.json.format(msgspec.json.encode(tool.input_schema, order="sorted"), indent=2).decode()
    hints = msgspec.json.encode(tool.annotations).decode() if tool.annotations else ""
    title = [f"title: {tool.title}"] if tool.title else []
    return [*title, *(tool.description or "").splitlines(), *schema.splitlines(), *([hints] if hints else [])]
