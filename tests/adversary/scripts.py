"""Small programs for commands that attack: Python with the system calls at hand."""

from tests.needs import find_system_python

PYTHON = find_system_python()
"""One that a held command may start."""
CALLS = (
    "import ctypes, errno, fcntl, mmap, os, socket, struct, sys, time",
    "libc = ctypes.CDLL(None, use_errno=True)",
    "def call(*words):",
    "    answer = libc.syscall(*(ctypes.c_long(w) if isinstance(w, int) else w for w in words))",
    "    return answer if answer >= 0 else -ctypes.get_errno()",
    "def attempt(work):",
    "    try:",
    "        print(work())",
    "    except (OSError, ValueError) as error:",
    "        print(error)",
)


def python(*lines):
    text = "\n".join((*CALLS, *lines))
    return f"{PYTHON} -I -S - <<'END'\n{text}\nEND"


def attempt(*lines):
    """Each by itself: one that is refused does not keep the next from its try."""
    return python(*(f"attempt(lambda: {line})" for line in lines))
