"""The rule of all tools that change files: the mark that stands for a hidden credential is never written in its place."""

from everturn.core.errors import ToolFault
from everturn.core.hiding import MARK, Hiding

REFUSED = (
    "Nothing was written: the text holds {mark}, which stands for a credential of this session that you are not shown. "
    "Written to {path}, it would take the credential's place. Change only the parts around it with Edit, and leave the "
    "credential where it is; if it must be written anew, ask the user to do that."
)
ABSENT = (
    f" It holds {MARK}, which stands for a credential that you are not shown; give only text that stands around it."
)


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
