"""One server of a session: connected in the background, and its definitions compared with what was agreed to."""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

import msgspec

from everturn.mcp.configuration import ConfiguredServer
from everturn.mcp.definitions import PromptDefinition, ResourceDefinition, ServerFacts, ToolDefinition
from everturn.mcp.faults import McpFault, NeedsAuthorisation, ServerGone
from everturn.mcp.pinned import MAX_TOOLS, PinBook, PinnedServer, digest_tool, render_difference
from everturn.mcp.servers import HttpServer, InProcessServer
from everturn.ports.elicitation import Elicit, Elicitation, ElicitationAnswer
from everturn.ports.servers import ServerState

if TYPE_CHECKING:
    from everturn.mcp.client import McpClient
    from everturn.mcp.host import Host

MAX_INSTRUCTIONS = 2_048
"""Characters of what a server says of its tools in general."""
HEAD_START_S = 0.5
"""What a server that is known need not do before the first request has left."""


def describe_fault(server: str, fault: McpFault) -> str:
    """For the person, with what they can do about it."""
    if isinstance(fault, NeedsAuthorisation):
        return f"{fault} To log in: everturn mcp login {server}"
    return str(fault)


class Changed(msgspec.Struct, frozen=True, kw_only=True):
    """A tool whose definition is not the one that was agreed to."""

    before: ToolDefinition
    after: ToolDefinition

    @property
    def difference(self) -> str:
        return render_difference(self.before, self.after)


class AttachedServer:
    """Its definitions are known before it is connected where it was connected in an earlier session."""

    def __init__(
        self,
        configured: ConfiguredServer,
        *,
        book: PinBook,
        find_host: "Callable[[], Host]",
        tell: Callable[[str], None],
    ) -> None:
        """`tell` shows a sentence to the person."""
        self.configured = configured
        self._book = book
        self._find_host = find_host
        self._tell = tell
        self.news: Callable[[], None] = lambda: None
        """Called when the server has said what it offers."""
        self.pinned = book.load(configured)
        self.was_known = self.pinned is not None
        """Its definitions come from an earlier session."""
        self.fault: McpFault | None = None
        self.changed: dict[str, Changed] = {}
        """By the server's own names; these are not called until somebody agrees."""
        self._askers: list[Elicit] = []
        """Those who pass on questions of the server to the person, one for each call that runs."""
        self._was_asked = False
        """It has said what it offers."""
        self.new_instructions: str | None = None
        """What the server says of its tools now, where that is not what was agreed to; the model is not told."""
        self._client: McpClient | None = None
        self._connecting: asyncio.Task[None] | None = None
        self._listing: asyncio.Task[None] | None = None
        self._is_needed = asyncio.Event()

    @property
    def name(self) -> str:
        return self.configured.name

    @property
    def kind(self) -> str:
        match self.configured.server:
            case HttpServer(kind=kind):
                return kind
            case InProcessServer():
                return "in-process"
            case _:
                return "stdio"

    @property
    def facts(self) -> ServerFacts | None:
        return self._client.facts if self._client is not None else None

    @property
    def diagnosis(self) -> str:
        return self._client.diagnosis if self._client is not None else ""

    @property
    def state(self) -> ServerState:
        if isinstance(self.fault, NeedsAuthorisation):
            return ServerState.NEEDS_LOGIN
        if self.fault is not None:
            return ServerState.FAILED
        return ServerState.CONNECTED if self._was_asked else ServerState.PENDING

    @property
    def tools(self) -> tuple[ToolDefinition, ...]:
        """As they were agreed to."""
        return self.pinned.tools if self.pinned else ()

    @property
    def prompts(self) -> tuple[PromptDefinition, ...]:
        return self.pinned.prompts if self.pinned else ()

    @property
    def has_resources(self) -> bool:
        return self.pinned is not None and self.pinned.has_resources

    def start(self) -> asyncio.Task[None]:
        """The task that connects it. It never raises; what is wrong is in `fault`."""
        if self._connecting is None:
            self._connecting = asyncio.create_task(self._connect(HEAD_START_S if self.was_known else 0.0))
        return self._connecting

    async def _connect(self, pause_s: float) -> None:
        if pause_s:
            with suppress(TimeoutError):
                await asyncio.wait_for(self._is_needed.wait(), pause_s)
        try:
            await self._make_client().connect()
            self.fault = None
            await self._take_definitions()
        except McpFault as fault:
            if str(fault) != str(self.fault):
                self._tell(describe_fault(self.name, fault))
            self.fault = fault

    def _make_client(self) -> "McpClient":
        """Loaded only now: a session that calls nothing has no use for it before its first request."""
        if self._client is None:
            from everturn.mcp.client import McpClient

            server = self.configured.server
            if self.pinned is not None:
                server = msgspec.structs.replace(server, protocol_version=self.pinned.protocol_version)
            self._client = McpClient(
                server,
                self._find_host(),
                elicit=self._pass_on,
                on_change=lambda _: self._list_again(),
                on_state=self._note_state,
            )
        return self._client

    @contextmanager
    def asking(self, elicit: "Elicit | None") -> Iterator[None]:
        """While a call runs, the server may ask the person."""
        if elicit is None:
            yield
            return
        self._askers.append(elicit)
        try:
            yield
        finally:
            self._askers.remove(elicit)

    async def _pass_on(self, asked: Elicitation) -> ElicitationAnswer:
        """Outside of a call, nobody knows what the question is about."""
        return await self._askers[-1](asked) if self._askers else ElicitationAnswer(action="decline")

    def _note_state(self, fault: McpFault | None) -> None:
        self.fault = fault

    def _list_again(self) -> None:
        if self._listing is None or self._listing.done():
            self._listing = asyncio.create_task(self._take_news())

    async def _take_news(self) -> None:
        try:
            await self._take_definitions()
        except McpFault as fault:
            self._tell(f"MCP server {self.name}: what it offers cannot be read again. {fault}")

    async def ready(self) -> "McpClient":
        """The client, connected, with its definitions compared: waits for the server, and tries again. Raises `McpFault`."""
        self._is_needed.set()
        connecting = self.start()
        await asyncio.shield(connecting)
        if self.fault is not None:
            self._connecting = asyncio.create_task(self._connect(0.0))
            await asyncio.shield(self._connecting)
        if self._listing is not None and not self._listing.done():
            await asyncio.shield(self._listing)
        if self.fault is not None:
            raise self.fault
        return self._make_client()

    def find_ready(self) -> "McpClient":
        """The client where it is connected now. Raises `McpFault`."""
        if self.fault is not None:
            raise self.fault
        if self._client is None or self._client.facts is None:
            raise ServerGone(self.name, f'The MCP server "{self.name}" is not connected yet.')
        return self._client

    async def list_resources(self) -> tuple[ResourceDefinition, ...]:
        return (await (await self.ready()).list_resources()).items

    # Definitions.

    async def _take_definitions(self) -> None:
        client = self._make_client()
        if (facts := client.facts) is None:
            return
        listing = await client.list_tools()
        prompts = (await client.list_prompts()).items if facts.offers("prompts") else ()
        for problem in listing.problems:
            self._tell(f"MCP server {self.name}: {problem}")
        offered = tuple({tool.name: tool for tool in reversed(listing.items)}.values())[::-1]
        if len(offered) > MAX_TOOLS:
            self._tell(f"MCP server {self.name} has {len(offered):,} tools; only the first {MAX_TOOLS:,} are offered")
        pinned = PinnedServer(
            name=self.name,
            tools=self._compare(offered[:MAX_TOOLS]),
            prompts=prompts,
            instructions=self._compare_instructions(facts.instructions[:MAX_INSTRUCTIONS]),
            protocol_version=facts.protocol_version,
            has_resources=facts.offers("resources"),
        )
        self._keep(pinned)
        self._was_asked = True
        self.news()

    def _compare(self, offered: tuple[ToolDefinition, ...]) -> tuple[ToolDefinition, ...]:
        """What is agreed to: new tools as they are, changed ones as they were."""
        known = {tool.name: tool for tool in self.tools}
        changed = {
            tool.name: Changed(before=known[tool.name], after=tool)
            for tool in offered
            if tool.name in known and digest_tool(tool) != digest_tool(known[tool.name])
        }
        for name in changed:
            if name not in self.changed:
                self._tell(
                    f"MCP server {self.name} has changed the definition of its tool {name}, which is not called until you "
                    f"agree. `everturn mcp test {self.name}` shows the difference."
                )
        self.changed = changed
        return tuple(known[tool.name] if tool.name in changed else tool for tool in offered)

    def _compare_instructions(self, offered: str) -> str:
        """As with tools: what was agreed to counts until somebody agrees to something else."""
        if self.pinned is None or self.pinned.instructions == offered:
            self.new_instructions = None
            return offered
        self.new_instructions = offered
        return self.pinned.instructions

    def agree_to_instructions(self) -> None:
        if self.pinned is not None and self.new_instructions is not None:
            self._keep(msgspec.structs.replace(self.pinned, instructions=self.new_instructions))
            self.new_instructions = None

    def agree(self, name: str) -> None:
        """The new definition of a tool is the one that counts."""
        if self.pinned is None or (found := self.changed.pop(name, None)) is None:
            return
        tools = tuple(found.after if tool.name == name else tool for tool in self.pinned.tools)
        self._keep(msgspec.structs.replace(self.pinned, tools=tools))

    def _keep(self, pinned: PinnedServer) -> None:
        if pinned != self.pinned:
            self.pinned = pinned
            if problem := self._book.keep(self.configured, pinned):
                self._tell(problem)

    async def aclose(self) -> None:
        tasks = [task for task in (self._connecting, self._listing) if task is not None and not task.done()]
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)
        if self._client is not None:
            await self._client.aclose()
