"""Errors of the operating system as sentences that help the model on."""

import errno

from everturn.core.errors import ToolFault
from everturn.workspace.paths import near_names

_NOT_WRITTEN = {
    errno.ENOSPC: "the disk is full",
    errno.EDQUOT: "the disk quota is used up",
    errno.EROFS: "the file system is read-only",
    errno.EFBIG: "the file would be larger than the system allows",
}


def explain_failure(error: OSError | ValueError, path: str, *, folder: str | None = None) -> ToolFault:
    """`folder` is where the model works: a path that does not exist may be meant from there."""
    match error:
        case FileNotFoundError():
            near = near_names(path, folder=folder)
            hint = f" Did you mean {' or '.join(near)}?" if near else ""
            return ToolFault(f"{path} does not exist.{hint}")
        case OSError(errno=number) if number in _NOT_WRITTEN:
            return ToolFault(f"{path} could not be written: {_NOT_WRITTEN[number]}. What was there is untouched.")
        case OSError():
            return ToolFault(f"{path}: {error.strerror or error}.")
        case _:
            return ToolFault(f"{path!r} cannot be a path: {error}.")
