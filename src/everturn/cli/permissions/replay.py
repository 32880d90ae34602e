"""`everturn permissions replay RULE`: what a new rule would have changed in past sessions, counted and with examples."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from everturn.cli.console import complain, render_json, write
from everturn.cli.errors import UsageError
from everturn.cli.folder import find_folder
from everturn.cli.sessions.lookup import find_session
from everturn.cli.syntax import JSON, Arguments
from everturn.compose.lone_policy import build_call, load_policy
from everturn.core.errors import EverturnError, JournalError
from everturn.core.records import CallRefused, MessageAdded, SessionOpened
from everturn.core.spelled_paths import spell_path
from everturn.core.state import Exit
from everturn.frontends.figures import render_count
from everturn.frontends.harmless import make_line
from everturn.permissions.policy import RulePolicy
from everturn.permissions.rules.rule import Rule, Source
from everturn.permissions.rules.rule_parser import RuleProblem, parse_rule
from everturn.ports.policy import Call, Ruling
from everturn.sessions.session_files import load_opening, stream_newest_first, stream_told
from everturn.settings.program_files import program_home

SEE = "everturn permissions replay --help"
MAX_EXAMPLES = 3
MAX_GROUPS = 1_000
MAX_POLICIES = 64


class PastCall(msgspec.Struct, frozen=True, kw_only=True):
    call: Call
    was_denied: bool


class Group(msgspec.Struct, kw_only=True):
    """Calls of a kind that the rule would have decided otherwise."""

    before: str
    """What is decided about them today."""
    count: int = 0
    denied: int = 0
    """Of them, those that were not allowed then."""
    examples: list[str] = []


class RuleTally(msgspec.Struct, kw_only=True):
    rule: str
    decision: str
    sessions: int = 0
    calls: int = 0
    changed: int = 0
    groups: dict[str, Group] = {}

    def add(self, past: PastCall, before: Ruling) -> None:
        self.changed += 1
        key = f"{before} {group_of(past.call)}"
        if key not in self.groups and len(self.groups) >= MAX_GROUPS:
            key = f"{before} (others)"
        group = self.groups.setdefault(key, Group(before=before))
        group.count += 1
        group.denied += past.was_denied
        if len(group.examples) < MAX_EXAMPLES and past.call.line not in group.examples:
            group.examples.append(past.call.line)


def run_replay(asked: Arguments) -> int:
    if "--session" in asked and "--all" in asked:
        raise UsageError("--session and --all cannot be given together", see=SEE)
    if "--ask" in asked and "--deny" in asked:
        raise UsageError("--ask and --deny cannot be given together: a rule says one thing", see=SEE)
    ruling = next((kind for kind in (Ruling.DENY, Ruling.ASK) if f"--{kind}" in asked), Ruling.ALLOW)
    folder, home = find_folder(), program_home(os.environ)
    try:
        rule = parse_rule(asked.words[0], ruling, source=Source.SESSION, folder=str(folder))
    except RuleProblem as problem:
        raise UsageError(str(problem)) from None
    tally = RuleTally(rule=rule.text, decision=ruling)
    judges = Judges(rule)
    for path in find_files(asked, home, folder):
        replay_session(path, judges, tally)
    if JSON.name in asked:
        write(f"{render_json(encode_tally(tally))}\n")
    else:
        write(render_tally(tally) if tally.calls else render_no_past(asked, tally, folder))
    return Exit.OK


def find_files(asked: Arguments, home: Path, folder: Path) -> Iterator[Path]:
    """Those of the present folder, the newest first; `--all` of every folder."""
    if "--session" in asked:
        yield find_session(home, folder, asked.text("--session"))
        return
    for path in stream_newest_first(home):
        opened = load_opening(path)
        if opened is not None and ("--all" in asked or opened.folder == spell_path(str(folder))):
            yield path


class Judges:
    """By the folder of a session: the policy of today, and the same with the rule."""

    def __init__(self, rule: Rule) -> None:
        self._rule = rule
        self._known: dict[str, tuple[RulePolicy, RulePolicy]] = {}

    def of(self, folder: str) -> tuple[RulePolicy, RulePolicy]:
        """For a folder that is no longer there, those of the present one. Raises `OptionError`."""
        if folder not in self._known:
            place = folder if Path(folder).is_dir() else str(find_folder())
            policy, _ = load_policy(os.environ, {"cwd": place, "permission_mode": "default"})
            rule = msgspec.structs.replace(self._rule, folder=place)
            if len(self._known) >= MAX_POLICIES:
                self._known.clear()
            self._known[folder] = policy, policy.imagine((rule,))
        return self._known[folder]


def replay_session(path: Path, judges: Judges, tally: RuleTally) -> None:
    """A message at a time, however long the session is. One that cannot be read is told and passed over."""
    tally.sessions += 1
    folder = ""
    try:
        for told in stream_calls(path):
            if isinstance(told, str):
                folder = told
                continue
            tally.calls += 1
            today, then = judges.of(folder or str(find_folder()))
            before, after = today.judge(told.call).ruling, then.judge(told.call).ruling
            if before is not after and after is Ruling(tally.decision):
                tally.add(told, before)
    except JournalError as error:
        complain(str(error))


def stream_calls(path: Path) -> Iterator[PastCall | str]:
    """Each call when its result has come, and a text when the folder is told. Calls without a result come last."""
    waiting: dict[str, Call] = {}
    denied: set[str] = set()
    for told, _ in stream_told(path):
        record = told.record
        if isinstance(record, SessionOpened):
            yield record.folder
        if isinstance(record, CallRefused):
            denied.add(record.tool_use_id)
        if not isinstance(record, MessageAdded):
            continue
        for block in map(_decode, record.blocks):
            if record.role == "assistant" and block.get("type") == "tool_use":
                if (call := _rebuild(block)) is not None:
                    waiting[call.id] = call
            elif block.get("type") == "tool_result" and (done := waiting.pop(block.get("tool_use_id", ""), None)):
                yield PastCall(call=done, was_denied=done.id in denied)
    for call in waiting.values():
        yield PastCall(call=call, was_denied=False)


def _rebuild(block: dict[str, Any]) -> Call | None:
    """None for what no tool would have taken."""
    name, input_, call_id = block.get("name"), block.get("input"), block.get("id")
    if not isinstance(name, str) or not isinstance(input_, dict) or not isinstance(call_id, str):
        return None
    try:
        return build_call(name, input_, call_id=call_id)
    except EverturnError:
        return None


def _decode(raw: msgspec.Raw) -> dict[str, Any]:
    try:
        block = msgspec.json.decode(raw)
    except (msgspec.DecodeError, RecursionError):
        return {}
    return block if isinstance(block, dict) else {}


def group_of(call: Call) -> str:
    """A command by its first two words, a page by its host, anything else by its tool."""
    match call.name:
        case "Bash":
            return " ".join(["Bash", *str(call.input.get("command", "")).split()[:2]])
        case "WebFetch":
            from everturn.permissions.rules.domains import host_of

            return f"WebFetch {host_of(call.input) or ''}".rstrip()
        case name:
            return name


def encode_tally(tally: RuleTally) -> dict[str, Any]:
    groups = [{"calls": name.partition(" ")[2], **msgspec.to_builtins(group)} for name, group in _sorted(tally)]
    return {**msgspec.to_builtins(tally), "groups": groups}


def render_tally(tally: RuleTally) -> str:
    seen = f"{render_count(tally.calls, 'call')} of {render_count(tally.sessions, 'session')}"
    verb = {"allow": "let run", "ask": "asked about", "deny": "denied"}[tally.decision]
    if not tally.changed:
        return f"{make_line(tally.rule)} would have changed nothing in {seen}.\n"
    lines = [f"{make_line(tally.rule)} would have {verb} {tally.changed:,} of {seen}:"]
    for name, group in _sorted(tally):
        then = f", {group.denied:,} of them denied then" if group.denied else ""
        lines.append(f"{group.count:>6,}  {make_line(name.partition(' ')[2])}  (today: {group.before}{then})")
        lines += [f"          {make_line(example)}" for example in group.examples]
    return "".join(f"{line}\n" for line in lines)


def render_no_past(asked: Arguments, tally: RuleTally, folder: Path) -> str:
    """Nothing was tried: that must not be taken for a rule that changes nothing."""
    if "--session" in asked:
        return "Nothing was called in this session: there is nothing to try the rule on.\n"
    told = f"No session {'' if '--all' in asked else f'of {make_line(str(folder))} '}has called anything yet"
    if tally.sessions:
        told += f" ({render_count(tally.sessions, 'session')} without a call)"
    return f"{told}: there is nothing to try the rule on{'' if '--all' in asked else '; --all looks everywhere'}.\n"


def _sorted(tally: RuleTally) -> list[tuple[str, Group]]:
    return sorted(tally.groups.items(), key=lambda named: -named[1].count)
