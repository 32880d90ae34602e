"""A working folder, and a context as the engine would give it."""

import msgspec
import pytest

from everturn.ports.abort import AbortSignal
from everturn.ports.files import FileStates
from everturn.ports.tool import ToolContext


class Desk:
    """A folder to work in; `use` runs one call of a tool the way the engine does: settle, parse, run."""

    def __init__(self, folder):
        self.folder = folder
        self.pieces = []
        self.abort = AbortSignal()
        self.context = ToolContext(
            folder=str(folder),
            tool_use_id="toolu_1",
            abort=self.abort,
            files=FileStates(),
            progress=self.pieces.append,
            abort_grace_s=1.0,
        )

    def renew_abort(self):
        """As the next query would."""
        self.abort = AbortSignal()
        self.context = msgspec.structs.replace(self.context, abort=self.abort)

    async def use(self, tool, **fields):
        return await tool.run(tool.parse(tool.settle(fields, str(self.folder))), self.context)

    def write(self, name, content):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path


@pytest.fixture
def desk(tmp_path):
    folder = tmp_path.resolve() / "project"
    folder.mkdir()
    return Desk(folder)


@pytest.fixture
def shown():
    """The public form of a result's half for people."""
    return lambda result: msgspec.json.decode(msgspec.json.encode(result.shown))
