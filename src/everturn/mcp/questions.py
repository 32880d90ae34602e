"""What a server may ask of us, and our answers: the person by way of `elicit`, folders, a sign of life. Never a model."""

from pathlib import Path
from typing import Any

import msgspec

from everturn.mcp import protocol
from everturn.mcp.elicitation import Elicit, encode_answer, parse_elicitation
from everturn.mcp.host import Host
from everturn.mcp.protocol import INVALID_PARAMS, METHOD_NOT_FOUND


class RefusedError(Exception):
    """The server's question gets an error for an answer."""

    def __init__(self, code: int, text: str) -> None:
        super().__init__(text)
        self.code = code


class _Addresses(msgspec.Struct, frozen=True):
    elicitations: list[dict[str, Any]] = []


class Questions:
    """Those of one server."""

    def __init__(self, server: str, host: Host, elicit: Elicit | None) -> None:
        self._server = server
        self._host = host
        self._elicit = elicit

    def encode_capabilities(self) -> dict[str, Any]:
        """What the server may ask. Sampling is never among it: a server gets no model to talk to."""
        capabilities: dict[str, Any] = {}
        if self._elicit is not None:
            capabilities["elicitation"] = {"form": {}, "url": {}}
        if self._host.roots():
            capabilities["roots"] = {}
        return capabilities

    async def open_addresses(self, data: Any) -> bool:
        """What a refusal says must be opened first. False: the person did not open all of it, or there is nothing."""
        try:
            asked = msgspec.convert(data, _Addresses).elicitations
        except msgspec.ValidationError:
            return False
        if self._elicit is None or not asked:
            return False
        for raw in asked:
            try:
                question = parse_elicitation(self._server, msgspec.json.encode(raw))
            except (msgspec.DecodeError, RecursionError):
                return False
            if (await self._elicit(question)).action != "accept":
                return False
        return True

    async def answer(self, method: str, params: bytes) -> dict[str, Any]:
        """Raises `RefusedError`."""
        match method:
            case "ping":
                return {}
            case "roots/list" if folders := self._host.roots():
                return {"roots": [{"uri": Path(folder).as_uri(), "name": Path(folder).name} for folder in folders]}
            case protocol.ELICITATION if self._elicit is not None:
                try:
                    asked = parse_elicitation(self._server, params)
                except (msgspec.DecodeError, RecursionError) as error:
                    raise RefusedError(INVALID_PARAMS, f"The question cannot be read: {error}.") from None
                return encode_answer(await self._elicit(asked), asked)
            case "sampling/createMessage":
                raise RefusedError(METHOD_NOT_FOUND, "Everturn lends servers no model: sampling is refused.")
            case _:
                raise RefusedError(METHOD_NOT_FOUND, f"Everturn does not answer {method}.")
