"""The link to a program: one message in a line on its standard input and output."""

from collections.abc import Mapping

from everturn.mcp.child_environment import plan_environment
from everturn.mcp.faults import McpFault, ProtocolFault, ServerGone
from everturn.mcp.host import Host
from everturn.mcp.json_rpc import Outgoing, RpcNotification, RpcRequest, encode_message, find_id
from everturn.mcp.link import Receiver
from everturn.mcp.message_lines import MessageLines, TooLarge
from everturn.mcp.secrets import find_secrets, mask_declared
from everturn.mcp.server_process import ServerProcess
from everturn.mcp.servers import StdioServer
from everturn.workspace.descendants import MARK

_SAID = 300
"""Characters of what a server wrote beside the protocol that stand in an error."""
_MAX_FOREIGN = 2_000


class StdioLink:
    """`link.Link`. Text on standard output that is no message is kept for a diagnosis and otherwise passed over."""

    def __init__(self, server: StdioServer, host: Host) -> None:
        self._server = server
        self._host = host
        self._lines = MessageLines()
        self._foreign = ""
        self._secrets = find_secrets(server.env)
        self._process: ServerProcess | None = None
        self._receiver: Receiver
        self._is_closing = False

    async def open(self, receiver: Receiver) -> None:
        server = self._server
        self._receiver = receiver
        mark = self._host.mark_process()
        environment = plan_environment(self._host.environment, server.env) | {MARK: self._host.inherit_mark(mark)}
        command = [server.command, *server.args]
        try:
            self._process = ServerProcess(command, environment, server.folder, mark, self)
        except FileNotFoundError as error:
            raise ServerGone(server.name, self._describe_missing(str(error.filename or ""))) from None
        except (OSError, ValueError) as error:
            reason = (
                error.strerror if isinstance(error, OSError) else "its command or its environment holds a zero byte"
            )
            text = f'The MCP server "{server.name}" cannot be started: {server.command}: {reason}.'
            raise ServerGone(server.name, text) from None

    def send(self, message: Outgoing, headers: Mapping[str, str] | None = None) -> None:
        del headers
        if self._process is None or not self._process.write(encode_message(message) + b"\n"):
            request_id = message.id if isinstance(message, RpcRequest) else None
            if request_id is not None:
                name = self._server.name
                self._receiver.fail(request_id, ServerGone(name, f'The MCP server "{name}" takes no more input.'))

    def settle(self, version: str) -> None:
        del version

    def abandon(self, request_id: int, reason: str) -> None:
        params = {"requestId": request_id, "reason": reason}
        self.send(RpcNotification(jsonrpc="2.0", method="notifications/cancelled", params=params))

    def describe(self) -> str:
        errors = self._process.errors.strip() if self._process is not None else ""
        return mask_declared("\n".join(filter(None, (errors, self._foreign.strip()))), self._secrets)

    async def aclose(self) -> None:
        self._is_closing = True
        process, self._process = self._process, None
        if process is not None:
            await process.end()

    def note_output(self, data: bytes) -> None:
        for line in self._lines.feed(data):
            if isinstance(line, TooLarge):
                fault = ProtocolFault(
                    self._server.name,
                    f'The MCP server "{self._server.name}" sent a message of {line.size / 1_000_000:,.0f} MB; it was not read.',
                )
                self._receiver.fail(find_id(line.head, line.tail), fault)
            elif line[:1] in {b"{", b"["}:
                self._receiver.take(line)
            else:
                self._note_foreign(line)

    def note_end(self, code: int) -> None:
        self._note_foreign(self._lines.unfinished)
        if not self._is_closing:
            self._receiver.lose(self._explain_end(code))

    def _note_foreign(self, line: bytes) -> None:
        if line and len(self._foreign) < _MAX_FOREIGN:
            self._foreign += line[:_MAX_FOREIGN].decode("utf-8", "replace") + "\n"

    def _explain_end(self, code: int) -> McpFault:
        how = f"by signal {-code}" if code < 0 else f"with exit code {code}"
        said = self.describe()
        heard = f" Its last words: {said[-_SAID:]}" if said else ""
        return ServerGone(self._server.name, f'The MCP server "{self._server.name}" has ended {how}.{heard}')

    def _describe_missing(self, path: str) -> str:
        server = self._server
        if server.folder and path == server.folder:
            return f'The MCP server "{server.name}" cannot be started: there is no folder {server.folder}.'
        return (
            f'The MCP server "{server.name}" cannot be started: there is no program {server.command}. '
            "Is it installed, and on the PATH?"
        )
