"""A program that becomes another user and runs commands in the sandbox: one job per line in, one answer per line out."""

import asyncio
import ctypes
import importlib
import json
import os
import pkgutil
import shlex
import sys
from typing import Any

from msgspec.structs import replace

import everturn.sandbox
import everturn.tools.bash
import everturn.workspace
from everturn.core.errors import ToolFault
from everturn.ports.abort import AbortSignal
from everturn.ports.files import FileStates
from everturn.ports.tasks import Tasks
from everturn.ports.tool import Inquiry, ToolContext
from everturn.sandbox.command_sandbox import CommandSandbox, SandboxSurroundings
from everturn.sandbox.probe import find_means
from everturn.sandbox.settings import parse_sandbox_settings
from everturn.tools.bash import bash_tool

PR_SET_DUMPABLE = 4


def become(user: int) -> None:
    """What is imported lazily must be there by now: this user may not see where we are installed."""
    for package in (everturn.sandbox, everturn.tools.bash, everturn.workspace):
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            importlib.import_module(module.name)
    importlib.import_module("hashlib")
    shlex.split("a")
    asyncio.run(look_up())
    for codec in ("idna", "ascii", "latin-1"):
        "".encode(codec)
    if user != os.getuid():
        os.setgroups([])
        os.setgid(user)
        os.setuid(user)
        ctypes.CDLL(None).prctl(PR_SET_DUMPABLE, 1, 0, 0, 0)


async def look_up() -> None:
    await asyncio.get_running_loop().getaddrinfo("127.0.0.1", 80)


async def run_job(job: dict[str, Any]) -> dict[str, Any]:
    folder = job["folder"]
    os.environ.update(job.get("environment", {}))
    means = find_means(without=job.get("without", ""))
    if "landlock" in job:
        means = replace(means, version=job["landlock"])
    sandbox = CommandSandbox(
        parse_sandbox_settings({"enabled": True, **job.get("settings", {})}, folder, job.get("home", "/nonexistent")),
        means,
        SandboxSurroundings(
            folders=(folder,),
            home=job.get("home", "/nonexistent"),
            own=tuple(job.get("own", ())),
            code=tuple(job.get("code", ())),
        ),
        asks="answers" in job,
    )
    bash, tasks, person = bash_tool(sandbox=sandbox), Tasks(), Person(job.get("answers", {}))
    results = [await run_command(bash, tasks, folder, fields, person) for fields in job["commands"]]
    if job.get("waits"):
        await asyncio.sleep(1000)
    if job.get("finishes"):
        await asyncio.gather(*(task.wait() for task in tasks.running))
    reports = tasks.take_finished()
    temporary = sandbox.temporary
    await tasks.aclose()
    return {
        "kind": means.kind,
        "results": results,
        "asked": person.asked,
        "reports": [report.output for report in reports],
        "temporary": temporary,
        "left": os.path.exists(temporary),  # noqa: ASYNC240, PTH110 - a path as text
    }


class Person:
    """Answers by the port: null for a yes, else why not."""

    def __init__(self, answers: dict[str, str | None]) -> None:
        self.answers = answers
        self.asked: list[dict[str, Any]] = []

    async def inquire(self, inquiry: Inquiry) -> str | None:
        self.asked.append(inquiry.input)
        return self.answers[str(inquiry.input["port"])]


async def run_command(bash: Any, tasks: Tasks, folder: str, fields: dict[str, Any], person: Person) -> dict[str, Any]:
    abort = AbortSignal()
    after = fields.pop("abort_when", None)
    context = ToolContext(
        folder=folder,
        tool_use_id="toolu_1",
        abort=abort,
        files=FileStates(),
        progress=lambda _: None,
        abort_grace_s=fields.pop("grace_s", 60.0),
        tasks=tasks,
        inquire=person.inquire,
    )
    running = asyncio.ensure_future(bash.run(bash.parse(fields), context))
    while after and not os.path.exists(after):  # noqa: ASYNC110, ASYNC240, PTH110 - the world announces nothing
        await asyncio.sleep(0.005)
    began = asyncio.get_running_loop().time()
    if after:
        abort.abort()
    try:
        result = await running
    except ToolFault as fault:
        return {"content": str(fault), "is_error": True, "code": None, "lasted_s": 0.0}
    lasted = asyncio.get_running_loop().time() - began
    return {"content": result.content, "is_error": result.is_error, "code": result.shown.exit_code, "lasted_s": lasted}


def main() -> None:
    del os.environ["PYTHONPATH"]
    become(int(sys.argv[1]))
    for line in sys.stdin:
        sys.stdout.write(f"{json.dumps(asyncio.run(run_job(json.loads(line))))}\n")
        sys.stdout.flush()


main()
