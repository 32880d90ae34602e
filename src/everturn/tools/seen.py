"""The rule of all tools that change files: nothing is changed that the model has not seen as it is."""

from everturn.core.errors import ToolFault
from everturn.ports.files import FileState, FileStates, Stamp


def refuse_unread(files: FileStates, path: str, now: Stamp, verb: str) -> FileState:
    """What was seen of the file, when it still is as it was. Raises `ToolFault`."""
    known = files.get(path)
    if known is None:
        raise ToolFault(f"{path} has not been read. Read it before you {verb} it.")
    if known.stamp.digest != now.digest:
        files.forget(path)
        raise ToolFault(f"{path} has changed on disk since it was read. Read it again before you {verb} it.")
    return known
