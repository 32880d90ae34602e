"""Where the API is: reads and checks `ANTHROPIC_BASE_URL`. Pure."""

from functools import lru_cache
from urllib.parse import urlsplit

from everturn.core.errors import OptionError

DEFAULT_BASE_URL = "https://api.anthropic.com"
MESSAGES = "/v1/messages"
COUNT_TOKENS = "/v1/messages/count_tokens"


@lru_cache(maxsize=64)
def parse_base_url(text: str) -> str:
    """The address without a slash at its end; a path is a prefix. Raises `OptionError` for `base_url`."""
    url = text.strip().rstrip("/")
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        raise OptionError("base_url", "is not a URL; it should look like https://host or https://host/prefix") from None
    if parts.scheme not in {"http", "https"}:
        raise OptionError("base_url", "must begin with https:// or http://")
    if not parts.hostname or port == 0 or any(mark.isspace() or not mark.isprintable() for mark in url):
        raise OptionError("base_url", "names no host; it should look like https://host or https://host/prefix")
    if parts.username is not None or parts.password is not None:
        raise OptionError("base_url", "must hold no user name and password; give a key instead")
    if parts.query or parts.fragment:
        raise OptionError("base_url", "must have no part after ? or #")
    return url
