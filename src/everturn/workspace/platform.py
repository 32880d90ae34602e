"""The operating system, for the model; found once in a process."""

import os
from functools import cache

OS_RELEASE = "/etc/os-release"
_NAME = "PRETTY_NAME="
_MAX_BYTES = 4_096


@cache
def describe_platform() -> str:
    """The system with its version, then the kernel and the machine. Looked up once in a process."""
    uname = os.uname()
    name = _load_system_name()
    kernel = f"{uname.sysname} {uname.release}, {uname.machine}"
    return f"{name}, {kernel}" if name else kernel


def _load_system_name() -> str:
    try:
        descriptor = os.open(OS_RELEASE, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return ""
    try:
        text = os.read(descriptor, _MAX_BYTES).decode(errors="replace")
    except OSError:
        return ""
    finally:
        os.close(descriptor)
    named = (line.removeprefix(_NAME) for line in text.splitlines() if line.startswith(_NAME))
    return next(named, "").strip().strip('"')
