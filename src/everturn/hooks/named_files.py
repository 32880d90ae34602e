"""Files of the working folder that commands of the settings run: what is written there runs as we do, so that nobody writes it unasked.

A shell is not read here: whatever a command may mean by one of its words is taken for meant. A file too many costs a question.
"""

import glob
import os
import shlex
from collections.abc import Iterable, Iterator
from contextlib import suppress
from itertools import islice
from typing import Any

from everturn.core.patterns import compile_late
from everturn.workspace.paths import is_inside

_PROJECT = compile_late(r"\$(?:CLAUDE|EVERTURN)_PROJECT_DIR\b|\$\{(?:CLAUDE|EVERTURN)_PROJECT_DIR\b[^}]*\}")
_WORD = compile_late(r"[^\s\"'`;|&()<>={}]+")
_MODULE = compile_late(r"-m\s*([A-Za-z_]\w*(?:\.\w+)*)")
_PATTERN = compile_late(r"[*?\[]")
_SCRIPT = compile_late(r"[\w./@+-]+\.(?:sh|bash|zsh|fish|py|js|mjs|cjs|ts|rb|pl|php|lua)")
_STARTS = ("__main__.py", "index.js", "index.mjs", "index.cjs", "index.ts")
"""What an interpreter runs that is given a folder."""
_RUNS_ALL = "run-parts"
_MAX_TEXT = 20_000
_MAX_WORDS = 400
_MAX_LENGTH = 1_000
"""Characters of a word."""
_MAX_FOLDERS = 20
_MAX_MATCHES = 200


def list_named_files(commands: Any, folder: str) -> tuple[str, ...]:
    """Files that commands may mean, by absolute paths; scripts that are not there, too.

    `commands`: of hooks and of the helper that prints a key, as they stand in the settings. `folder`: where they start. What
    lies elsewhere may be in a folder that is added to work in.
    """
    texts = dict.fromkeys(_list_texts(commands))
    return tuple(dict.fromkeys(path for text in texts for path in _list_named(text[:_MAX_TEXT], folder)))


def _list_named(text: str, folder: str) -> Iterator[str]:
    words = tuple(islice(dict.fromkeys(_list_words(_PROJECT.sub(lambda _: folder, text))), _MAX_WORDS))
    ends = tuple(islice(dict.fromkeys(end for word in words for end in _list_ends(word)), _MAX_WORDS))
    inner = (_place(folder, end) for end in ends)
    inner = (place for place in inner if place != folder and is_inside(folder, place) and os.path.isdir(place))  # noqa: PTH112
    folders = tuple(islice(dict.fromkeys(inner), _MAX_FOLDERS))
    for base in (folder, *folders):
        for end in ends:
            yield from _find(base, end)
        for module in _MODULE.findall(text):
            path = module.replace(".", "/")
            yield from _there(f"{base}/{name}" for name in (f"{path}.py", f"{path}/__init__.py", f"{path}/__main__.py"))
    for place in folders:
        yield from _there(f"{place}/{name}" for name in _STARTS)
        if _RUNS_ALL in text:
            yield from _match(f"{glob.escape(place)}/*")
    # What is not there yet would run, too.
    yield from (_place(folder, word) for word in words if _SCRIPT.fullmatch(word))


def _find(base: str, end: str) -> Iterator[str]:
    if not _PATTERN.search(end):
        yield from _there([_place(base, end)])
    elif not end.startswith("/") and " " not in end:
        # Of what linters look through, only what can be started.
        yield from (
            path
            for path in _match(f"{glob.escape(base)}/{end}")
            if os.access(path, os.X_OK) or path.endswith((".sh", ".bash"))
        )


def _list_words(text: str) -> Iterator[str]:
    """As a program is given it, as a shell parts it, and as far as a quote or a sign of the shell."""
    yield text
    with suppress(ValueError):
        yield from shlex.split(text)
    yield from _WORD.findall(text)


def _list_ends(word: str) -> Iterator[str]:
    """The word, and what is left of it behind each slash: what stands before may become anything (`$PWD/check.sh`)."""
    if len(word) <= _MAX_LENGTH and word.isprintable():
        yield word
        while "/" in word:
            word = word.partition("/")[2]
            if word:
                yield word


def _place(base: str, word: str) -> str:
    return os.path.normpath(os.path.join(base, os.path.expanduser(word)))  # noqa: PTH111, PTH118 - paths as text


def _there(paths: Iterable[str]) -> Iterator[str]:
    """Files; a link is one, wherever it leads."""
    return (path for path in paths if os.path.isfile(path) or os.path.islink(path))  # noqa: PTH113, PTH114


def _match(pattern: str) -> Iterator[str]:
    return _there(islice(map(os.path.normpath, glob.iglob(pattern)), _MAX_MATCHES))  # noqa: PTH207 - paths as text


def _list_texts(value: Any) -> Iterator[str]:
    """All that stands in a definition, however it is nested: of what is no command, no word is a file."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list | tuple):
        for each in value.values() if isinstance(value, dict) else value:
            yield from _list_texts(each)
