"""The values that options of a command may have, in every spelling that a program takes: for deny rules, and never to approve.

`readonly.options` reads words where it is certain what they are. Here it is enough that a word may be a value: `-o f`, `-of`,
`-uo f`, `--output f`, `--output=f`, `--outp=f`.
"""

from collections.abc import Iterable, Iterator

import msgspec

_MIN_COUNT = 3
"""Characters of an abbreviation, its dashes included."""


class OptionNames(msgspec.Struct, frozen=True, kw_only=True):
    """Some options of a program, and as much of the others as it takes to read a bundle."""

    letters: str = ""
    names: tuple[str, ...] = ()
    """Long ones, with their dashes; `-out` has one."""
    valued: str = ""
    """Letters of all that take a value: in a bundle, what follows is no option. A letter that is missing makes more be taken for a value."""
    valued_names: tuple[str, ...] = ()
    """Long ones that do, beside `names`."""


def find_values(words: Iterable[str], options: OptionNames) -> Iterator[str]:
    for _, value in find_options(words, options):
        yield from (value,) if value else ()


def find_options(words: Iterable[str], options: OptionNames) -> Iterator[tuple[str, str]]:
    """Each of the options by its full name, with what may be its value."""
    listed = list(words)
    for at, word in enumerate(listed):
        if word == "--" and not (at and listed[at - 1].startswith("-")):
            # Behind an option it may be its value: `--file -- --to-command=x`.
            return
        following = listed[at + 1] if at + 1 < len(listed) else ""
        given, equals, value = word.partition("=")
        if word.startswith("--"):
            names = [name for name in options.names if abbreviates(given, name)]
        else:
            yield from _find_in_bundle(word, following, options)
            # One dash, and a whole name: `-out f` of openssl.
            names = [name for name in options.names if given == name and not name.startswith("--")]
        yield from ((name, value if equals else following) for name in names)


def has_option(words: Iterable[str], options: OptionNames) -> bool:
    return next(find_options(words, options), None) is not None


def find_operands(words: Iterable[str], options: OptionNames) -> list[str]:
    """Words that are neither options nor values of those that are known to take one."""
    operands: list[str] = []
    listed = list(words)
    at = 0
    while at < len(listed):
        word = listed[at]
        at += 1
        if word == "--":
            return [*operands, *listed[at:]]
        if not word.startswith("-") or word == "-":
            operands.append(word)
        elif word.startswith("--"):
            at += "=" not in word and any(map(word.__eq__, (*options.names, *options.valued_names)))
        else:
            first = next((place for place, letter in enumerate(word) if letter in options.valued), -1)
            at += first == len(word) - 1
    return operands


def abbreviates(given: str, name: str) -> bool:
    """GNU programs and git take as much of a long name as tells it from others."""
    return name.startswith(given) and len(given) >= min(_MIN_COUNT, len(name))


def _find_in_bundle(word: str, following: str, options: OptionNames) -> Iterator[tuple[str, str]]:
    if not word.startswith("-"):
        return
    for at, letter in enumerate(word[1:], 2):
        is_valued = letter in options.valued
        if letter in options.letters:
            rest = word[at:]
            yield from ((f"-{letter}", joined) for joined in dict.fromkeys((rest, rest.removeprefix("="))) if joined)
            if not rest or not is_valued:
                yield f"-{letter}", following
        if is_valued:
            return
