"""The values of words that depend on variables of the same line: in `f=src; ls $f`, the word is `src`."""

from collections.abc import Iterator
from itertools import product
from math import prod
from posixpath import basename

import msgspec

from everturn.core.patterns import compile_late
from everturn.permissions.shell.approval.xargs import judge_listed
from everturn.permissions.shell.reading.assignments import is_own_name
from everturn.permissions.shell.reading.syntax import Command, Expansion, Here, Word
from everturn.permissions.shell.reading.values import (
    ANYTHING,
    NUMBER,
    UNSET,
    Value,
    VariableScope,
    join_values,
    of_texts,
)
from everturn.permissions.shell.reading.words import read_word

_MAX_COUNT = 24
"""Ways to read one word."""
_MAX_SETTLED = 8
_GLOB = compile_late(r"[*?\[]")
_UPWARDS = compile_late(r"^(?:\.\./)+")
"""`../` in front of a glob: the folder that it looks through is still fixed."""
_A_NUMBER = compile_late(r"[0-9]+")
_BRACES = compile_late(r"([^{}]*)\{([^{}]*)\}([^{}]*)")
_NUMBERS = compile_late(r"\{[0-9]+\.\.[0-9]+(?:\.\.[0-9]+)?\}")
_NONE_OR_SEVERAL = of_texts(["", "1 2"])
"""What stands for a list of numbers: it may be empty, and be more than one word."""
_RANGE = compile_late(r"([0-9]{1,4})\.\.([0-9]{1,4})")
_CAT = (Word(raw="cat", value="cat", template="cat"),)


class Reader(msgspec.Struct, frozen=True):
    """Where words are read: with these variables, in this folder, for this person."""

    scope: VariableScope
    here: Here
    home: str

    def evaluate(self, word: Word) -> Value:
        """As the value of an assignment: nothing splits it, and no glob expands."""
        if word.unsure or ":~" in word.raw:
            return ANYTHING
        if not word.parts:
            return ANYTHING if word.value is None else of_texts([word.value])
        if len(word.parts) == 1 and isinstance(word.parts[0], Expansion):
            return self.find(word.parts[0])
        texts = [frozenset({part}) if isinstance(part, str) else _known_texts(self.find(part)) for part in word.parts]
        if all(texts):
            return of_texts(map("".join, product(*texts))) if prod(map(len, texts)) <= _MAX_COUNT else ANYTHING
        return self._evaluate_path(word)

    def _evaluate_path(self, word: Word) -> Value:
        """`src/$f` and `$dir/name` stay below the folder that the variable is about."""
        (before, found, behind) = (
            (*word.parts, "", "")[:3] if isinstance(word.parts[0], str) else ("", *word.parts, "")[:3]
        )
        if not isinstance(before, str) or not isinstance(found, Expansion) or not isinstance(behind, str):
            return ANYTHING
        value = self.find(found)
        outside = ".." in behind or (before and not before.endswith("/")) or len(word.parts) > 3  # noqa: PLR2004
        if outside or value.texts or value.number or value.anything:
            return ANYTHING
        return Value(
            below=frozenset(f"{before}{folder}" for folder in (value.folders if before else value.below)),
            names=frozenset() if before else value.names,
        )

    def evaluate_list(self, word: Word) -> Value:
        """As a word of `for .. in`: it may fall apart, and globs become files."""
        pieces = expand_braces(word)
        if pieces != (word,):
            return join_values(*(self.evaluate_list(piece) for piece in pieces))
        if word.glob and not word.parts:
            return of_glob(word)
        if _NUMBERS.fullmatch(word.raw):
            return NUMBER
        if word.brace:
            return ANYTHING
        value = self.evaluate(word)
        if (
            value.anything
            or word.glob
            or not any(isinstance(part, Expansion) and not part.quoted for part in word.parts)
        ):
            return ANYTHING if word.glob else value
        if any(_GLOB.search(text) for text in value.texts):
            return ANYTHING
        split = frozenset(piece for text in value.texts for piece in text.split())
        return msgspec.structs.replace(value, texts=split, below=frozenset(), names=value.folders)

    def list_files(self, word: Word) -> list[str]:
        """Stand-ins for the files that it may name, one for each folder; empty where it may name any."""
        value = self.evaluate(word)
        if value.anything or value.number or word.glob or word.brace:
            return []
        return [*sorted(text for text in value.texts if text), *(f"{folder}/_" for folder in sorted(value.folders))]

    def find(self, expansion: Expansion) -> Value:
        if expansion.number:
            return NUMBER
        if expansion.source:
            return of_output(expansion.source, self.home)
        name = expansion.name
        value = self.scope.find(name)
        if value is None and name in {"HOME", "PWD"} and not expansion.operator:
            places = (self.home,) if name == "HOME" else self.here
            return of_texts(places) if places and all(places) else ANYTHING
        if value is None:
            value = UNSET if is_own_name(name) and name.islower() else ANYTHING
        return _operate(value, expansion.operator) if expansion.operator else value


def of_output(stages: tuple[Command, ...], home: str) -> Value:
    """What a pipeline prints, its line end taken off."""
    known = [settle(stage, home) for stage in stages]
    words = known[0].words
    match [word.fixed for word in words]:
        case ["pwd"] if len(known) == 1 and known[0].here and len(known[0].here) == 1:
            return of_texts(known[0].here)
        case ["seq", *numbers] if len(known) == 1 and all(_A_NUMBER.fullmatch(each or "") for each in numbers):
            return join_values(NUMBER, _NONE_OR_SEVERAL)
    listed = judge_listed(_CAT, tuple(known), home)
    if listed is None or listed.recursive:
        return ANYTHING
    folders = frozenset({"."}) if words[0].raw == "git" else frozenset(listed.paths)
    starts = words[0].raw == "find" and not any(folder.startswith(("-", "@")) for folder in folders)
    return Value(below=folders, texts=UNSET.texts) if starts else Value(names=folders, texts=UNSET.texts)


def of_line(stages: tuple[Command, ...], home: str) -> Value:
    """One line of what a pipeline prints; empty at its end."""
    value = of_output(stages, home)
    return join_values(NUMBER if value.number else value, UNSET)


def of_glob(word: Word) -> Value:
    """The names of files that it becomes, or itself where it fits none."""
    text = word.value or ""
    fixed = _GLOB.split(text)[0]
    if ".." in _UPWARDS.sub("", text) or word.value is None or fixed.startswith(("-", "@")):
        return ANYTHING
    folder = fixed.rpartition("/")[0] or ("/" if fixed.startswith("/") else ".")
    if fixed:
        return Value(below=frozenset({folder}))
    return Value(names=frozenset({folder}))


def settle(command: Command, home: str) -> Command:
    """With its variables put in, where there is one way to do that."""
    reader = Reader(command.scope, command.here, home)
    words: list[Word] = []
    for word in command.words:
        texts = _known_texts(reader.evaluate(word)) if word.parts else frozenset[str]()
        whole = not (word.glob or word.brace) and all(isinstance(part, str) or part.quoted for part in word.parts)
        words.append(made(next(iter(texts))) if whole and len(texts) == 1 else word)
    return msgspec.structs.replace(command, words=tuple(words))


def find_settled(command: Command, home: str) -> Iterator[Command]:
    """With each of the texts that its variables may hold, where they are few: what deny rules must see."""
    names = {name for name, value in command.scope.values if value.texts}
    if not any(isinstance(part, Expansion) and part.name in names for word in command.words for part in word.parts):
        return
    reader = Reader(command.scope, command.here, home)
    choices: list[list[tuple[Word, ...]]] = []
    for word in command.words:
        texts = sorted(reader.evaluate(word).texts)[:_MAX_SETTLED] if word.parts else []
        whole = all(isinstance(part, str) or part.quoted for part in word.parts)
        choices.append([tuple(map(made, [text] if whole else text.split())) for text in texts] or [(word,)])
    for chosen, _ in zip(product(*choices), range(_MAX_SETTLED), strict=False):
        words = tuple(word for each in chosen for word in each)
        if words:
            yield msgspec.structs.replace(command, words=words)


def made(text: str, *, glob: bool = False) -> Word:
    return Word(raw=text, value=text, template=text, glob=glob)


def expand_braces(word: Word) -> tuple[Word, ...]:
    """`src/*.{ts,js}` are two words. The word itself where that is not plain."""
    plain = _BRACES.fullmatch(word.raw) if word.brace and word.raw == word.value else None
    if plain is None:
        return (word,)
    before, inside, behind = plain.groups()
    if found := _RANGE.fullmatch(inside):
        first, last = (int(each) for each in found.groups())
        is_padded = any(len(each) > 1 and each.startswith("0") for each in found.groups())
        if not 0 <= last - first < _MAX_COUNT or is_padded:
            return (word,)
        names = [str(number) for number in range(first, last + 1)]
    elif "," in inside and ".." not in inside:
        names = inside.split(",")
    else:
        return (word,)
    words = tuple(read_word(f"{before}{name}{behind}") for name in names if f"{before}{name}{behind}")
    return (word,) if any(each.unsure or each.brace for each in words) else words


def _known_texts(value: Value) -> frozenset[str]:
    """Empty where it may be anything else."""
    return frozenset() if value.anything or value.number or value.folders else value.texts


def _operate(value: Value, operator: str) -> Value:
    if operator.startswith((":-", "-")):
        default = operator.removeprefix(":").removeprefix("-")
        texts = value.texts - {""} if operator[0] == ":" and "" in value.texts else value.texts
        return join_values(msgspec.structs.replace(value, texts=texts), of_texts([default]))
    if operator == "##*/" and not value.anything:
        names = frozenset({"."}) if value.folders else frozenset[str]()
        return Value(texts=frozenset(map(basename, value.texts)), names=names, number=value.number)
    kept = operator.lstrip("%#")
    if operator[0] in "%#" and not _GLOB.search(kept) and (texts := _known_texts(value)):
        cut = str.removesuffix if operator[0] == "%" else str.removeprefix
        return of_texts(cut(text, kept) for text in texts)
    return ANYTHING
