"""Which commands may run what stands in the scratch folder: nobody was asked when it was written there."""

import os
from posixpath import basename, join

from everturn.permissions.judgement import World
from everturn.permissions.paths.judging import is_within
from everturn.permissions.shell.evaluating import Reader
from everturn.permissions.shell.syntax import Command, Word
from everturn.ports.scratch import VARIABLE

_RUN_NOTHING = frozenset({
    "cat", "chmod", "cmp", "cp", "du", "head", "ls", "mkdir", "mv", "rm", "rmdir", "stat", "tail", "tee", "touch", "wc",
})  # fmt: skip
"""Whatever they are given, they neither run nor load it."""
_MOST_WORDS = 200


def may_run_scratch(command: Command, words: tuple[Word, ...], world: World, line: str) -> bool:
    """Whether it runs there, or one of its words may lead there. `words`: without wrappers; `line`: all of it, as written.

    By the folder's name, which is random, by a link, by way of the kernel, or by what bash makes of a word.
    """
    here, scratch = command.here, world.scratch
    if words[0].raw in _RUN_NOTHING:
        return False
    is_used = VARIABLE in line or basename(scratch) in line or _is_used(scratch)
    if here is None:
        return is_used
    if any(is_within(scratch, os.path.realpath(place)) for place in here):
        return True
    given = (*command.words, *(each.word for each in command.assignments))
    if len(given) > _MOST_WORDS:
        return is_used
    reader = Reader(command.scope, here, world.home)
    return any(_names(word, scratch) or _may_become(word, scratch, reader, is_used=is_used) for word in given)


def _names(word: Word, scratch: str) -> bool:
    return VARIABLE in word.raw or basename(scratch) in word.raw or basename(scratch) in (word.value or "")


def _may_become(word: Word, scratch: str, reader: Reader, *, is_used: bool) -> bool:
    value = reader.evaluate_list(word)
    if word.tilde or value.anything or "/proc/" in word.template or "/dev/fd" in word.template:
        return is_used
    places = reader.here or ()
    texts = [os.path.realpath(join(place, text)) for place in places for text in value.texts]
    folders = [os.path.realpath(join(place, folder)) for place in places for folder in value.folders]
    return any(is_within(scratch, each) for each in (*texts, *folders)) or (
        # What a glob looks through may hold the folder.
        is_used and any(is_within(each, scratch) for each in folders)
    )


def _is_used(scratch: str) -> bool:
    try:
        with os.scandir(scratch) as entries:
            return next(entries, None) is not None
    except OSError:
        return True
