"""Where a request goes: the parts of its URL that make a connection."""

from functools import lru_cache
from urllib.parse import urlsplit

import msgspec

from everturn.core.errors import FaultKind, ModelFault

DEFAULT_PORTS = {"http": 80, "https": 443}


class Origin(msgspec.Struct, frozen=True):
    scheme: str
    host: str
    port: int

    @property
    def secure(self) -> bool:
        return self.scheme == "https"

    @property
    def authority(self) -> str:
        """As the `host` header has it."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == DEFAULT_PORTS[self.scheme] else f"{host}:{self.port}"


@lru_cache(maxsize=64)
def parse_target(url: str) -> tuple[Origin, str]:
    """The origin, and path with query. Raises `ModelFault`: options check URLs earlier, so this is the last line."""
    try:
        parts = urlsplit(url)
        host = (
            (parts.hostname or "").encode("idna").decode() if not (parts.hostname or "").isascii() else parts.hostname
        )
        port = parts.port or DEFAULT_PORTS.get(parts.scheme, 0)
    except ValueError:
        host, port = None, 0
    if not host or not port:
        raise ModelFault(FaultKind.INVALID, "The address of the API is not a valid http or https URL.")
    path = parts.path or "/"
    return Origin(parts.scheme, host, port), f"{path}?{parts.query}" if parts.query else path
