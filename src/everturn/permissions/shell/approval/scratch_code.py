"""Which commands may run files of the scratch folder, which the model wrote without a question."""

import os
from collections.abc import Iterable, Iterator
from posixpath import basename, join, normpath

from everturn.core.patterns import compile_late
from everturn.permissions.judgement import JudgedWorld
from everturn.permissions.paths.judge import is_within
from everturn.permissions.shell.files.clearness import say_plainly
from everturn.permissions.shell.files.openings import fits
from everturn.permissions.shell.reading.evaluation import Reader, of_output
from everturn.permissions.shell.reading.syntax import Command, Expansion, Here, Word
from everturn.permissions.shell.reading.values import Value
from everturn.permissions.shell.reading.wrappers import FROM_INPUT, strip_wrappers
from everturn.permissions.shell.running.survey import Survey
from everturn.ports.scratch import VARIABLE

_RUN_NOTHING = frozenset({
    "cat", "chmod", "cmp", "cp", "du", "head", "ls", "mkdir", "mv", "rm", "rmdir", "stat", "tail", "tee", "touch", "wc",
})  # fmt: skip
"""Whatever they are given, they neither run nor load it."""
_TAKE_NAMES = frozenset({"xargs", "parallel"})
"""What they read becomes words of a command."""
_BY_THE_KERNEL = ("/proc/", "/dev/fd")
_MAX_WORDS = 200
_MAX_TOKENS = 2_000
_PLAINLY_SAID = compile_late(r"[A-Za-z0-9_./ -]+")
"""`xargs` takes nothing out of it."""
_TOKEN = compile_late(r"[^\s'\"`=:,;()<>|&]+")
_PATTERN = compile_late(r"[*?\[{]")
_BRACES = compile_late(r"\{.*\}?")


class ScratchCode:
    """Of one command line. Whether there is anything in the folder is not asked: a line may wait, and something be put there meanwhile."""

    def __init__(self, world: JudgedWorld, survey: Survey) -> None:
        self._home = world.home
        self._scratch = world.scratch
        self._name = basename(world.scratch)
        self._reading = survey.reading
        self._leading: dict[int, bool] = {}

    def may_run(self, command: Command, words: tuple[Word, ...]) -> bool:
        """Whether it runs there, or one of its words, or what it reads, may lead there. `words`: without wrappers.

        By the folder's name, which is random, by a link, by way of the kernel, by what bash makes of a word, or through its input.
        """
        return words[0].raw not in _RUN_NOTHING and (self._leads(command) or self._is_fed(command))

    def _leads(self, command: Command) -> bool:
        if id(command) not in self._leading:
            self._leading[id(command)] = self._may_command_lead(command)
        return self._leading[id(command)]

    def _may_command_lead(self, command: Command) -> bool:
        """By its words, by where it runs, or by names that it reads."""
        if command.here is None:
            return True
        if any(self._is_around(os.path.realpath(place)) for place in command.here):
            return True
        given = (*command.words, *(each.word for each in command.assignments))
        if len(given) > _MAX_WORDS:
            return True
        reader = Reader(command.scope, command.here, self._home)
        return any(self._may_become(word, reader) for word in given) or self._may_be_given(command)

    def _is_fed(self, command: Command) -> bool:
        """What it reads may come from there, or name it. Which command a redirection belongs to is not looked at."""
        inputs = (each for each in self._reading.redirects if each.operator.startswith("<") and each.target)
        if any(
            self._may_become(each.target, Reader(each.scope, each.here, self._home)) for each in inputs if each.target
        ):
            return True
        if any(self._may_text_lead(text, command) for text in self._reading.fed):
            return True
        if not _is_among(command, self._reading.piped):
            return False
        before = self._find_feeding(command)
        return any(map(self._leads, before)) if before else self._leads_beside(command)

    def _find_feeding(self, command: Command) -> tuple[Command, ...]:
        """The stages before it; none where something else may feed it."""
        pipes = (pipe[:at] for pipe in self._reading.pipes for at, stage in enumerate(pipe) if stage is command)
        return next(pipes, ())

    def _leads_beside(self, command: Command) -> bool:
        return any(self._leads(each) for each in self._reading.commands if each is not command)

    def _may_be_given(self, command: Command) -> bool:
        """Of `xargs` and its kind: the names that it reads may be of the folder."""
        words = strip_wrappers(command.words)
        if words[-1] is not FROM_INPUT and words[0].raw not in _TAKE_NAMES:
            return False
        before = self._find_feeding(command)
        if not before:
            return True
        said = say_plainly(before[0]) if len(before) == 1 else ""
        if _PLAINLY_SAID.fullmatch(said):
            return any(self._may_lead(text, command.here or ()) for text in said.split())
        value = of_output(before, self._home)
        return value.anything or self._may_hold(value, before[0].here)

    def _names(self, text: str) -> bool:
        return VARIABLE in text or self._name in text

    def _may_become(self, word: Word, reader: Reader) -> bool:
        if self._names(word.raw) or self._name in (word.value or ""):
            return True
        if sources := _find_pipes(word):
            return any(map(self._leads, sources))
        value = reader.evaluate_list(word)
        if word.tilde or value.anything or any(way in word.template for way in _BY_THE_KERNEL):
            return True
        return self._may_hold(value, reader.here)

    def _may_hold(self, value: Value, here: Here) -> bool:
        if here is None:
            return True
        return any(self._may_lead(text, here) for text in (*value.texts, *value.folders))

    def _may_lead(self, text: str, places: Iterable[str]) -> bool:
        """To the folder, or to one around it: programs look through what they are given."""
        return any(
            self._is_around(os.path.realpath(join(place, each))) or self._may_fit(join(place, each))
            for each in _spell(text)
            for place in places
        )

    def _is_around(self, path: str) -> bool:
        """Within it, or around it."""
        return is_within(self._scratch, path) or is_within(path, self._scratch)

    def _may_fit(self, pattern: str) -> bool:
        """The program may expand it."""
        if not _PATTERN.search(pattern):
            return False
        steps = normpath(pattern).strip("/").split("/")
        names = self._scratch.strip("/").split("/")
        for at, name in enumerate(names):
            if at >= len(steps):
                return False
            if "**" in steps[at] and at + 1 < len(steps):
                return True
            if not fits(name, _BRACES.sub("*", steps[at])):
                return False
        return True

    def _may_text_lead(self, text: str, command: Command) -> bool:
        """A heredoc or here-string; `$_` stands for what is only known when it runs."""
        if self._names(text):
            return True
        if "$_" in text or any(way in text for way in _BY_THE_KERNEL):
            return True
        if ("$" in text or "`" in text) and self._leads_beside(command):
            return True
        tokens = _TOKEN.findall(text) if _PATTERN.search(text) else []
        patterns = [token for token in tokens if "/" in token and _PATTERN.search(token)]
        if len(patterns) > _MAX_TOKENS:
            return True
        return any(self._may_fit(join(place, token)) for token in patterns for place in command.here or ())


def _find_pipes(word: Word) -> tuple[Command, ...]:
    """Of `<(..)`: what feeds it, where that is one pipeline."""
    if len(word.parts) == 1 and isinstance(part := word.parts[0], Expansion) and part.is_pipe:
        return part.source
    return ()


def _spell(text: str) -> Iterator[str]:
    """What of a word may be a path: all of it, the value of an option, that of a variable."""
    yield text
    if "=" in text and (value := text.partition("=")[2]):
        yield value
    if text.startswith("-") and (value := text[2:]):
        yield value


def _is_among(command: Command, commands: Iterable[Command]) -> bool:
    return any(each is command for each in commands)
