"""Reads scripts from files: one JSON script, or JSON lines with a case each; an error names the line and the field."""

import difflib
import json
import re
from pathlib import Path
from typing import Any

import msgspec

from everturn.modelserver.answer_forms import AnswerForm, BlockForm, ErrorForm
from everturn.modelserver.script_forms import ModelForm, ScriptForm, WhenForm
from everturn.modelserver.scripts import Match, Script
from everturn.modelserver.wire import Wire

_BLANKS = re.compile(r"[ \t\r\n]*")
_STEP = re.compile(r"\.([^.\[\]]+)|\[(\d+)\]")
_DECODER = json.JSONDecoder()


def line_of(text: str, path: str) -> int:
    """The line of the value at a path such as `$.answers[2].text`, or of the last part of the path that exists."""
    at = _skip(text, 0)
    for name, index in _STEP.findall(path):
        found = _member(text, at, name) if name else _element(text, at, int(index))
        if found is None:
            break
        at = found
    return text.count("\n", 0, at) + 1


def _skip(text: str, at: int) -> int:
    found = _BLANKS.match(text, at)
    return found.end() if found else at


def _member(text: str, at: int, name: str) -> int | None:
    if text[at : at + 1] != "{":
        return None
    at = _skip(text, at + 1)
    while text[at : at + 1] == '"':
        key, at = _DECODER.raw_decode(text, at)
        at = _skip(text, _skip(text, at) + 1)
        if key == name:
            return at
        at = _next(text, at)
    return None


def _element(text: str, at: int, index: int) -> int | None:
    if text[at : at + 1] != "[":
        return None
    at = _skip(text, at + 1)
    for _ in range(index):
        at = _next(text, at)
    return at


def _next(text: str, at: int) -> int:
    """Past the value at this place and the comma after it."""
    _, end = _DECODER.raw_decode(text, at)
    end = _skip(text, end)
    return _skip(text, end + 1) if text[end : end + 1] == "," else end


_WHERE = re.compile(r"(?P<what>.*?)(?: - at `(?P<path>[^`]*)`)?", re.DOTALL)
_UNKNOWN = re.compile(r"Object contains unknown field `(?P<name>.*)`", re.DOTALL)
_INNER: dict[str, type[msgspec.Struct]] = {
    "an answer": AnswerForm,
    "a block": BlockForm,
    "an error": ErrorForm,
    "an entry of `when`": WhenForm,
    "a model": ModelForm,
    "a match": Match,
    "a response": Wire,
}


class ScriptError(Exception):
    """A script that cannot be played; its text says where and why."""


def load_cases(path: Path) -> dict[str, Script]:
    """The scripts of a file by their path prefix; a script without an id has the empty one. Raises ScriptError."""
    try:
        text = path.read_text("utf-8")
    except OSError as error:
        raise ScriptError(f"the script {path} cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise ScriptError(f"the script {path} is not UTF-8 (byte {error.start})") from error
    return parse_cases(text, name=str(path))


def parse_cases(text: str, *, name: str = "script") -> dict[str, Script]:
    """The scripts of a text: one JSON document (an object, or a list of answers), or a case on each line."""
    if not text.strip():
        raise ScriptError(f"{name}: the script is empty")
    lines = [(number, line) for number, line in enumerate(text.splitlines(), 1) if line.strip()]
    if len(lines) > 1 and all(line.lstrip().startswith("{") and line.rstrip().endswith("}") for _, line in lines):
        cases: dict[str, Script] = {}
        for number, line in lines:
            identity, played = _case(line, name, number)
            if not identity:
                raise ScriptError(f"{name}:{number}: id: a case among several needs an id")
            if identity in cases:
                raise ScriptError(f"{name}:{number}: id: there is another case {identity!r}")
            cases[identity] = played
        return cases
    return dict([_case(text, name, 1)])


def _case(text: str, name: str, line: int) -> tuple[str, Script]:
    try:
        value: Any = json.loads(text)
    except json.JSONDecodeError as error:
        raise ScriptError(
            f"{name}:{line + error.lineno - 1}: this is not JSON: {error.msg} (column {error.colno})"
        ) from error
    except RecursionError as error:
        raise ScriptError(f"{name}:{line}: nested too deeply") from error
    if not isinstance(value, dict | list):
        raise ScriptError(f"{name}:{line}: a script is a list of answers, or an object with answers and settings")
    bare = isinstance(value, list)
    try:
        form = msgspec.convert({"answers": value} if bare else value, ScriptForm)
        return form.id, form.value()
    except msgspec.ValidationError as error:
        found = _WHERE.fullmatch(str(error))
        what, path = (found["what"], found["path"] or "$") if found else (str(error), "$")
        path = path.replace("$.answers", "$", 1) if bare else path
        where = f"{path.removeprefix('$').lstrip('.')}: " if path != "$" else ""
        raise ScriptError(f"{name}:{line + line_of(text, path) - 1}: {where}{_hinted(what, path)}") from error


def _hinted(what: str, path: str) -> str:
    """With the field that was probably meant, or the place that it belongs to."""
    unknown = _UNKNOWN.fullmatch(what)
    if unknown is None:
        return what
    forms = {"a script": ScriptForm} if path == "$" else _INNER
    homes = [kind for kind, form in forms.items() if unknown["name"] in form.__struct_fields__]
    if homes:
        return f"{what}; it is a field of {' and of '.join(homes)}"
    names = sorted({name for form in forms.values() for name in form.__struct_fields__})
    near = difflib.get_close_matches(unknown["name"], names, 1)
    return f"{what}{f'; did you mean `{near[0]}`?' if near else ''}"
