"""Programs of `sed` and `awk`: the scripts for a shell that they run. For deny rules alone."""

import re
from collections.abc import Iterator
from itertools import islice

from everturn.core.patterns import compile_late
from everturn.permissions.shell.readonly.awk import is_plain_program
from everturn.permissions.shell.readonly.sed_script import is_plain_script, list_run
from everturn.permissions.shell.running.foreign_code import OPEN
from everturn.permissions.shell.running.option_values import OptionNames, find_values

_SCRIPTS = OptionNames(letters="e", names=("--expression",), valued="efl", valued_names=("--file", "--line-length"))
_MAY_RUN = compile_late(r"(?:^|[\s;{}!\d$/,|~])e(?:[\s;}]|\Z)|[^\w\s][gpiImM\d]*+e[gpiImM\d]*+(?:[;}\s]|\Z)")
"""Of a script of sed that is not understood: `e` stands where a command or a flag may stand."""
_TEXT = r"\"(?P<{}>(?:[^\"\\\n]|\\.){{0,2000}}+)\""
_SYSTEM = compile_late(rf"\bsystem[ \t]{{0,9}}\([ \t]{{0,9}}(?:{_TEXT.format('said')}[ \t]{{0,9}}\))?")
_FROM = compile_late(rf"(?:{_TEXT.format('said')}[ \t]{{0,9}})?\|&?[ \t]{{0,9}}getline")
_TO = compile_late(rf"(?<!\|)\|&?(?!\|)[ \t]{{0,9}}(?:{_TEXT.format('said')}[ \t]{{0,9}}(?=[;}}\n)]|\Z))?")
_HIDES = compile_late(r"\"(?:[^\"\\\n]|\\.)*+\"|(?:^|[({},;!~&|\n])[ \t]{0,9}/(?:[^/\\\n]|\\.)++/|#[^\n]*")
"""Of a program of awk: texts, patterns and comments."""
_UNSURE_PATTERN = compile_late(r"/[^/\n]*+\[[^\]\n]*+(?<=/)|\[\^?/")
"""A slash in a bracket expression ends the pattern for some, and not for others."""
_MAY_START = compile_late(r"^(?!-[^e])(?=.*(?:system|[|@])).*[\"{(]", re.DOTALL)
_PIPE = compile_late(r"(?<!\|)\|(?!\|)")
_GETS = compile_late(r"\|&?[ \t]{0,9}getline")
_MAX_PIPES = 16
_INDIRECT = compile_late(r"@\w")
_ODD = compile_late(r"\\(?![nt\"\\/])")


def find_run_by_sed(words: list[str]) -> Iterator[str]:
    """What `s///e` and a bare `e` run is what sed has read: nobody knows that."""
    given = list(find_values(words, _SCRIPTS))
    scripts = ["\n".join(given)] if given else []
    if not given or any(word.startswith("-i") for word in words):
        scripts.extend([word for word in words if not word.startswith("-")][:1])
    for script in scripts:
        if is_plain_script(script):
            continue
        run = list_run(script)
        if run is None:
            yield from (OPEN,) if _MAY_RUN.search(script) else ()
        else:
            yield from (each or OPEN for each in run)


def find_run_by_awk(words: list[str]) -> Iterator[str]:
    """Each word may be the program, or a part of it."""
    for word in words:
        if _MAY_START.search(word) and not is_plain_program(word):
            yield from _find_in_awk(word)


def _find_in_awk(program: str) -> Iterator[str]:
    if _UNSURE_PATTERN.search(program):
        yield OPEN
        return
    bare = _HIDES.sub('""', program)
    for calls in (_SYSTEM, _FROM):
        if (calls is _SYSTEM and "system" in bare) or (calls is _FROM and "getline" in bare):
            yield from (_say(found["said"]) for found in islice(calls.finditer(program), _MAX_PIPES))
    pipes = [] if _PIPE.search(bare) is None else list(islice(_TO.finditer(program), _MAX_PIPES + 1))
    spans = [found.span() for found in _HIDES.finditer(program)] if pipes else []
    yield from (_say(found["said"]) for found in pipes if not _is_hidden(found.start(), program, spans))
    if len(pipes) > _MAX_PIPES or _INDIRECT.search(bare):
        yield OPEN


def _is_hidden(at: int, program: str, spans: list[tuple[int, int]]) -> bool:
    """In a text, a pattern or a comment; and what `getline` reads from is another's matter."""
    return _GETS.match(program, at) is not None or any(start < at < end for start, end in spans)


def _say(said: str | None) -> str:
    if said is None or _ODD.search(said):
        return OPEN
    return said.replace('\\"', '"').replace("\\n", "\n").replace("\\t", "\t")
