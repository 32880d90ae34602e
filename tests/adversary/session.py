"""One engine's worth of policy, walls and shell, for workers: commands are judged and run as the engine does it."""

import os
import shlex
from contextlib import suppress
from typing import Any

import msgspec

from everturn.compose.holder import WITHOUT_VARIABLE, SessionHolder
from everturn.compose.lone_policy import build_call
from everturn.compose.policy import build_policy
from everturn.core.errors import EverturnError
from everturn.ports.abort import AbortSignal
from everturn.ports.files import FileStates
from everturn.ports.holding import Bounds, Holding
from everturn.ports.hooks import HookSettings, WrittenHooks
from everturn.ports.outputs import Outputs
from everturn.ports.policy import Call, Policy, Ruling, Verdict
from everturn.ports.shell_folder import ShellFolder
from everturn.ports.tasks import Tasks
from everturn.ports.tool import ToolContext, Traits
from everturn.sandbox.held.walls import MachineWalls
from everturn.sandbox.session_scratch import SessionScratch
from everturn.settings.options import Options
from everturn.settings.setup import WrittenSettings, check_options
from everturn.tools.bash import bash_tool
from everturn.tools.grep.holding import Hold
from everturn.tools.grep.query import GrepInput, Matches, Query
from everturn.tools.grep.ripgrep import find_ripgrep, run_ripgrep
from everturn.tools.grep.tool import run_grep
from everturn.workspace.temporary_folder import find_temporary_folder

NEXT = "echo ok; printf '%q\\n' \"$(pwd -P)\"; export -p"
"""What follows each case, as approved commands run: it must find the session as if nothing had been before it."""
QUOTED = "$'"
OWN = ("EVERTURN_MARK", "OLDPWD", "PWD", "SHLVL", "_=")


class Forced:
    """`ports.policy.Policy`: everything runs, and nothing but the wall is in its way."""

    def __init__(self, holding: Holding | None) -> None:
        self.holding = holding

    def prepare(self, call: Call) -> None:
        return None

    def advise(self, call: Call) -> str:
        return ""

    def judge_allowed(self, call: Call) -> Verdict:
        return self.judge(call)

    def judge_apart(self, call: Call) -> Verdict:
        return self.judge(call)

    def judge(self, call: Call) -> Verdict:
        return Verdict(ruling=Ruling.ALLOW, reason=f"the test says so of {call.name}", holding=self.holding)


class Session:
    """One engine's worth of policy, walls and shell, put together as the engine does it."""

    def __init__(self, job: dict[str, Any]) -> None:
        wanted, env = (
            job["policy"],
            {"TMPDIR": os.environ["TMPDIR"], **job["environment"], WITHOUT_VARIABLE: job.get("without", "")},
        )
        options = Options.of(
            cwd=os.path.realpath(job["folder"]),
            model="claude-test",
            permission_mode=wanted.get("mode", "default"),
            allowed_tools=wanted.get("allow", []),
            disallowed_tools=wanted.get("deny", []),
            trusted=wanted.get("trusted", True),
            try_held=wanted.get("tries", False),
        )
        hooks = tuple(WrittenHooks(event="Stop", value=each, source="user", origin="") for each in job.get("hooks", []))
        written = WrittenSettings(hooks=HookSettings(written=hooks) if hooks else None)
        setup = check_options(options, env, written)
        self.folder = str(setup.folder)
        self.tasks, self.files = Tasks(), FileStates()
        outputs, shell = Outputs(), ShellFolder()
        self.scratch = SessionScratch(tuple, find_temporary_folder(env))
        ruled, _ = build_policy(setup, env, outputs, shell, self.scratch)
        bounds = Bounds(**job.get("bounds", {}))
        self.holder = SessionHolder(
            setup,
            env,
            ruled,
            outputs=outputs,
            shell=shell,
            tell=lambda _: None,
            bounds=bounds,
            scratch=self.scratch,
        )
        ruled.find_walls = lambda: self.holder.walls
        self.bash = bash_tool(outputs, shell, only_reads=ruled.only_reads, holder=self.holder, scratch=self.scratch)
        self._frees = wanted.get("frees", False)
        """Judgement is alone: what it would have held runs free."""
        forced = wanted.get("forced")
        self.policy: Policy = Forced(Holding(**forced) if forced else None) if "forced" in wanted else ruled

    @property
    def programs(self) -> tuple[str, ...]:
        """Folders that a held command may start programs from."""
        walls = self.holder.walls
        return walls.programs if isinstance(walls, MachineWalls) else ()

    async def run(self, fields: dict[str, Any]) -> dict[str, Any]:
        try:
            call = build_call("Bash", fields)
            verdict = self.policy.judge(call)
        except EverturnError as error:
            return {"ruling": "refused", "reason": str(error)}
        told = {"ruling": str(verdict.ruling), "reason": verdict.reason, "held": describe(verdict.holding)}
        if verdict.ruling is not Ruling.ALLOW:
            return told
        try:
            holding = None if self._frees else verdict.holding
            result = await self.bash.run(self.bash.parse(fields), self.context(holding, call.traits))
        except EverturnError as error:
            return {**told, "content": f"did not start: {error}", "code": None}
        content = result.content if isinstance(result.content, str) else repr(result.content)
        saved = read_saved(getattr(result.shown, "persisted_output_path", None))
        return {**told, "content": content + saved, "code": getattr(result.shown, "exit_code", None)}

    async def search(self, fields: dict[str, Any]) -> dict[str, Any]:
        """Grep, while two names are swapped: before it they were judged, and after it they are as they were."""

        async def engine(query: Query, abort: AbortSignal, hold: Hold | None) -> Matches:
            swap(self.folder, *fields["swapped"])
            try:
                return await run_ripgrep(find_ripgrep(), query, abort, hold)
            finally:
                swap(self.folder, *fields["swapped"])

        try:
            given = msgspec.convert(fields["search"], GrepInput)
            result = await run_grep(given, self.context(None), engine, self.holder)
        except EverturnError as error:
            return {"content": f"did not search: {error}"}
        return {"content": result.content}

    async def run_next(self) -> str:
        """What an approved command prints now, but for what every shell has of its own."""
        # The case after it begins where the first one did.
        command = f"{NEXT}; cd -- {shlex.quote(self.folder)}"
        result = await self.bash.run(self.bash.parse({"command": command}), self.context(None))
        lines = str(result.content).splitlines()
        return "\n".join(line for line in lines if not line.startswith(tuple(f"declare -x {name}" for name in OWN)))

    def context(self, holding: Holding | None, traits: Traits = Traits()) -> ToolContext:  # noqa: B008 - frozen
        return ToolContext(
            folder=self.folder,
            tool_use_id="toolu_1",
            abort=AbortSignal(),
            files=self.files,
            progress=lambda _: None,
            abort_grace_s=0.5,
            tasks=self.tasks,
            holding=holding,
            traits=traits,
        )

    async def aclose(self) -> None:
        await self.tasks.aclose()
        self.scratch.close()


def swap(folder: str, one: str, other: str) -> None:
    for old, new in ((one, "between"), (other, one), ("between", other)):
        os.rename(f"{folder}/{old}", f"{folder}/{new}")  # noqa: PTH104 - paths as text


def describe(holding: Holding | None) -> str:
    return "" if holding is None else "edits" if holding.writes else "reads"


def read_saved(path: str | None) -> str:
    with suppress(OSError), open(path or "", encoding="utf-8", errors="replace") as file:  # noqa: PTH123 - may be none
        return file.read()
    return ""


def compare(fresh: str, after: str, folder: str) -> str:
    """Empty where the next command found what a first one finds; it may stand in another folder inside."""
    before = fresh.splitlines()
    now = [line for line in after.splitlines() if not line.startswith("The shell is back in ")]
    if now[:1] != ["ok"]:
        return after[:500]
    if not f"{now[1].removeprefix(QUOTED)}/".startswith((f"{folder}/", f"{folder}'/")):
        return f"it stands in {now[1]}"
    changed = set(before[2:]) ^ set(now[2:])
    return f"other exports: {sorted(changed)[:5]}" if changed else ""
