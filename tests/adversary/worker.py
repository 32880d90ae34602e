"""A program that becomes another user, asks a policy about commands and runs what it allows: one job per line in, one answer out."""

import asyncio
import ctypes
import importlib
import json
import os
import pkgutil
import sys
from contextlib import suppress
from typing import Any

from tests.adversary.keeping import Keeper
from tests.adversary.session import Session, compare

import everturn.compose
import everturn.permissions
import everturn.sandbox
import everturn.tools.bash
from everturn.compose.lone_policy import build_call
from everturn.permissions.policy import RulePolicy

PR_SET_DUMPABLE = 4


def mark(job: dict[str, Any], text: str) -> None:
    """A line for whoever reads the system calls."""
    with suppress(OSError):
        os.rmdir(f"/adversary/{job.get('name', 'job')}/{text}")  # noqa: PTH106 - a path as text


async def run_job(job: dict[str, Any]) -> dict[str, Any]:
    os.environ.update(job.get("environment", {}))
    session = Session(job)
    keeper = Keeper(**job["kept"]) if "kept" in job else None
    # Bubblewrap is tried out: that is no doing of a command.
    walls = {"why": session.holder.walls.why, "edits": session.holder.walls.edits, "programs": session.programs}
    fresh = await session.run_next() if job.get("probes") else ""
    results: list[dict[str, Any]] = []
    ran = 0
    for number, fields in enumerate(job["commands"]):
        if ran >= job.get("most", len(job["commands"])):
            break
        mark(job, f"begin/{number}")
        result = await (session.search(fields) if "search" in fields else session.run(fields))
        mark(job, f"end/{number}")
        if "held" in result and "content" in result:
            ran += 1
            if job.get("probes"):
                result["forged"] = compare(fresh, await session.run_next(), session.folder)
            if keeper is not None:
                result["changed"] = keeper.find_changes(edits=result["held"] == "edits")
        results.append(result)
    if job.get("finishes"):
        await asyncio.gather(*(task.wait() for task in session.tasks.running))
    reports = [report.output for report in session.tasks.take_finished()]
    await session.aclose()
    return {"walls": walls, "results": results, "reports": reports}


def load_everything() -> None:
    """Another user may not see where we are installed: what is imported late must be there by now."""
    for package in (everturn.compose, everturn.permissions, everturn.sandbox, everturn.tools.bash):
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            importlib.import_module(module.name)
    for name in (
        "hashlib",
        "tempfile",
        "shutil",
        "shlex",
        "glob",
        "difflib",
        "ipaddress",
        "unicodedata",
        "copy",
        "encodings.idna",
        "encodings.latin_1",
        "concurrent.futures.thread",
    ):
        importlib.import_module(name)
    RulePolicy("default", "/").judge(build_call("Bash", {"command": "ls $(ls) | cat < a"}))


def become(user: int) -> None:
    if user != os.getuid():
        os.setgroups([])
        os.setgid(user)
        os.setuid(user)
        ctypes.CDLL(None).prctl(PR_SET_DUMPABLE, 1, 0, 0, 0)


def main() -> None:
    os.environ.pop("PYTHONPATH", None)
    load_everything()
    become(int(sys.argv[1]))
    for line in sys.stdin:
        sys.stdout.write(f"{json.dumps(asyncio.run(run_job(json.loads(line))))}\n")
        sys.stdout.flush()


main()
