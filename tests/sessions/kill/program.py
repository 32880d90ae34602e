"""The process that is killed: a session in which every kind of record occurs, with tools that leave a trace on disk.

Each event that is shown is printed at once, so that whoever killed it knows what had been acknowledged.

To start Python and load the program takes longer than the session. So this process does that once and forks: each copy is one session.
It reads its place from a line on standard input, prints its process id and waits for another line, so that it can be traced from then on.
When it has ended, `ended CODE` is printed.
"""

import asyncio
import json
import os
import sys
from ctypes import CDLL, c_long

from everturn import Engine, Options
from everturn.cli.preload import load_modules
from everturn.core.events import AnswerAdded, Continued, Event, Retracted, UserAdded

PROMPTS = ("First.", "Second.")
RULES = iter(("Use tabs.", "Use blanks."))
"""Another context with each prompt; then there is none."""
PR_SET_PTRACER, PR_SET_PTRACER_ANY = 0x59616D61, -1


def options(url: str, folder: str, home: str, **more: object) -> Options:
    return Options.of(
        base_url=url,
        cwd=folder,
        home=home,
        model="claude-sonnet-5",
        fallback_models=["claude-opus-5"],
        permission_mode="bypassPermissions",
        allowed_tools=["Bash", "Edit"],
        disallowed_tools=["Bash(true)"],
        work_budget=1,
        user_context=lambda: {name: text for name, text in [("rules", next(RULES, ""))] if text},
        models=[{"id": "claude-sonnet-5", "clears_results": False}],
        limits={
            "clear_keeps": 0,
            "clear_share": 0.001,
            "clear_gain": 0.0001,
            "result_preview": 1_000,
            "message_results": 1_500,
        },
        **more,
    )


def render(event: Event) -> str:
    """The kind of event, and the message it is about."""
    match event:
        case AnswerAdded(message=message) | UserAdded(message=message):
            id_ = message.id
        case Retracted(message_id=id_):
            pass
        case _:
            id_ = ""
    return f"{event.__struct_config__.tag} {id_}\n"


async def ask(engine: Engine, prompt: str) -> None:
    async for event in engine.submit(prompt):
        os.write(1, render(event).encode())
        if isinstance(event, Continued):
            engine.policy.mode = "acceptEdits"


async def main(url: str, folder: str, home: str) -> None:
    env = {"ANTHROPIC_API_KEY": "made-up", "EVERTURN_RETRY_SCALE": "0.001", "PATH": os.environ["PATH"]}
    async with Engine(options(url, folder, home, session_id="s"), env=env) as engine:
        engine.enqueue("Use tabs.")
        for prompt, verify in zip(PROMPTS, ("", "pwd"), strict=True):
            if verify:
                await engine.set_goal("It works.", verify)
            await ask(engine, prompt)
            first, last = engine.transcript[0].id, engine.transcript[1].id
            engine.collapses.stage(first, last, "It began.")
        earlier = engine.transcript[-3].id
    async with Engine(options(url, folder, home, resume="s", resume_at=earlier), env=env) as engine:
        await ask(engine, "Third, from an earlier message.")


def wait_for_place() -> list[str]:
    """Comes back only in copies."""
    load_modules()
    with open(0, "rb", buffering=0, closefd=False) as told:
        while line := told.readline():
            if not (copy := os.fork()):
                # Some systems let only a parent trace, unless the process agrees.
                CDLL(None).prctl(PR_SET_PTRACER, c_long(PR_SET_PTRACER_ANY))
                os.write(1, f"{os.getpid()}\n".encode())
                if not told.readline():
                    sys.exit("nobody waits for this session any more")
                return json.loads(line)
            _, status = os.waitpid(copy, 0)
            os.write(1, f"ended {os.waitstatus_to_exitcode(status)}\n".encode())
    sys.exit(0)


if __name__ == "__main__":
    asyncio.run(main(*wait_for_place()))
