"""`everturn prompt`: what the model is told before a conversation in this folder, with an estimate of the tokens of each part."""

import asyncio
import os
from collections.abc import AsyncGenerator
from typing import TYPE_CHECKING, Any

import msgspec

from everturn.cli.console import complain, write
from everturn.cli.flags import resolve_mode
from everturn.cli.syntax import JSON, Arguments
from everturn.compose.cli import Launch, plan_launch
from everturn.core.state import Exit
from everturn.core.stream import StreamEvent
from everturn.ports.policy import Ruling, Verdict
from everturn.settings.program_files import SettingsArguments, naming_way_out

if TYPE_CHECKING:
    from everturn.ports.model import Request
    from everturn.prompt.parts import PromptPart

MIN_NAME_WIDTH = 24
"""Characters of the column with the names, at least."""


class Somebody:
    """Stands for a person who could be asked. Nobody is: nothing is sent, so nothing is called."""

    async def approve(self, call: Any, reason: str) -> Verdict:  # noqa: ARG002 (what an approver is given)
        return Verdict(ruling=Ruling.DENY, reason="nobody was asked")


class SilentModel:
    """`ports.model.Model` that is never asked, so that no key is needed."""

    async def stream(self, request: "Request") -> AsyncGenerator[StreamEvent]:
        raise RuntimeError(f"nothing is sent to {request.model}")
        yield

    async def count_tokens(self, request: "Request") -> int:
        raise RuntimeError(f"nothing is sent to {request.model}")

    async def aclose(self) -> None:
        return


def run_prompt(asked: Arguments) -> int:
    """Raises `OptionError`."""
    flags = {"permission_mode": resolve_mode(asked.text("--mode")), "model": asked.text("--model")}
    launch = plan_launch(
        {name: value for name, value in flags.items() if value}, os.environ, SettingsArguments(trust="--trust" in asked)
    )
    for warning in launch.warnings:
        complain(warning)
    write(render(asyncio.run(list_prompt(launch, person="--person" in asked)), asked))
    return Exit.OK


async def list_prompt(launch: Launch, *, person: bool) -> "tuple[PromptPart, ...]":
    from everturn.compose.system import begin_count

    # Before the engine is loaded, so that git has counted when it is asked.
    git = begin_count(launch.setup, launch.env)
    from everturn.compose.engine import Engine, build_parts
    from everturn.compose.prompt import list_prompt_parts
    from everturn.compose.world import World

    changes = {"persist": False, "approver": Somebody() if person else None}
    options = msgspec.structs.replace(launch.options, **changes)
    setup = msgspec.structs.replace(launch.setup, options=options)
    launch.memory.tell = complain
    with naming_way_out(launch.roots):
        engine = Engine(parts=build_parts(setup, World(env=launch.env, model=SilentModel(), git=git)))
    async with engine:
        return list_prompt_parts(engine, setup)


def render(parts: "tuple[PromptPart, ...]", asked: Arguments) -> str:
    if JSON.name in asked:
        return encode(parts)
    if "--counts" in asked:
        return render_counts(parts)
    return f"{render_text(parts)}\n{render_counts(parts)}"


def render_text(parts: "tuple[PromptPart, ...]") -> str:
    """The words themselves, as they are sent."""
    from everturn.frontends.harmless import make_harmless
    from everturn.prompt.parts import ENVIRONMENT

    lines: list[str] = []
    place = ""
    for part in parts:
        if part.place != place:
            place = part.place
            lines += ["", f"===== {place} ====="] if lines else [f"===== {place} ====="]
        lines += [f"{part.name}: {part.text}"] if place == ENVIRONMENT else ["", f"# {part.name}", part.text]
    return make_harmless("\n".join(lines)) + "\n"


def render_counts(parts: "tuple[PromptPart, ...]") -> str:
    from everturn.frontends.harmless import make_line
    from everturn.prompt.parts import count_tokens

    width = max(MIN_NAME_WIDTH, *(len(part.name) + 4 for part in parts))
    lines = ["Tokens, about (four bytes to a token):"]
    for place in dict.fromkeys(part.place for part in parts):
        inside = [part for part in parts if part.place == place]
        lines.append(f"{place:<{width}}{count_tokens(inside):>7,}")
        lines += [f"  {make_line(part.name):<{width - 2}}{part.tokens:>7,}" for part in inside]
    lines.append(f"{'total':<{width}}{count_tokens(parts):>7,}")
    return "\n".join(lines) + "\n"


def encode(parts: "tuple[PromptPart, ...]") -> str:
    from everturn.prompt.parts import count_tokens

    page = {"tokens": count_tokens(parts), "parts": [msgspec.structs.asdict(part) for part in parts]}
    return msgspec.json.format(msgspec.json.encode(page), indent=2).decode() + "\n"
