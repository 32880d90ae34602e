"""What a call would do, as text for the question whether it may run: the command, the change, the address. Pure."""

from typing import Any

import msgspec

from everturn.frontends.ansi import CYAN, DIM, RED
from everturn.frontends.asking.dialogue import Shown
from everturn.ports.policy import Call
from everturn.ports.tool import Confinement

MAX_ROWS = 40
MAX_COMMAND_ROWS = 200
"""At once. What is not seen is not consented to: the rest is asked for, page by page, before a yes is possible."""
MAX_COMPARED = 40_000
"""Lines of the old text times lines of the new one."""
GREEN = "32"


class Subject(msgspec.Struct, frozen=True, kw_only=True):
    title: str
    texts: tuple[Shown, ...]
    most: int = MAX_ROWS


def render_subject(call: Call) -> Subject:
    """Fields that the call does not have are not shown: the model's input may hold anything."""
    given = call.input
    match call.name:
        case "Bash":
            return Subject(title=_bash_title(call), texts=_bash(given), most=MAX_COMMAND_ROWS)
        case "Edit":
            every = " everywhere" if given.get("replace_all") is True else ""
            change = _change(given.get("old_string"), given.get("new_string"))
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
            return Subject(title=title, texts=(where, *_bash(given)), most=MAX_COMMAND_ROWS)
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
    return (Shown(_text(given.get("command")), CYAN, "bash"), *why)


def _path(given: dict[str, Any], field: str) -> Shown:
    return Shown(_text(given.get(field)), CYAN)


def _change(old: Any, new: Any) -> tuple[Shown, ...]:
    """Lines that stay are shown once. Where the texts differ in how their last line ends, or are long, all of both is shown."""
    before, after = _text(old), _text(new)
    gone, come = before.split("\n"), after.split("\n")
    if before.endswith("\n") != after.endswith("\n") or len(gone) * len(come) > MAX_COMPARED:
        return (*_lines(old, "-", RED), *_lines(new, "+", GREEN))
    if before.endswith("\n"):
        # What follows the last line feed is no line.
        del gone[-1], come[-1]
    from difflib import SequenceMatcher

    rows: list[Shown] = []
    for kind, first, end, new_first, new_end in SequenceMatcher(None, gone, come, autojunk=False).get_opcodes():
        if kind == "equal":
            rows += [Shown(f"  {line}", DIM) for line in gone[first:end]]
        else:
            rows += [Shown(f"- {line}", RED) for line in gone[first:end]]
            rows += [Shown(f"+ {line}", GREEN) for line in come[new_first:new_end]]
    return tuple(rows)


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
