"""The engine in Python, from inside: walks, ignores and matches as ripgrep does."""

import codecs
import os
import re
import time
from collections.abc import Iterator

from everturn.core.errors import ToolFault
from everturn.tools.grep.filetypes import is_of_type
from everturn.tools.grep.ignore import IgnoreRule, IgnoreRules, judge_rules, load_rules, load_rules_around, parse_rule
from everturn.tools.grep.query import FileMatches, FoundLine, Matches, Query
from everturn.workspace.files import load_bytes

_MAX_LINES = 100_000
_MAX_FILES = 200_000
"""Held at once; after as many, no further file is searched."""

_LOOKS_AROUND = re.compile(r"\\[AZz]|\(\?[=!<]")
"""A pattern that can tell the end of a line from the end of the text."""


def search_tree(query: Query, max_wait_s: float) -> Matches:
    """What is found within so many seconds, and within what may be held."""
    expression = compile_pattern(query)
    deadline = time.monotonic() + max_wait_s
    found: list[FileMatches] = []
    held = 0
    for name in [query.file] if query.file else _walk(query):
        if held > _MAX_LINES or len(found) > _MAX_FILES or time.monotonic() > deadline:
            return Matches(files=tuple(found), complete=False)
        text = _load(os.path.join(query.root, name))  # noqa: PTH118 (a name need not be text)
        if text and (matches := search_text(text, expression, query)):
            found.append(FileMatches(path=name, count=matches[0], lines=matches[1]))
            held += len(matches[1])
    return Matches(files=tuple(found))


def search_text(text: str, expression: re.Pattern[str], query: Query) -> tuple[int, tuple[FoundLine, ...]] | None:
    """The count, and the lines where the mode wants them; None when nothing matches."""
    if not query.multiline:
        # A CRLF is one line end to a search by lines; a match across lines sees the file as it is.
        text = text.replace("\r\n", "\n")
        if not _LOOKS_AROUND.search(query.pattern) and not expression.search(text):
            # What matches a line by itself matches in the whole text, too; most files end here.
            return None
    lines = text.removesuffix("\n").split("\n")
    hits = _spans(text, expression) if query.multiline else _by_line(lines, expression)
    if not hits:
        return None
    count = len(hits) if query.multiline else len({first for first, _, _ in hits})
    if query.mode != "content":
        return count if query.mode == "count" else 0, ()
    if query.only:
        return 0, tuple(
            FoundLine(first + at, part.removesuffix("\r"), matched=True)
            for first, _, part in hits
            for at, part in enumerate(part.split("\n"))
            if part
        )
    matched = {number for first, last, _ in hits for number in range(first, last + 1)}
    wanted = {near for at in matched for near in range(at - query.before, at + query.after + 1)}
    return 0, tuple(
        FoundLine(number, lines[number - 1].removesuffix("\r"), number in matched)
        for number in sorted(wanted)
        if 1 <= number <= len(lines)
    )


def compile_pattern(query: Query) -> re.Pattern[str]:
    """Raises `ToolFault`."""
    flags = re.MULTILINE | (re.IGNORECASE if query.ignore_case else 0) | (re.DOTALL if query.multiline else 0)
    try:
        return re.compile(query.pattern, flags)
    except (re.error, OverflowError, RecursionError) as error:
        raise ToolFault(f"The pattern is not a valid regular expression: {error}.") from None


def _by_line(lines: list[str], expression: re.Pattern[str]) -> list[tuple[int, int, str]]:
    return [(at, at, found[0]) for at, line in enumerate(lines, 1) for found in expression.finditer(line)]


def _spans(text: str, expression: re.Pattern[str]) -> list[tuple[int, int, str]]:
    """First line, last line and text of each match."""
    hits = []
    number, seen = 1, 0
    for found in expression.finditer(text):
        if found.start() == len(text) and text.endswith("\n"):
            # Behind the last line end is no line.
            continue
        number += text.count("\n", seen, found.start())
        seen = found.start()
        hits.append((number, number + found[0].removesuffix("\n").count("\n"), found[0]))
    return hits


def _load(path: str) -> str:
    """Empty for what is binary, special or unreadable."""
    try:
        data, _ = load_bytes(path)
    except ToolFault:
        return ""
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return data.decode("utf-16", "replace")
    if b"\0" in data:
        return ""
    return data.removeprefix(codecs.BOM_UTF8).decode("utf-8", "replace")


def _walk(query: Query) -> Iterator[str]:
    globs = (*query.globs, *query.closed)
    filters = tuple(rule for rule in map(_filter, globs) if rule is not None)
    # As an override, a plain pattern keeps what fits and drops all other files.
    chooses = any(rule.keeps for rule in filters)
    folders: list[tuple[str, str, IgnoreRules]] = [(query.root, "", load_rules_around(query.root))]
    while folders:
        folder, prefix, rules = folders.pop()
        for entry in _entries(folder):
            name = prefix + entry.name
            is_folder = entry.is_dir(follow_symlinks=False)
            kept = judge_rules(filters, name, is_folder=is_folder)
            if kept is None:
                kept = not rules.ignores(entry.path, is_folder=is_folder) and (is_folder or not chooses)
                kept = kept and (is_folder or query.type is None or is_of_type(query.type, name))
            if not kept:
                continue
            if is_folder:
                folders.append(
                    (entry.path, f"{name}/", load_rules(entry.path, rules, in_repository=rules.in_repository))
                )
            elif entry.is_file(follow_symlinks=False):
                yield name


def _filter(glob: str) -> IgnoreRule | None:
    """A glob option is a line of an ignore file, the other way round."""
    rule = parse_rule(glob)
    return IgnoreRule(rule.fits, not rule.keeps, rule.folders_only) if rule else None


def _entries(folder: str) -> "Iterator[os.DirEntry[str]]":
    """One after the other: a folder may hold a million of them. What cannot be listed is left out."""
    try:
        with os.scandir(folder) as entries:
            yield from entries
    except OSError:
        return
