"""Names of a server's tools and prompts for models and rules: `mcp__server__tool`. Pure."""

# As in `core.prefix`: without OpenSSL.
import re
from _blake2 import blake2b
from collections import Counter
from collections.abc import Iterable

PREFIX = "mcp__"
MAX_LENGTH = 128
"""Characters that the API takes."""
_MARK_LENGTH = 8
_OTHER = re.compile(r"[^A-Za-z0-9_-]")


def name_all(server: str, names: Iterable[str]) -> dict[str, str]:
    """The public name of each, by its own. One that had to be changed, and is too long or like another, ends with a digest of its own.

    It depends on the other names of the server as little as possible, so that a rule goes on to mean the same tool.
    """
    given = list(dict.fromkeys(names))
    written = {name: _OTHER.sub("_", name) for name in given}
    counted = Counter(written.values())
    return {name: _name(server, name, text, is_shared=counted[text] > 1) for name, text in written.items()}


def _name(server: str, name: str, text: str, *, is_shared: bool) -> str:
    plain = f"{PREFIX}{server}__{text}"
    if text and len(plain) <= MAX_LENGTH and (name == text or not is_shared):
        return plain
    mark = blake2b(name.encode("utf-8", "surrogatepass"), digest_size=_MARK_LENGTH // 2).hexdigest()
    return f"{plain[: MAX_LENGTH - _MARK_LENGTH - 1]}_{mark}"


def covers_all(server: str) -> str:
    """A name that a rule for the whole server covers, and a rule for one of its tools does not."""
    return f"{PREFIX}{server}__*"
