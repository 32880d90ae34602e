"""An export as a file of its own: the format by its name, and the pieces written whole or not at all."""

import os
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from everturn.core.errors import JournalError
from everturn.ports.disk import FILE_MODE
from everturn.sessions.export.spoken import SessionFacts, Spoken

SUFFIXES = {".md": "markdown", ".markdown": "markdown", ".html": "html", ".htm": "html", ".json": "json"}


def find_format(name: str) -> str:
    """That of a file with this name; without an ending it is Markdown. Raises `JournalError` for another ending."""
    ending = Path(name).suffix
    format_ = SUFFIXES.get(ending.lower()) if ending else "markdown"
    if format_ is None:
        raise JournalError(
            f"{ending} is no ending that a session can be exported to (there are: {', '.join(SUFFIXES)})"
        )
    return format_


def render_export(
    format_: str, facts: SessionFacts, session: dict[str, Any], spoken: Iterable[Spoken]
) -> Iterator[str]:
    """`session` is for programs, `facts` are for people."""
    match format_:
        case "html":
            from everturn.sessions.export.page import render_page

            return render_page(facts, spoken)
        case "json":
            from everturn.sessions.export.document import render_document

            return render_document(session, spoken)
        case _:
            from everturn.sessions.export.markdown import render_markdown

            return render_markdown(facts, spoken)


def save_export(path: Path, pieces: Iterator[str], *, replace: bool = False) -> None:
    """For its owner alone: it may hold more secrets than can be recognised. Raises `JournalError`."""
    if path.exists() and not replace:
        raise JournalError(f"{path} is there already.")
    unfinished = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        handle = os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, FILE_MODE)
        with os.fdopen(handle, "wb") as file:
            for piece in pieces:
                file.write(piece.encode("utf-8", "replace"))
        unfinished.replace(path)
    except OSError as error:
        raise JournalError(f"{path} cannot be written: {error.strerror}.") from error
    finally:
        with suppress(OSError):
            unfinished.unlink()
