"""The port between the exchange of messages and what carries them: a pipe, HTTP, or an object of this process."""

from collections.abc import Mapping
from typing import Protocol

from everturn.mcp.faults import McpFault
from everturn.mcp.json_rpc import Outgoing


class Receiver(Protocol):
    """What a link tells. Called in the loop, in the order in which things came."""

    def take(self, data: bytes) -> None:
        """One message, or a batch of them."""
        ...

    def fail(self, request_id: int | None, fault: McpFault) -> None:
        """No answer to this request will come. None: it is not known to which; whoever waits waits in vain."""
        ...

    def waits_for(self, request_id: int) -> bool:
        """It has no answer yet."""
        ...

    def lose(self, fault: McpFault) -> None:
        """The link is broken for good: no answer will come to anything. Once, and the last thing that it tells."""
        ...


class Link(Protocol):
    async def open(self, receiver: Receiver) -> None:
        """Raises `McpFault` where there is nobody to talk to."""
        ...

    def send(self, message: Outgoing, headers: Mapping[str, str] | None = None) -> None:
        """Returns at once; what goes wrong is told to the receiver. `headers`: where the link has any, those too."""
        ...

    def settle(self, version: str) -> None:
        """The version that both speak from now on."""
        ...

    def abandon(self, request_id: int, reason: str) -> None:
        """Nobody waits for this answer any more: the server is told, in the way of this link."""
        ...

    def describe(self) -> str:
        """What the server has said beside the protocol, for a diagnosis; empty where it has said nothing."""
        ...

    async def aclose(self) -> None:
        """Ends the server where it is ours. May be called at any time, more than once."""
        ...
