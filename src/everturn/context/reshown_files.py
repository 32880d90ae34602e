"""After a compaction, the files that were read last are read from disk and shown again, so that the model need not read them once more."""

from collections.abc import Sequence

import msgspec

from everturn.context.fact_tracker import field_of, full_path
from everturn.core.limits import Limits
from everturn.core.marks import has_tag, one_line
from everturn.core.messages import Message
from everturn.core.tokens import BYTES_PER_TOKEN, estimate_bytes
from everturn.ports.files import Files, FileState

WINDOW_SHARE = 10
"""At most one part in so many of the window."""
FILE = "The file {path}, as it is now:\n{text}"
HEAD = "The files that were read last:"


class Reshown(msgspec.Struct, frozen=True, kw_only=True):
    text: str = ""
    states: tuple[tuple[str, FileState], ...] = ()


def load_recent(
    recent: Sequence[str],
    kept: Sequence[Message],
    files: Files | None,
    *,
    limits: Limits,
    window: int,
    folder: str = "",
) -> Reshown:
    """The latest that fit together; what the kept messages show is left out.

    So is a file that holds a tag of ours: here it would have to be altered, while Read shows it as it is.
    """
    if files is None:
        return Reshown()
    room = min(limits.restored_tokens, window // WINDOW_SHARE)
    uses = [use for message in kept for use in message.uses if use.name == "Read"]
    visible = {full_path(field_of(use, "file_path"), folder) for use in uses}
    texts: list[str] = []
    states: list[tuple[str, FileState]] = []
    for path in [path for path in reversed(recent) if path not in visible][: limits.restored_files]:
        loaded = files.load(path, room * BYTES_PER_TOKEN)
        if loaded is None:
            continue
        shown = FILE.format(path=path, text=number_lines(loaded.text))
        cost = estimate_bytes(len(shown.encode(errors="replace")))
        if cost > room or has_tag(shown) or one_line(path) != path:
            continue
        room -= cost
        texts.append(shown)
        states.append((path, FileState(stamp=loaded.stamp, shown=True)))
    return Reshown(text="\n\n".join([HEAD, *texts]) if texts else "", states=tuple(states))


def number_lines(text: str) -> str:
    """As Read shows them."""
    return "\n".join(f"{number:>6}\t{line}" for number, line in enumerate(text.splitlines(), 1))
