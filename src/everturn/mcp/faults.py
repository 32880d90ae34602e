"""What can go wrong between us and a server, in one tree; each text is a sentence for people and for the model.

```
McpFault
├── ServerGone           it could not be started or reached, or it has ended
│   └── SessionEnded     it has forgotten us: the request was not looked at, and may be sent again on a new connection
├── ServerTimeout        it did not answer in time
├── ProtocolFault        what it sent is not the protocol, or too much of it
├── NeedsAuthorisation   it wants a login that it was not given, or that has expired
└── RequestRefused       it answered with an error; `code` is that of JSON-RPC
    └── ToolUnknown      it has no tool of that name
```
"""

from typing import Any

from everturn.core.errors import EverturnError


class McpFault(EverturnError):
    """`server` is its name in the configuration."""

    def __init__(self, server: str, text: str) -> None:
        super().__init__(text)
        self.server = server
        self.text = text


class ServerGone(McpFault):
    pass


class SessionEnded(ServerGone):
    pass


class ServerTimeout(McpFault):
    pass


class ProtocolFault(McpFault):
    pass


class NeedsAuthorisation(McpFault):
    """`status` and `challenge` are what the server refused with (`WWW-Authenticate`): a login begins with them."""

    def __init__(self, server: str, text: str, *, status: int = 0, challenge: str = "") -> None:
        super().__init__(server, text)
        self.status = status
        self.challenge = challenge


class RequestRefused(McpFault):
    def __init__(self, server: str, text: str, *, code: int, data: Any = None) -> None:
        super().__init__(server, text)
        self.code = code
        self.data = data


class ToolUnknown(RequestRefused):
    pass
