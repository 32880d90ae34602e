"""Runs commands for real under strace, one after the other, and tells of each what it opened, wrote and started."""

import re
import shlex
import subprocess
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path

CALLS = (
    "open,openat,creat,execve,execveat,unlink,unlinkat,rename,renameat,renameat2,mkdir,mkdirat,rmdir,link,linkat,symlink,"
    "symlinkat,truncate,chmod,fchmod,fchmodat,chown,fchown,fchownat,utime,utimes,utimensat,mknod,mknodat,setxattr,connect,kill"
)
_LINE = re.compile(r"^\d+ +(\w+)\((.*?)(?:\) += (-?\d+|\?)| <unfinished \.\.\.>$)")
_STRING = re.compile(r'"((?:[^"\\]|\\.)*)"')
_WRITING = re.compile(r"O_WRONLY|O_RDWR|O_CREAT|O_TRUNC")
_HARMLESS = ("/dev/null", "/dev/tty", "/proc/self/")
_PATIENCE_S = 600
_ENVIRONMENT = {
    "PATH": "/usr/bin:/bin",
    "LC_ALL": "C",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_PAGER": "cat",
}


@dataclass
class Trace:
    """What one command did."""

    opened: set[str] = field(default_factory=set)
    """As the program named them."""
    wrote: list[str] = field(default_factory=list)
    started: list[str] = field(default_factory=list)


def run_traced(commands, folder, home, log):
    """The traces of the commands, each a list of words, run in `folder`."""
    script = ["ulimit -t 10 -f 100000 -v 4000000"]
    for number, words in enumerate(commands):
        # Opening what is not there leaves a mark in the log.
        script.append(f"{{ : <MARK/{number}; }} 2>/dev/null")
        script.append(f"{shlex.join(words)} </dev/null >/dev/null 2>&1")
    done = Path(log).with_suffix(".sh")
    done.write_text("\n".join(script) + "\n", encoding="utf-8")
    tracer = ["strace", "-f", "--seccomp-bpf", "-qqq", "-s", "4096", "-e", f"trace={CALLS}", "-e", "signal=none"]
    subprocess.run(
        [*tracer, "-o", str(log), "bash", "--norc", str(done)],
        cwd=folder,
        env={**_ENVIRONMENT, "HOME": str(home)},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        timeout=_PATIENCE_S,
        check=False,
    )
    return _read(log, len(commands))


def _read(log, count):
    traces = defaultdict(Trace)
    number = None
    for line in Path(log).read_text(encoding="utf-8", errors="replace").splitlines():
        found = _LINE.match(line)
        if found is None:
            continue
        call, given, result = found.groups(default="")
        names = _STRING.findall(given)
        if names and names[0].startswith("MARK/"):
            number = int(names[0].removeprefix("MARK/"))
        elif number is not None:
            _note(traces[number], call, given, names, failed=result.startswith("-"))
    assert number == (count - 1 if count else None), "the last commands were not reached"
    return [traces[number] for number in range(count)]


def _note(trace, call, given, names, *, failed):
    if call in {"open", "openat", "creat"}:
        name = names[0] if names else ""
        if name.startswith(_HARMLESS):
            return
        if call == "creat" or _WRITING.search(given):
            # That it failed is luck.
            trace.wrote.append(f"{call}({given})")
        elif not failed:
            trace.opened.add(name)
    elif call in {"execve", "execveat"}:
        if not failed:
            trace.started.append(names[0] if names else "")
    elif call != "connect" or "AF_INET" in given:
        trace.wrote.append(f"{call}({given})")
