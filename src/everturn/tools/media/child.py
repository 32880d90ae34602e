"""The child process: one job as its argument, the file on standard input, one answer on standard output."""

import sys
from contextlib import suppress

import msgspec

from everturn.tools.media.jobs import Job, MediaAnswer, PictureJob

_MAX_MEMORY = 2_000_000_000
_MAX_SECONDS = 60
_STARTS = (
    "subprocess.Popen",
    "os.exec",
    "os.fork",
    "os.forkpty",
    "os.posix_spawn",
    "os.spawn",
    "os.system",
    "pty.spawn",
    "socket.",
)
"""Beginnings of the events by which Python tells that a program is started or a connection made."""


def main() -> None:
    _limit_self()
    sys.addaudithook(refuse_starting)
    job = msgspec.json.decode(sys.argv[1], type=Job)
    data = sys.stdin.buffer.read()
    answer = _run(job, data)
    sys.stdout.buffer.write(msgspec.json.encode(answer))


def _run(job: Job, data: bytes) -> MediaAnswer:
    try:
        if isinstance(job, PictureJob):
            from everturn.tools.media.pictures import run_picture

            return run_picture(data)
        from everturn.tools.media.pdf import run_pdf

        return run_pdf(data, job.pages)
    except ImportError as error:
        return MediaAnswer(problem=f"cannot be shown: {error.name} is not installed")
    except Exception as error:  # noqa: BLE001 - decoders raise anything on broken input; the parent wants a sentence
        return MediaAnswer(problem=f"cannot be decoded ({type(error).__name__})")


def refuse_starting(event: str, _: object) -> None:
    """A decoder decodes. Some formats have their decoder start another program on the file: that would run what the file says."""
    if event.startswith(_STARTS):
        raise PermissionError(f"a decoder may not do this: {event}")


def _limit_self() -> None:
    """A file made to exhaust the machine ends this process only."""
    import resource

    for kind, most in ((resource.RLIMIT_AS, _MAX_MEMORY), (resource.RLIMIT_CPU, _MAX_SECONDS)):
        _, hard = resource.getrlimit(kind)
        # Some systems know a limit and do not let it be set.
        with suppress(ValueError, OSError):
            resource.setrlimit(kind, (most if hard == resource.RLIM_INFINITY else min(most, hard), hard))
