"""What a program did to the world, told by its system calls: programs started, connections made, files written."""

import asyncio
import os
import re
import signal
import sys
from pathlib import Path
from typing import Any

import msgspec

PATIENCE_S = 300.0
CALLS = (
    "execve,execveat,connect,sendto,sendmsg,open,openat,openat2,creat,mkdir,mkdirat,rename,renameat,renameat2,unlink,"
    "unlinkat,link,linkat,symlink,symlinkat,truncate,mknod,mknodat,chmod,fchmodat"
)
WRITES = re.compile(r"O_WRONLY|O_RDWR|O_CREAT|O_TRUNC|O_APPEND")
NAMED = re.compile(r'(?:AT_FDCWD(?:<(?P<cwd>[^>]*)>)?|\d+<(?P<at>[^>]*)>)?,? ?"(?P<path>(?:[^"\\]|\\.)*)"')


class Traced(msgspec.Struct, frozen=True, kw_only=True):
    code: int
    out: str
    err: str
    started: list[str]
    """Programs, besides our own."""
    reached: list[str]
    """Addresses of the network."""
    written: list[str]
    """Files that were opened for writing, made, moved or removed."""


async def run_traced(program: Any, *words: str, env: dict[str, str] | None = None) -> Traced:
    """Whoever calls this needs strace."""
    log = program.folder.parent / "calls"
    strace = ("strace", "-f", "-q", "-y", "--seccomp-bpf", "-s", "4096", "-o", str(log), "-e", f"trace={CALLS}")
    process = await asyncio.create_subprocess_exec(
        *(*strace, sys.executable, "-B", "-m", "everturn", *words),
        cwd=program.folder,
        env={**program.env, **(env or {})},
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        start_new_session=True,
    )
    try:
        async with asyncio.timeout(PATIENCE_S):
            out, err = await process.communicate()
    finally:
        if process.returncode is None:
            # The program goes on without its tracer, and holds the pipes.
            os.killpg(process.pid, signal.SIGKILL)
            await process.wait()
    lines = log.read_text("utf-8", "replace").splitlines()
    assert process.returncode is not None
    return Traced(
        code=process.returncode,
        out=out.decode(),
        err=err.decode(),
        started=find_started(lines),
        reached=find_reached(lines),
        written=find_written(lines, program.folder),
    )


def find_started(lines: list[str]) -> list[str]:
    """The first is the program itself."""
    return [line for line in lines if " execve" in line and line.rstrip().endswith(" = 0")][1:]


def find_reached(lines: list[str]) -> list[str]:
    """Over the network; a socket of this machine's own kind is no network."""
    found = []
    for line in lines:
        if "AF_INET" in line:
            port = re.search(r"sin6?_port=htons\((\d+)\)", line)
            host = re.search(r'inet_addr\("([^"]+)"\)|inet_pton\(AF_INET6, "([^"]+)"', line)
            found.append(f"{(host[1] or host[2]) if host else '?'}:{port[1] if port else '?'}")
    return sorted(set(found))


def find_written(lines: list[str], folder: Path) -> list[str]:
    found = []
    for line in lines:
        call = re.match(r"\d+ +(\w+)\(", line)
        if call is None or " = -1 " in line or call[1] in {"execve", "execveat", "connect", "sendto", "sendmsg"}:
            continue
        if call[1].startswith("open") and not WRITES.search(line):
            continue
        for named in NAMED.finditer(line):
            base = named["at"] or named["cwd"] or str(folder)
            found.append(os.path.normpath(Path(base, named["path"])))
    return sorted({path for path in found if path != "/dev/null"})
