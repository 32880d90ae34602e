"""What would happen to each case: commands are judged; of a case about a file the tool is really run where it is allowed."""

import asyncio
import os
import re
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any

import msgspec

from everturn.cli.permissions.cases import CaseRules, PermissionCase
from everturn.cli.permissions.worlds import CaseFiles, SetupError, full_disk, made_files, unprivileged
from everturn.compose.lone_policy import build_call, find_machine_walls
from everturn.core.errors import EverturnError, InputFault
from everturn.core.modes import PermissionMode
from everturn.permissions.policy import RulePolicy
from everturn.permissions.rules.rule import Rule, Source
from everturn.permissions.rules.rule_parser import RuleProblem, parse_rule
from everturn.permissions.rules_in_force import Workplace
from everturn.ports.abort import AbortSignal
from everturn.ports.files import FileStates
from everturn.ports.holding import Walls
from everturn.ports.policy import Call, Ruling, Verdict
from everturn.ports.tool import Access, Tool, ToolContext, ToolResult, Traits
from everturn.workspace.paths import is_inside

USER, PROJECT = "/home/dev", "/home/dev/proj"
"""Where the commands of cases with rules of their own run. The folders need not be there: nothing is."""
TOOLS = {"read": "Read", "edit": "Edit", "write": "Write"}
UNKNOWN = "unknown"
"""The decision about a case whose files cannot be made; never what was expected."""
MAX_WAIT_S = 20.0
MAX_REPLACED = 100_000
_TIME = re.compile(r"<\s*(\d+(?:\.\d+)?)\s*s\b")


class PermissionAnswer(msgspec.Struct, frozen=True, kw_only=True):
    id: str
    decision: str
    why: str
    rule: str | None = None


class CaseDefaults(msgspec.Struct, frozen=True, kw_only=True):
    """Where cases without rules of their own are judged."""

    policy: Callable[[str], RulePolicy]
    """By the mode; empty for the one of the settings."""
    more: tuple[Rule, ...] = ()
    """Of the command line: they hold in every case."""
    mode: str = ""


class Answerer:
    def __init__(self, here: CaseDefaults, warn: Callable[[str], None]) -> None:
        self._here = here
        self._warn = warn
        self._warned: set[str] = set()

    async def answer(self, case: PermissionCase) -> PermissionAnswer:
        if case.op is not None and case.path is not None and (case.rules is not None or case.setup):
            try:
                with made_files() as files:
                    return await self._answer_file(case, case.path, case.op, files)
            except SetupError as problem:
                return PermissionAnswer(id=case.id, decision=UNKNOWN, why=str(problem))
        try:
            call = build_case_call(case)
        except InputFault as fault:
            return PermissionAnswer(id=case.id, decision="error", why=str(fault))
        return tell(case, self._policy(case, Workplace(folder=PROJECT, home=USER)), call)

    async def _answer_file(self, case: PermissionCase, path: str, op: str, files: CaseFiles) -> PermissionAnswer:
        tools = CaseTools(files)
        late = [step for step in case.setup if step[0] == "swap"]
        for step, *words in case.setup:
            if step == "read" and words:
                await tools.read(files.expand(words[0]))
            elif step != "swap":
                files.make(step, *words)
        place = files.expand(path)
        fields = case.args or await tools.prepare(op, place, is_read="read" in {step[0] for step in case.setup})
        try:
            call = build_call(TOOLS[op], {"file_path": place, **fields, **case.input})
        except InputFault as fault:
            return PermissionAnswer(id=case.id, decision="error", why=str(fault))
        policy = self._policy(case, Workplace(folder=str(files.folder), home=str(files.home)), files.expand)
        answer, verdict = tell(case, policy, call), policy.judge(call)
        if verdict.ruling is not Ruling.ALLOW or not tools.may_run(op, place):
            return answer
        for step, *words in late:
            files.make(step, *words)
        result = await tools.run(case, call, verdict)
        told = result.content if isinstance(result.content, str) else ""
        return msgspec.structs.replace(answer, decision="error", why=told) if result.is_error else answer

    def _policy(self, case: PermissionCase, workplace: Workplace, expand: Callable[[str], str] = str) -> RulePolicy:
        mode = case.mode or self._here.mode
        if case.rules is not None:
            rules = (*self._here.more, *self._parse(case, case.rules, workplace.folder, expand))
            return RulePolicy(
                mode or PermissionMode.DEFAULT, workplace, rules=rules, walls=partial(_find_walls, workplace)
            )
        here = self._here.policy(mode)
        if not case.setup:
            return here
        moved = (msgspec.structs.replace(rule, folder=workplace.folder) for rule in here.rules.rules)
        return RulePolicy(here.mode, workplace, rules=moved, walls=partial(_find_walls, workplace))

    def _parse(
        self, case: PermissionCase, rules: CaseRules, folder: str, expand: Callable[[str], str]
    ) -> Iterable[Rule]:
        """One that cannot work is passed over, as it would be in settings."""
        for ruling in Ruling:
            for text in getattr(rules, ruling):
                try:
                    yield parse_rule(expand(text), ruling, source=Source.PROJECT, folder=folder)
                except RuleProblem as problem:
                    if (told := str(problem)) not in self._warned:
                        self._warned.add(told)
                        self._warn(f"{case.id}: {told}")


def _find_walls(workplace: Workplace) -> Walls:
    return find_machine_walls((os.path.realpath(workplace.folder),), workplace.home)


class CaseTools:
    """The file tools of one session, at work in the folder of a case."""

    def __init__(self, files: CaseFiles) -> None:
        from everturn.tools.builtin import builtin_tools

        self._files = files
        self._tools: dict[str, Tool] = {tool.name: tool for tool in builtin_tools(set(TOOLS.values()))}
        self._context = ToolContext(
            folder=str(files.folder),
            tool_use_id="test",
            abort=AbortSignal(),
            files=FileStates(),
            progress=lambda _: None,
        )

    async def read(self, path: str) -> None:
        await self._use("Read", {"file_path": path}, self._context)

    async def prepare(self, op: str, path: str, *, is_read: bool) -> dict[str, Any]:
        """Fields for a case that names none. Who changes a file has read it, unless the case is about that."""
        if op == "read":
            return {}
        if op == "write":
            return {"content": "new"}
        before = load_text(path) or "x"
        if not is_read and self.may_run(op, path):
            await self.read(path)
        return {"old_string": before, "new_string": f"{before}y"}

    def may_run(self, op: str, path: str) -> bool:
        """Nothing outside the folder of the case is ever changed, whatever its rules allow."""
        try:
            return op == "read" or is_inside(str(self._files.root), os.path.realpath(path))
        except (OSError, ValueError):
            return True

    async def run(self, case: PermissionCase, call: Call, verdict: Verdict) -> ToolResult:
        context = msgspec.structs.replace(self._context, judged=verdict.judged)
        found = _TIME.search(case.outcome)
        max_wait_s = float(found[1]) if found else MAX_WAIT_S
        steps = {step[0] for step in case.setup}
        try:
            async with asyncio.timeout(max_wait_s):
                with ExitStack() as conditions:
                    if "chmod" in steps:
                        conditions.enter_context(unprivileged(self._files))
                    if "enospc" in steps:
                        conditions.enter_context(full_disk())
                    return await self._use(call.name, call.input, context)
        except TimeoutError:
            return ToolResult(content=f"It took longer than {max_wait_s:g} s.", is_error=True)

    async def _use(self, name: str, fields: dict[str, Any], context: ToolContext) -> ToolResult:
        """An error result instead of an error, as the engine makes it."""
        tool = self._tools[name]
        try:
            return await tool.run(tool.parse(fields), context)
        except EverturnError as error:
            return ToolResult(content=str(error), is_error=True)


def load_text(path: str) -> str:
    """Empty where there is nothing to replace; what is no ordinary file is not opened."""
    try:
        place = Path(path)
        return place.read_text("utf-8")[:MAX_REPLACED] if place.is_file() else ""
    except (OSError, ValueError):
        return ""


def build_case_call(case: PermissionCase) -> Call:
    """Raises `InputFault`."""
    if case.command is not None:
        # Not parsed: a command that the tool would refuse is judged all the same.
        input_ = {"command": case.command, **case.input}
        return Call(id=case.id, name="Bash", input=input_, traits=Traits(access=Access.EXECUTE), line=case.command)
    if case.op is not None:
        return build_call(TOOLS[case.op], {"file_path": case.path, **case.args, **case.input}, call_id=case.id)
    return build_call(case.tool or "", case.input, call_id=case.id)


def tell(case: PermissionCase, policy: RulePolicy, call: Call) -> PermissionAnswer:
    judgement = policy.explain(call)
    rule = judgement.rule.text if judgement.rule else None
    return PermissionAnswer(id=case.id, decision=judgement.ruling, why=judgement.why, rule=rule)
