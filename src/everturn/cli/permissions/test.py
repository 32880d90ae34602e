"""`everturn permissions test`: what would happen to one call, or to every case of a file, and which rule decides."""

import asyncio
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from everturn.cli.console import complain, render_json, write
from everturn.cli.errors import UsageError
from everturn.cli.flags import resolve_mode
from everturn.cli.folder import find_named_folder
from everturn.cli.permissions.commands import MODE
from everturn.cli.syntax import JSON, Arguments
from everturn.compose import lone_policy
from everturn.compose.lone_policy import build_call
from everturn.compose.policy import GIVEN
from everturn.core.errors import InputFault
from everturn.core.state import Exit
from everturn.frontends.harmless import make_line
from everturn.permissions.judgement import Judgement
from everturn.permissions.policy import RulePolicy
from everturn.permissions.rules.rule import Rule
from everturn.permissions.rules.rule_parser import RuleProblem, parse_rule
from everturn.ports.policy import Call, Ruling

SEE = "everturn permissions test --help"
NOT_ALLOWED = 1
MISSED = 1
SUBJECT = {
    "Bash": "command",
    "Read": "file_path",
    "Edit": "file_path",
    "Write": "file_path",
    "NotebookEdit": "notebook_path",
    "Glob": "path",
    "Grep": "path",
    "WebFetch": "url",
    "WebSearch": "query",
    "Agent": "subagent_type",
    "Skill": "skill",
}
"""What the word of a test is, by its tool."""
MAX_MISSES = 20


def run_test(asked: Arguments) -> int:
    if "--cases" in asked:
        return run_cases(asked)
    call = parse_call(asked)
    policy = load_policy(asked, resolve_mode(asked.text(MODE.name)))
    judgement = policy.explain(call)
    if JSON.name in asked:
        write(f"{render_json(encode_judgement(policy, call, judgement))}\n")
    else:
        write(render_judgement(policy, call, judgement))
    return Exit.OK if judgement.ruling is Ruling.ALLOW else NOT_ALLOWED


def run_cases(asked: Arguments) -> int:
    """0 where every expectation is met, 1 where one is missed; each miss is told on standard error.

    Raises `UsageError` where there is no case: a test that tests nothing must not pass.
    """
    from everturn.cli.permissions.answers import UNKNOWN, Answerer, CaseDefaults
    from everturn.cli.permissions.cases import decode_cases

    if asked.words or "--tool" in asked or "--input" in asked:
        raise UsageError("--cases takes no COMMAND, --tool or --input: the cases name the calls", see=SEE)
    name = asked.text("--cases")
    shown = "standard input" if name == "-" else name
    policies: dict[str, RulePolicy] = {}

    def policy_here(mode: str) -> RulePolicy:
        if mode not in policies:
            policies[mode] = load_policy(asked, mode)
        return policies[mode]

    here = CaseDefaults(
        policy=policy_here,
        more=parse_more(asked, os.getcwd()),  # noqa: PTH109 - as text
        mode=resolve_mode(asked.text(MODE.name)),
    )
    answerer = Answerer(here, complain)
    misses: list[str] = []
    count = 0

    async def answer_all() -> None:
        nonlocal count
        for case in decode_cases(load_lines(name), shown):
            answer = await answerer.answer(case)
            count += 1
            write(f"{render_json(answer)}\n")
            if answer.decision == UNKNOWN or (case.is_met_by and answer.decision not in case.is_met_by):
                wanted = " or ".join(sorted(case.is_met_by, key=lambda each: each != case.expect)) or "an answer"
                misses.append(f"{case.id}: {answer.decision} instead of {wanted} ({make_line(answer.why)})")

    asyncio.run(answer_all())
    if not count:
        raise UsageError(f"{shown} holds no case: nothing was tested", see=SEE)
    for miss in misses[:MAX_MISSES]:
        complain(miss)
    if len(misses) > MAX_MISSES:
        complain(f"… and {len(misses) - MAX_MISSES:,} more")
    complain(f"{count - len(misses):,} of {count:,} cases as expected")
    return MISSED if misses else Exit.OK


def load_lines(name: str) -> Iterator[bytes]:
    try:
        if name == "-":
            yield from sys.stdin.buffer
        else:
            with Path(name).expanduser().open("rb") as file:
                yield from file
    except (OSError, ValueError) as error:
        raise UsageError(f"--cases: {name} cannot be read: {getattr(error, 'strerror', None) or error}") from None


def parse_call(asked: Arguments) -> Call:
    """Raises `UsageError`."""
    tool = asked.text("--tool") or "Bash"
    given = parse_input(asked.text("--input"))
    if asked.words:
        if tool not in SUBJECT:
            raise UsageError(f"of {tool} it is not known what {asked.words[0]!r} would be; use --input JSON", see=SEE)
        given[SUBJECT[tool]] = asked.words[0]
    elif tool in SUBJECT and SUBJECT[tool] not in given and tool not in {"Glob", "Grep"}:
        raise UsageError("this is how it is written: everturn permissions test 'git push origin main'", see=SEE)
    try:
        return build_call(tool, given)
    except InputFault as fault:
        raise UsageError(f"{tool} would refuse this: {fault}") from None


def parse_input(text: str) -> dict[str, Any]:
    if not text:
        return {}
    try:
        given = msgspec.json.decode(text, type=dict[str, Any])
    except (msgspec.DecodeError, RecursionError) as error:
        raise UsageError(f"--input must be a JSON object: {error}", see=SEE) from None
    return given


def load_policy(asked: Arguments, mode: str) -> RulePolicy:
    """The one that a run in the folder would have, with what the flags add. Raises `OptionError`, `UsageError`."""
    flags: dict[str, Any] = {field: list(asked.all(f"--{ruling}")) for ruling, field in GIVEN.items()}
    if mode:
        flags["permission_mode"] = mode
    if folder := find_named_folder(asked.text("--cwd")):
        flags["cwd"] = folder
    parse_more(asked, folder)
    policy, warnings = lone_policy.load_policy(os.environ, flags)
    for warning in warnings:
        complain(make_line(warning))
    return policy


def parse_more(asked: Arguments, folder: str) -> tuple[Rule, ...]:
    rules: list[Rule] = []
    for ruling in Ruling:
        for text in asked.all(f"--{ruling}"):
            try:
                rules.append(parse_rule(text, ruling, folder=folder, origin=f"--{ruling}"))
            except RuleProblem as problem:
                raise UsageError(f"--{ruling}: {problem}") from None
    return tuple(rules)


def encode_judgement(policy: RulePolicy, call: Call, judgement: Judgement) -> dict[str, Any]:
    from everturn.permissions.command_parts import judge_parts

    rule = judgement.rule
    parts = [
        {"part": part, "decision": each.ruling, "rule": each.rule.text if each.rule else None, "why": each.why}
        for part, each in judge_parts(policy, call)
    ]
    return {
        "decision": judgement.ruling,
        "rule": rule.text if rule else None,
        "why": judgement.why,
        "source": rule.source if rule else None,
        "origin": rule.origin or rule.source if rule else None,
        "mode": policy.mode,
    } | ({"parts": parts} if parts else {})


def render_judgement(policy: RulePolicy, call: Call, judgement: Judgement) -> str:
    from everturn.permissions.command_parts import judge_parts

    rule = judgement.rule
    decides = f"{rule.text}, {rule.ruling} rule of {rule.origin or rule.source}" if rule else "none"
    lines = [f"{judgement.ruling}: {judgement.why}", f"rule: {decides}", f"mode: {policy.mode}"]
    lines += [f"  {each.ruling}: {part}  ({each.why})" for part, each in judge_parts(policy, call)]
    return "".join(f"{make_line(line) if not line.startswith('  ') else '  ' + make_line(line)}\n" for line in lines)
