"""What a call would do, as a person reads it before they consent: the command, the change, the address. Pure."""

from typing import Any

import msgspec

from everturn.frontends.ansi import CYAN, DIM, RED
from everturn.frontends.asking.dialogue import Shown
from everturn.ports.policy import Call
from everturn.ports.tool import Confinement

MOST_ROWS = 40
MOST_COMMAND_ROWS = 200
"""At once. What is not seen is not consented to: the rest is asked for, page by page, before a yes is possible."""
GREEN = "32"


class Subject(msgspec.Struct, frozen=True, kw_only=True):
    title: str
    texts: tuple[Shown, ...]
    most: int = MOST_ROWS


def render_subject(call: Call) -> Subject:
    """Fields that the call does not have are not shown: the model's input may hold anything."""
    given = call.input
    match call.name:
        case "Bash":
            return Subject(title=_bash_title(call), texts=_bash(given), most=MOST_COMMAND_ROWS)
        case "Edit":
            every = " everywhere" if given.get("replace_all") is True else ""
            change = (*_lines(given.get("old_string"), "-", RED), *_lines(given.get("new_string"), "+", GREEN))
            return Subject(title=f"Edit wants to change a file{every}", texts=(_path(given, "file_path"), *change))
        case "Write":
            title = "Write wants to write a whole file"
            return Subject(title=title, texts=(_path(given, "file_path"), *_lines(given.get("content"), "+", GREEN)))
        case "NotebookEdit":
            what = f"{given.get('edit_mode', 'replace')} cell {given.get('cell_id', '')}"
            texts = (_path(given, "notebook_path"), Shown(what, DIM), *_lines(given.get("new_source"), "+", GREEN))
            return Subject(title="NotebookEdit wants to change a notebook", texts=texts)
        case "WebFetch":
            texts = (Shown(_text(given.get("url")), CYAN), Shown(_text(given.get("prompt")), DIM))
            return Subject(title="WebFetch wants to fetch a page", texts=texts)
        case "sandbox.network":
            where = Shown(f"{_text(given.get('host'))}, port {_text(given.get('port'))}", CYAN)
            title = "A command in the sandbox wants to connect to a host"
            return Subject(title=title, texts=(where, *_bash(given)), most=MOST_COMMAND_ROWS)
        case _:
            return Subject(title=f"{call.name} wants to run", texts=render_fields(given))


def render_fields(given: dict[str, Any]) -> tuple[Shown, ...]:
    """Every field, as it came."""
    return tuple(Shown(f"{name}: {_text(value)}") for name, value in given.items()) or (Shown("(no input)", DIM),)


def _bash_title(call: Call) -> str:
    where = " outside the sandbox" if call.traits.confinement is Confinement.LEAVES else ""
    how = " in the background" if call.input.get("run_in_background") is True else ""
    return f"Bash wants to run a command{where}{how}"


def _bash(given: dict[str, Any]) -> tuple[Shown, ...]:
    said = given.get("description")
    why = (Shown(f"# {said}", DIM),) if isinstance(said, str) and said else ()
    return (Shown(_text(given.get("command")), CYAN), *why)


def _path(given: dict[str, Any], field: str) -> Shown:
    return Shown(_text(given.get(field)), CYAN)


def _lines(value: Any, sign: str, codes: str) -> tuple[Shown, ...]:
    """A line that is broken at the width is still one line of the change: the sign stands only before its first row."""
    lines = _text(value).split("\n")
    if len(lines) > 1 and not lines[-1]:
        lines.pop()
    return tuple(Shown(f"{sign} {line}", codes) for line in lines)


def _text(value: Any) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()
