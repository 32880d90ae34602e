"""What a tool brought, in a few lines."""

from collections.abc import Callable, Iterator
from typing import Any

from everturn.cli.demo.lines import Line, Span, Style, line
from everturn.core.events import CallEnded
from everturn.tools.shown import BashShown, EditShown, GrepShown, TextShown

_MOST = 8
"""Lines of a result; of a command's output, the last ones."""
_CHANGES = {"+": Style.GOOD, "-": Style.BAD}


def render_remark(event: CallEnded) -> str:
    passed = f"{event.duration_s:.2f} s"
    match event.shown:
        case BashShown(exit_code=code) if code:
            return f"exit code {code}, {passed}"
        case TextShown(file=file):
            return f"{file.num_lines} lines, {passed}"
        case _ if event.is_error:
            return f"failed, {passed}"
        case _:
            return passed


def render_result(shown: Any, shorten: Callable[[str], str]) -> list[Line]:
    match shown:
        case BashShown(stdout=output):
            return [_row(shorten(text)) for text in telling_lines(output)]
        case GrepShown(content=str(content)):
            return [_row(text) for text in content.splitlines()[:_MOST]]
        case EditShown(structured_patch=hunks):
            changed = (text for hunk in hunks for text in hunk.lines if text[:1] in _CHANGES)
            return [_row(text, _CHANGES[text[:1]]) for text in changed]
        case _:
            return []


def telling_lines(output: str) -> list[str]:
    """The end of the output without its rules and blanks; from the last error on, where one is named."""
    rows = [text for text in output.splitlines() if text.strip(" -=")]
    errors = [at for at, text in enumerate(rows) if text.split(":")[0].endswith("Error")]
    return rows[errors[-1] :][:_MOST] if errors else rows[-_MOST:]


def render_changes(diff: str) -> Iterator[Line]:
    for text in diff.splitlines():
        head = text.startswith(("diff ", "index ", "--- ", "+++ ", "@@"))
        yield line("  ", Span(text, Style.FAINT if head else _CHANGES.get(text[:1], Style.PLAIN)))


def _row(text: str, style: Style = Style.FAINT) -> Line:
    return line(Span("  │ ", Style.FAINT), Span(text, style))
