"""The values that options of a command may have, in every spelling that a program takes: for deny rules, and never to approve.

`readonly.options` reads words where it is certain what they are. Here it is enough that a word may be a value: `-o f`, `-of`,
`-uo f`, `--output f`, `--output=f`, `--outp=f`.
"""

from collections.abc import Iterable, Iterator

_LEAST = 3
"""Characters of an abbreviation, its dashes included."""


def find_values(words: Iterable[str], letters: str = "", names: Iterable[str] = ()) -> Iterator[str]:
    """`letters`: of short options; `names`: of long ones, with their dashes."""
    for _, value in find_options(words, letters, names):
        yield from (value,) if value else ()


def find_options(words: Iterable[str], letters: str = "", names: Iterable[str] = ()) -> Iterator[tuple[str, str]]:
    """Each option by its full name, with what may be its value: both what is joined to it and what follows."""
    listed, known = list(words), tuple(names)
    for at, word in enumerate(listed):
        following = listed[at + 1] if at + 1 < len(listed) else ""
        if word.startswith("--"):
            given, equals, value = word.partition("=")
            yield from ((name, value if equals else following) for name in known if abbreviates(given, name))
        elif word.startswith("-"):
            yield from _find_in_bundle(word, following, letters)
            # One dash, and a whole name: `-out f` of openssl.
            given, equals, value = word.partition("=")
            yield from ((name, value if equals else following) for name in known if given == name)


def has_option(words: Iterable[str], letters: str = "", names: Iterable[str] = ()) -> bool:
    return next(find_options(words, letters, names), None) is not None


def abbreviates(given: str, name: str) -> bool:
    """GNU programs and git take as much of a long name as tells it from others."""
    return name.startswith(given) and len(given) >= min(_LEAST, len(name))


def _find_in_bundle(word: str, following: str, letters: str) -> Iterator[tuple[str, str]]:
    for at, letter in enumerate(word[1:], 2):
        if letter in letters:
            yield from ((f"-{letter}", joined) for joined in {word[at:], word[at:].removeprefix("=")})
            yield f"-{letter}", following
