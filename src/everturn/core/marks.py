"""The tags that the model reads as ours, and the one function that keeps foreign text from closing or imitating them. Pure.

Every tag towards a model is declared here, and written by a function of this module. Two rules hold for all of them:

- What the program says with authority stands in a `Tag` of `OURS`, in a text block of its own, never in a tool's result.
- Foreign text in such a block, inside the tag or beside it, has gone through `harmless`.

Results of tools are not altered, since Edit needs their exact words: the system prompt says that tags in them are content.
"""

import re

# As in `core.prefix`: without OpenSSL.
from _blake2 import blake2b
from collections.abc import Iterable, Iterator
from enum import StrEnum
from functools import cache

from everturn.core.lookalikes import (
    BRACKETS,
    SCRIPTS,
    all_letters_like,
    find_joined,
    has_hidden,
    letters_like,
    reveal,
)
from everturn.core.patterns import compile_late


class Tag(StrEnum):
    """All that we write. A test looks for others in the source."""

    REMINDER = "system-reminder"
    """The program speaks, or passes on what somebody else said."""
    ERROR = "tool_use_error"
    """Why a call failed or was not run; in its result."""
    SUMMARY = "summary"
    """A model's words for what is no longer sent."""
    PAGE = "page"
    """A web page, for the small model."""
    CELL = "cell"
    OUTPUT = "output"
    """Of a notebook, in the result of Read."""


OURS = (Tag.REMINDER, Tag.ERROR)
"""Whatever stands in these is ours, so no foreign text may hold them. The others only hold something together."""
_FENCE_BYTES = 8
_CONTROLS = compile_late(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")
_ATTRIBUTES = compile_late(r'(?: [a-z]+="[\w.:-]*")*')
_SQUARE = compile_late(r"(?<!\\)[\[\]]")


def harmless(text: str, *also: Tag) -> str:
    """The text with a backslash behind the bracket of each tag of `OURS`, and of `also`, in whatever spelling.

    All else stays as it is, byte for byte. What is harmless already stays so. Takes time in proportion to the length.
    Give it the text as it will be read: pieces that are harmless by themselves may be a tag together.
    """
    tags = (*OURS, *also)
    pattern = _choose(text, tags)
    made = pattern.sub(_escape, text) if pattern else text
    if has_hidden(text):
        made = "".join(_escape_foreign(made, (made,), _find_in(reveal(made), tags)))
    return made


def has_tag(text: str) -> bool:
    """Whether `harmless` would change it."""
    return _holds(text, OURS)


def reminder(text: str) -> str:
    """What the program tells the model, with all that is foreign in it."""
    return _enclose(Tag.REMINDER, f"\n{harmless(text)}\n")


def reminder_of_words(head: str, words: str) -> str:
    """What the person said, as they typed it: where they typed a tag of ours, their words stand behind the reminder."""
    if has_tag(words):
        return f"{reminder(f'{head} it stands below this reminder, as they typed it.')}\n{words}"
    return reminder(f"{head}\n{words}")


def tool_error(text: str) -> str:
    return _enclose(Tag.ERROR, harmless(text))


def enclose_summary(text: str) -> str:
    return _enclose(Tag.SUMMARY, f"\n{harmless(text, Tag.SUMMARY)}\n")


class Own(str):
    """A piece of a text that is ours, or that the person typed: it stays as it is."""

    __slots__ = ()


def join_harmless(pieces: Iterable[str]) -> str:
    """All of them as one text. A tag in it is made harmless, also one of several pieces, unless it begins in an `Own` one."""
    pieces = list(pieces)
    whole = "".join(pieces)
    found = _find_in(whole, OURS)
    if has_hidden(whole):
        found = iter(sorted({*found, *_find_in(reveal(whole), OURS)}))
    return "".join(_escape_foreign(whole, pieces, found))


def quote(text: str) -> tuple[str, ...]:
    """The pieces of a text that we show once more. A tag around all of it is taken for ours: the caller knows that it is."""
    for tag in OURS:
        opening, closing = f"<{tag}>", f"</{tag}>"
        if text.startswith(opening) and text.endswith(closing) and len(text) >= len(opening) + len(closing):
            return Own(opening), text[len(opening) : -len(closing)], Own(closing)
    return (text,)


def fence(tag: Tag, text: str, attributes: str = "", *, always: bool = False) -> str:
    """Foreign text word for word between tags that it cannot close: where it holds such a tag, ours has another name.

    The name is made from the text, so that the same text is always sent as the same bytes; no text holds its own hash.
    `attributes`: words of ours, or checked ones. Raises `ValueError` for any other.
    """
    if not _ATTRIBUTES.fullmatch(attributes):
        raise ValueError("attributes of a tag are names and plain words")
    inside = f"{attributes}\n{text}"
    name = str(tag)
    if always or _holds(inside, (tag,)):
        name = f"{tag}-{blake2b(inside.encode(errors='surrogatepass'), digest_size=_FENCE_BYTES).hexdigest()}"
    return f"<{name}{attributes}>\n{text}\n</{name}>"


def in_brackets(text: str) -> str:
    """For a text between square brackets of ours: a bracket in it that closes nothing of its own gets a backslash."""
    return "".join(_escape_closing(text))


def one_line(name: str) -> str:
    """A name of a file or a program as one line: what would begin another one is shown as an escape."""
    return _CONTROLS.sub(lambda found: found[0].encode("unicode_escape").decode(), name)


def _escape(bracket: re.Match[str]) -> str:
    """As a function: a pattern for it would take half as long again."""
    return f"{bracket[0]}\\"


def _escape_foreign(whole: str, pieces: Iterable[str], brackets: Iterator[int]) -> Iterator[str]:
    """`brackets`: where tags begin."""
    bracket = next(brackets, None)
    end = done = 0
    for piece in pieces:
        end += len(piece)
        while bracket is not None and bracket < end:
            if not isinstance(piece, Own):
                yield f"{whole[done : bracket + 1]}\\"
                done = bracket + 1
            bracket = next(brackets, None)
    yield whole[done:]


def _enclose(tag: Tag, text: str) -> str:
    return f"<{tag}>{text}</{tag}>"


def _escape_closing(text: str) -> Iterator[str]:
    depth = done = 0
    for bracket in _SQUARE.finditer(text):
        depth += 1 if bracket[0] == "[" else -1
        if depth < 0:
            yield f"{text[done : bracket.start()]}\\]"
            depth, done = 0, bracket.end()
    yield text[done:]


def _holds(text: str, tags: tuple[Tag, ...]) -> bool:
    if next(_find_in(text, tags), None) is not None:
        return True
    return has_hidden(text) and next(_find_in(reveal(text), tags), None) is not None


def _find_in(text: str, tags: tuple[Tag, ...]) -> Iterator[int]:
    """The places of their brackets, in this reading."""
    pattern = _choose(text, tags)
    return (found.start() for found in pattern.finditer(text)) if pattern else iter(())


def _choose(text: str, tags: tuple[Tag, ...]) -> re.Pattern[str] | None:
    """None where a glance shows that there is no such tag: to prepare for all scripts takes some milliseconds."""
    if text.isascii():
        return _tags(tags, wide=False) if "<" in text else None
    return _tags(tags, wide=True) if _beginnings(tags).search(text) else None


@cache
def _tags(tags: tuple[Tag, ...], *, wide: bool) -> re.Pattern[str]:
    """Finds the bracket of a tag, if a reader would take what follows for one of these names.

    Before and between the letters may stand anything that is none: slashes, blanks, line ends, invisible characters,
    accents; where the name has a hyphen, also an entity. It need not end in a bracket. `wide`: also in letters of other
    scripts. Nothing here goes back, and no gap holds a bracket: each character is looked at a few times at most.
    """
    names = "|".join(_spell(tag, wide=wide) for tag in tags)
    types = "|".join("".join(part.capitalize() for part in re.split("[-_]", tag)) for tag in tags)
    # `list<ToolUseError>` is a type of somebody's program.
    generic = rf"(?<=\w<)(?:{types})\b"
    first = "".join(all_letters_like(tag[0]) for tag in tags) + _joined_at_the_beginning(tags) if wide else ""
    return re.compile(_open(first, rf"(?:{names})", unless=generic, wide=wide))


@cache
def _beginnings(tags: tuple[Tag, ...]) -> re.Pattern[str]:
    """Finds whatever begins, in any script, with the first letters of some of them."""
    first, second = ("".join(all_letters_like(tag[at]) for tag in tags) for at in (0, 1))
    joined = _joined_at_the_beginning(tags)
    name = (
        f"(?:[{first}]{_gap(wide=True)}[{second}{''.join(find_joined().values())}]{f'|[{joined}]' if joined else ''})"
    )
    return re.compile(_open(first + joined, name, unless=r"\\", wide=True))


def _joined_at_the_beginning(tags: tuple[Tag, ...]) -> str:
    return "".join(like for letters, like in find_joined().items() if any(tag.startswith(letters) for tag in tags))


def _open(first: str, name: str, *, unless: str, wide: bool) -> str:
    """A bracket before a name, with or without the name of a space and a colon between them.

    `first`: letters of other scripts that the name may begin with, looked at before all else because that is fast.
    """
    brackets, gap = BRACKETS if wide else "<", _gap(wide=wide)
    return rf"[{brackets}](?![\\{brackets}]|{unless})(?={gap}(?=[0-9A-Za-z{first}])(?:[0-9A-Za-z][\w.-]{{0,63}}+:{gap}){{0,3}}{name})"


def _spell(tag: Tag, *, wide: bool) -> str:
    gap = _gap(wide=wide)
    between = rf"{gap}(?:[0-9A-Za-z]{{1,8}}+;{gap})?"
    parts = (_spell_word(part, wide=wide) for part in re.split("[-_]", tag))
    return between.join(parts) + ("" if tag in OURS else r"(?!\w)")


def _spell_word(word: str, *, wide: bool) -> str:
    """Letter by letter, or several of them in one character. No two ways begin with the same one, so none is tried twice."""
    like, gap = all_letters_like if wide else letters_like, _gap(wide=wide)
    ways = {1: f"[{like(word[0])}]"}
    if wide:
        ways |= {len(letters): f"[{found}]" for letters, found in find_joined().items() if word.startswith(letters)}
    spelled = [
        way + (gap + _spell_word(word[taken:], wide=wide) if word[taken:] else "") for taken, way in ways.items()
    ]
    return spelled[0] if len(spelled) == 1 else f"(?:{'|'.join(spelled)})"


def _gap(*, wide: bool) -> str:
    others = f"[^0-9A-Za-z>\\x1b{BRACKETS}{SCRIPTS}]*+" if wide else r"[^0-9A-Za-z><\x1b]*+"
    # A terminal's colours are not to be seen. A set that is repeated by itself is looked through fast.
    return rf"{others}(?>(?!\x1b)|(?:\x1b(?:\[[0-9;:?]*+[A-Za-z])?+{others})*+)"
