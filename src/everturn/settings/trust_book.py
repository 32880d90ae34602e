"""The folders that the user trusts, kept in our home: by the real path of their root, with what their programs were then."""

import os
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import msgspec

from everturn.core.errors import OptionError
from everturn.ports.trust import Definition
from everturn.settings.files import PRIVATE, load_settings
from everturn.settings.places import SettingsRoots, find_places
from everturn.settings.trust import BOOK_NAME, MCP_FILE, TrustState, digest_of, label_of

FOLDERS = "folders"


class Trusted(msgspec.Struct, frozen=True, kw_only=True):
    at: float
    """When, in seconds since 1970."""
    declined: bool = False
    """The user said no: not trusted, and not asked about again."""
    below: bool = False
    """Everything below it is trusted, too."""
    pins: dict[str, str] = {}
    """Digests of the programs that it named then, by label."""


Book = Mapping[str, Trusted]


def load_book(home: str) -> dict[str, Trusted]:
    """Empty where there is none. Raises `OptionError` for one that cannot be understood: then nothing is trusted."""
    path = f"{home}/{BOOK_NAME}"
    text = load_settings(path)
    try:
        return msgspec.convert(text.values.get(FOLDERS, {}), dict[str, Trusted]) if text else {}
    except msgspec.ValidationError as error:
        raise OptionError(path, f"cannot be understood ({error}); no folder is trusted until it is repaired") from None


def judge_folder_trust(book: Book, roots: SettingsRoots, *, at_once: bool) -> TrustState:
    """`at_once`: trusted for this run, whatever the repository defines."""
    if at_once:
        return TrustState(trusted=True, root=roots.root)
    root = os.path.realpath(roots.root)
    if (found := book.get(root)) is not None:
        return TrustState(trusted=not found.declined, root=roots.root, pins=found.pins)
    # Whoever trusts a whole tree has not seen what the repositories in it would run: their programs stay off.
    return TrustState(trusted=find_trusted_above(book, root) is not None, root=roots.root, pins={})


def find_trusted_above(book: Book, root: str) -> str | None:
    """The folder that was trusted with everything below it, this one included."""
    above = (folder for folder, trusted in book.items() if trusted.below and root.startswith(f"{folder.rstrip('/')}/"))
    return next(above, None)


def trust_folder(
    book: Book, roots: SettingsRoots, definitions: Iterable[Definition], *, below: bool = False
) -> dict[str, Trusted]:
    """With this folder. What its other folders define stays as it was trusted; what is gone from these files is forgotten."""
    root = os.path.realpath(roots.root)
    pins = {label_of(definition, roots.root): digest_of(definition) for definition in definitions}
    before = book.get(root)
    files = {os.path.relpath(path, roots.root) for path in files_of(roots)}
    kept = {} if before is None else {k: v for k, v in before.pins.items() if k.partition(": ")[0] not in files}
    below = below or (before is not None and before.below)
    return {**book, root: Trusted(at=time.time(), below=below, pins=kept | pins)}


def decline_folder(book: Book, roots: SettingsRoots) -> dict[str, Trusted]:
    return {**book, os.path.realpath(roots.root): Trusted(at=time.time(), declined=True)}


def files_of(roots: SettingsRoots) -> list[str]:
    """That may name programs, as seen from the working folder."""
    return [place.path for place in find_places(roots) if place.of_repository] + [f"{roots.folder}/{MCP_FILE}"]


def append_trust(home: str, book: Book) -> str:
    """Writes the book in one step, for its owner alone; the path. Raises `OptionError`."""
    path = Path(home, BOOK_NAME)
    beside = path.with_name(f"{BOOK_NAME}.{os.urandom(8).hex()}.new")
    values: dict[str, Any] = {"version": 1, FOLDERS: book}
    try:
        content = msgspec.json.format(msgspec.json.encode(values), indent=2) + b"\n"
    except UnicodeEncodeError:
        raise OptionError(
            str(path), "cannot hold a folder whose name is no text; --trust trusts it for one run"
        ) from None
    try:
        path.parent.mkdir(0o700, parents=True, exist_ok=True)
        descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, PRIVATE)
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(content)
                file.flush()
                os.fsync(descriptor)
            beside.replace(path)
        except BaseException:
            beside.unlink()
            raise
    except OSError as error:
        raise OptionError(str(path), f"cannot be written: {error.strerror}") from None
    return str(path)
