"""How a command's end reads, for the model in words and for programs in fields: what its exit code means, whether it waited for input."""

import re
import signal
from typing import NamedTuple

import msgspec

from everturn.core.patterns import compile_late
from everturn.ports.tool import ToolResult
from everturn.tools.result_types import BashShown

_LONG_S = 10
_MINUTE_S = 60
_ANSWERS = {
    "grep": "nothing matched",
    "egrep": "nothing matched",
    "fgrep": "nothing matched",
    "rg": "nothing matched",
    "git grep": "nothing matched",
    "find": "some places could not be searched",
    "diff": "the files differ",
    "git diff": "there are differences",
    "test": "the condition is false",
    "[": "the condition is false",
    "[[": "the condition is false",
}
_SEPARATORS = frozenset(";|&\n")
_ENDS = frozenset({"done", "fi", "}"})
_BEGINS = frozenset({"do", "then", "else", "{"})
_SETTLED = frozenset(
    {"cd", "echo", "printf", "export", "pwd", "true", ":", "set", "mkdir", "sleep", "cat", "ls", "source", "."}
)
"""Where one of them fails it says so, or cannot: behind `&&` the code is that of what follows."""
_SHOWN = 60
_LAST_LINES = 2_000
_WANTED = compile_late(
    r"""(?xi)
      /dev/tty\b | \bnot\ a\ (?:tty|terminal)\b | \bnot\ from\ a\ terminal\b | \bmust\ be\ run\ from\ a\ terminal\b
    | \ba\ (?:terminal|password)\ is\ required\b | \bno\ tty\ present\b | \binput\ device\ is\ not\ a\ tty\b
    | \bterminal\ prompts\ disabled\b | \bcould\ not\ read\ (?:username|password)\b | \bread_passphrase\b
    | \bEOF\ (?:when|while)\ reading\b | \bEOFError\b | \bunexpected\ (?:EOF|end\ of\ file)\ on\ (?:stdin|input)\b
    | \bhost\ key\ verification\ failed\b | \bInappropriate\ ioctl\ for\ device\b
    """
)
_ASKS = compile_late(
    r"(?i)(?:\[y/n\]|\(y(?:es)?/no?\)|password(?:\ for\ [^:\n]*)?:|\[yes/no\]|continue\?)[^\n]{0,20}\Z"
)
NOTE = (
    "The command seems to have waited for input. There is no terminal and nobody types here: "
    "give the answer by an option (such as --yes), a variable, or a pipe."
)


class Ended(msgspec.Struct, frozen=True, kw_only=True):
    """A command that is no longer ours to wait for."""

    command: str
    output: str
    opening: str = ""
    """Why it was ended, or where it went; empty where it came to its own end."""
    code: int | None = None
    """Negative: a signal's number. None: it was ended, or goes on."""
    notices: tuple[str, ...] = ()
    duration_s: float = 0.0
    interrupted: bool = False
    timed_out_after_ms: int | None = None
    background_task_id: str | None = None
    saved_path: str | None = None
    saved_bytes: int | None = None


def render_ended(ended: Ended) -> ToolResult:
    meaning = judge_exit(ended.command, ended.code) if ended.code else None
    goes_on = ended.background_task_id is not None
    failed = not goes_on and (bool(ended.opening) or (ended.code != 0 and meaning is None))
    opening = ended.opening or (render_exit(ended.code or 0) if failed else "")
    remark = remark_exit(ended.command, ended.code) if ended.code else ""
    took = f"(Took {render_seconds(ended.duration_s)}.)" if ended.duration_s >= _LONG_S and not ended.opening else ""
    waited = judge_waiting(ended.output) if failed and not ended.interrupted else ()
    notices = "\n".join((*ended.notices, *waited))
    parts = [part for part in (opening, ended.output, remark, took, notices) if part]
    return ToolResult(
        content="\n".join(parts) or "(no output)",
        is_error=failed,
        shown=BashShown(
            stdout=ended.output,
            stderr=notices,
            interrupted=ended.interrupted,
            is_image=False,
            exit_code=ended.code if ended.code is not None and ended.code >= 0 else None,
            signal=name_signal(ended.code) if ended.code is not None and ended.code < 0 else None,
            duration_ms=round(ended.duration_s * 1000),
            timed_out_after_ms=ended.timed_out_after_ms,
            background_task_id=ended.background_task_id,
            return_code_interpretation=meaning,
            persisted_output_path=ended.saved_path,
            persisted_output_size=ended.saved_bytes,
        ),
    )


def judge_waiting(output: str) -> tuple[str, ...]:
    return (NOTE,) if wanted_input(output) else ()


def render_seconds(seconds: float) -> str:
    if seconds < _MINUTE_S:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), _MINUTE_S)
    return f"{minutes} min {rest} s"


class CommandPart(NamedTuple):
    """A simple command of a line."""

    joint: str
    """The operator in front of it; empty for the first one."""
    words: list[str]

    @property
    def answer(self) -> str | None:
        """What its exit code 1 means where that is a normal answer."""
        match self.words:
            case ["git", name, *_]:
                return _ANSWERS.get(f"git {name}")
            case [name, *_]:
                return _ANSWERS.get(name.rpartition("/")[2])
            case _:
                return None


def judge_exit(command: str, code: int) -> str | None:
    """The meaning of exit code 1 where it is a normal answer of the last program, else None."""
    parts = _list_parts(command) if code == 1 else []
    return parts[-1].answer if parts and not _may_be_earlier(parts) else None


def remark_exit(command: str, code: int) -> str:
    """Which command of a line has ended with 1, and what that means; empty where it has no other meaning than a failure."""
    parts = _list_parts(command) if code == 1 else []
    meaning = parts[-1].answer if parts else None
    if meaning is None:
        return ""
    if all(part.joint == "|" for part in parts[1:]):
        return f"(Exit code 1: {meaning}.)"
    text = " ".join(parts[-1].words)
    shown = text if len(text) <= _SHOWN else f"{text[: _SHOWN - 1]}…"
    if _may_be_earlier(parts):
        return f"(If {shown!r} ran, exit code 1 means that {meaning}; else a command before it has failed.)"
    return f"(Exit code 1: {meaning}, by the last command, {shown!r}. It says nothing of those before it.)"


def _may_be_earlier(parts: list[CommandPart]) -> bool:
    """The last one may not have run: a command in front of its `&&` would have failed."""
    for before, part in zip(reversed(parts[:-1]), reversed(parts), strict=False):
        if part.joint not in {"&&", "|"}:
            return False
        if part.joint == "&&" and before.words[:1] and before.words[0] not in _SETTLED:
            return True
    return False


def render_exit(code: int) -> str:
    """A signal reads as a shell would say it: 128 and its number."""
    if code >= 0:
        return f"Exit code {code}"
    return f"Exit code {128 - code} ({name_signal(code)})"


def name_signal(code: int) -> str:
    """Of a negative exit code. Real-time signals have numbers only."""
    try:
        return signal.Signals(-code).name
    except ValueError:
        return f"signal {-code}"


def may_go_on(command: str) -> bool:
    """When its time is up, in the background. Not what only waits, what holds a repository's lock, or what we cannot read."""
    tokens = _split(command)
    return bool(tokens) and tokens[0] != "sleep" and not any(token.rpartition("/")[2] == "git" for token in tokens)


def _split(command: str) -> list[str]:
    """Words and operators; none where the text cannot be read."""
    from shlex import shlex

    lexer = shlex(command, posix=True, punctuation_chars="();<>|&\n")
    lexer.whitespace = " \t\r"
    lexer.whitespace_split = True
    try:
        return list(lexer)
    except ValueError:
        return []


def _list_parts(command: str) -> list[CommandPart]:
    """Their assignments, and keywords around them, left out; none where the text cannot be read."""
    parts: list[CommandPart] = []
    joint, words = "", list[str]()
    for token in (*_split(command), ";"):
        if not _SEPARATORS.issuperset(token):
            words.append(token)
            continue
        while words and (words[0] in _BEGINS or not words[0].strip("()") or re.match(r"\w+=", words[0])):
            words.pop(0)
        words = [word for word in words if word.strip("()")]
        if words and words[0] not in _ENDS:
            parts.append(CommandPart(joint, words))
        # Line ends behind an operator add nothing to it.
        joint = token.strip("\n") or (joint if not words else "\n")
        words = []
    return parts


def wanted_input(output: str) -> bool:
    """From the end of what a failed command printed."""
    end = output[-_LAST_LINES:].rstrip()
    return bool(_WANTED.search(end) or _ASKS.search(end))
