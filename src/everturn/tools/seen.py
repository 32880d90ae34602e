"""The rule of all tools that change files: nothing is changed that the model has not seen as it is."""

from everturn.core.errors import ToolFault
from everturn.ports.files import FileState, FileStates, Stamp


def refuse_unread(files: FileStates, path: str, now: Stamp, verb: str) -> FileState:
    """What was seen of the file, when it still is as it was. Raises `ToolFault`."""
    known = files.get(path)
    if known is None:
        raise ToolFault(f"{path} has not been read, nor has a command printed all of it. Read it before you {verb} it.")
    if known.stamp.digest == now.digest:
        return known
    own = known.is_left_so(now.size, now.mtime_ns)
    when = "while a command of yours ran" if own else "on disk"
    raise ToolFault(f"{path} has changed {when} since it was read. Read it again before you {verb} it.")
