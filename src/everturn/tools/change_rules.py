"""The rules of all tools that change files: nothing that the model has not seen as it is, and never the mark of a hidden credential."""

from everturn.core.errors import ToolFault
from everturn.core.hiding import MARK, Hiding
from everturn.ports.files import FileState, FileStates, Stamp

REFUSED = (
    "Nothing was written: the text contains {mark}, which replaces a credential of this session in what you read. "
    "In {path} it would overwrite the credential. Change only the parts around it with Edit, and leave the "
    "credential where it is; if it must change, ask the user to do that."
)
ABSENT = f" It contains {MARK}, which replaces a credential in what you read; use only text before or after it."


def refuse_mark(before: str | None, after: str, path: str, hiding: Hiding) -> None:
    """Raises `ToolFault` where the file would get the mark that it does not hold itself, `before` being its content.

    A file may hold the text of the mark by itself, as one about this program does: that stays, and everything else of it
    can be changed, as long as no credential beside it is lost.
    """
    if MARK not in after:
        return
    old = before or ""
    if after.count(MARK) > old.count(MARK) or _count(after, hiding) < _count(old, hiding):
        raise ToolFault(REFUSED.format(mark=MARK, path=path))


def _count(text: str, hiding: Hiding) -> int:
    found = Hiding(hiding.secrets)
    found.hide(text)
    return found.count


def refuse_unread(files: FileStates, path: str, now: Stamp, verb: str) -> FileState:
    """What was seen of the file, when it still is as it was. `verb`: `change` or `overwrite`. Raises `ToolFault`."""
    known = files.get(path)
    a_part = "the lines around the place (Read with offset and limit)"
    if known is None:
        what = "all of it" if verb == "overwrite" else f"{a_part}, or print them with a command,"
        raise ToolFault(f"{path} has not been read. Read {what} before you {verb} it.")
    if known.stamp.digest == now.digest:
        return known
    what = "all of it again" if verb == "overwrite" else a_part
    when = "on disk since it was read"
    if known.is_left_so(now.size, now.mtime_ns):
        when = "since it was read, while a command of yours ran and most likely by it"
    raise ToolFault(f"{path} has changed {when}. Read {what} before you {verb} it.")
