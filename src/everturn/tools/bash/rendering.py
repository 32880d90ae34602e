"""How a command's end reads: for the model in words, for programs in the public fields."""

import msgspec

from everturn.ports.tool import ToolResult
from everturn.tools.bash.exits import judge_exit, name_signal, render_exit
from everturn.tools.shown import BashShown

_LONG_S = 10
_MINUTE_S = 60


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
    remark = f"(Exit code 1: {meaning}.)" if meaning else ""
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
    from everturn.tools.bash.stdin import NOTE, wanted_input

    return (NOTE,) if wanted_input(output) else ()


def render_seconds(seconds: float) -> str:
    if seconds < _MINUTE_S:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), _MINUTE_S)
    return f"{minutes} min {rest} s"
