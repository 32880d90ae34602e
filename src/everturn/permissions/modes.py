"""Permission modes: the policy that the gate asks right before each call."""

from collections.abc import Iterable
from enum import StrEnum
from typing import Any

from everturn.core.errors import OptionError, ToolFault
from everturn.permissions.domains import host_of, judge_domain, parse_domain_rule
from everturn.ports.outputs import Outputs
from everturn.ports.policy import Call, Ruling, Verdict
from everturn.ports.tool import Access
from everturn.workspace.paths import is_inside, locate

_READERS = frozenset({"Read", "Glob", "Grep"})
_SEARCHERS = frozenset({"Glob", "Grep"})
_OWN_MATTERS = frozenset({"TaskOutput", "TaskStop", "TodoWrite", "ToolSearch"})
"""They touch only what the session itself has: nobody is asked."""
_QUESTIONS = frozenset({"AskUserQuestion", "EnterPlanMode", "ExitPlanMode"})
"""Asked in plan mode, too: they change nothing but what the person has decided."""
_EDITORS = frozenset({"Write", "Edit", "NotebookEdit"})


class Mode(StrEnum):
    DEFAULT = "default"
    """Reads inside the folder; asks for the rest."""
    ACCEPT_EDITS = "acceptEdits"
    """Edits inside the folder, too."""
    BYPASS = "bypassPermissions"
    """Everything that the deny list does not name."""
    PLAN = "plan"
    """Nothing that changes anything."""
    DONT_ASK = "dontAsk"
    """What would be asked is denied."""


class ModePolicy:
    """`ports.policy.Policy` and `ports.modes.Modes`. `mode` may be changed at any time and counts from the next call on."""

    def __init__(
        self,
        mode: str,
        folder: str,
        *,
        allow: Iterable[str] = (),
        deny: Iterable[str] = (),
        outputs: Outputs | None = None,
    ) -> None:
        """`allow` and `deny` hold names of tools, and rules such as `WebFetch(domain:example.com)`. Raises `OptionError`.

        `outputs` are files outside the folder that may be read as if they were inside.
        """
        self._mode = self._before_plan = Mode.DEFAULT
        self.mode = mode
        self._folder = folder
        self._allow = _names("allow", allow)
        self._deny = _names("deny", deny)
        self._outputs = outputs or Outputs()

    @property
    def mode(self) -> Mode:
        return self._mode

    @mode.setter
    def mode(self, mode: str) -> None:
        try:
            chosen = Mode(mode)
        except ValueError:
            raise OptionError("permission_mode", f"must be one of {', '.join(Mode)}, not {mode!r}") from None
        if self._mode is not Mode.PLAN:
            self._before_plan = self._mode
        self._mode = chosen

    def switch(self, mode: str) -> None:
        self.mode = mode

    def leave_plan(self) -> str:
        if self._mode is Mode.PLAN:
            self._mode = self._before_plan
        return str(self._mode)

    def judge(self, call: Call) -> Verdict:
        verdict = self._judge(call)
        if verdict.ruling is Ruling.ASK and self.mode is Mode.DONT_ASK:
            return Verdict(ruling=Ruling.DENY, reason=f"mode dontAsk: {verdict.reason}, and nobody is asked")
        return verdict

    def _judge(self, call: Call) -> Verdict:
        if rule := _find_rule(self._deny, call):
            return Verdict(ruling=Ruling.DENY, reason=f"the deny list names {rule}")
        if self.mode is Mode.BYPASS and not call.traits.needs_person:
            return self._allowed()
        if self.mode is Mode.PLAN and not call.traits.read_only and call.name not in _QUESTIONS:
            return Verdict(ruling=Ruling.DENY, reason=f"mode plan: {call.name} may change something")
        if call.traits.needs_person:
            return self._judge_question(call)
        if rule := _find_rule(self._allow, call):
            return Verdict(ruling=Ruling.ALLOW, reason=f"the allow list names {rule}")
        if call.name in _OWN_MATTERS and call.traits.access is Access.READ:
            return self._allowed()
        if call.name in _READERS and call.traits.access is Access.READ:
            near = self._stays_inside(call) or self._is_output(call)
            return self._allowed() if near else self._ask("reading outside the working folder")
        if self.mode is Mode.PLAN and call.traits.access is not Access.NETWORK:
            return self._allowed()
        if self.mode is Mode.ACCEPT_EDITS and call.name in _EDITORS and call.traits.access is Access.EDIT:
            return self._allowed() if self._stays_inside(call) else self._ask("writing outside the working folder")
        return self._ask(f"{call.name} needs approval")

    def _judge_question(self, call: Call) -> Verdict:
        """Nobody is bothered with a switch to where we are."""
        if call.name == "EnterPlanMode" and self.mode is Mode.PLAN:
            return Verdict(ruling=Ruling.DENY, reason="plan mode is already on")
        if call.name == "ExitPlanMode" and self.mode is not Mode.PLAN:
            return Verdict(ruling=Ruling.DENY, reason="plan mode is not on, so there is nothing to leave")
        return self._ask(f"{call.name} is for the person to answer")

    def _stays_inside(self, call: Call) -> bool:
        place = self._locate(call)
        return place is not None and is_inside(self._folder, place)

    def _is_output(self, call: Call) -> bool:
        return self._locate(call) in self._outputs

    def _locate(self, call: Call) -> str | None:
        """Links followed. A search without a path is of the folder; a file tool without one is nobody's."""
        field = "notebook_path" if call.name == "NotebookEdit" else "file_path"
        given: Any = call.input.get("path", ".") if call.name in _SEARCHERS else call.input.get(field)
        if not isinstance(given, str):
            return None
        try:
            return locate(self._folder, given)
        except (ToolFault, OSError):
            return None

    def _allowed(self) -> Verdict:
        return Verdict(ruling=Ruling.ALLOW, reason=f"mode {self.mode}")

    def _ask(self, reason: str) -> Verdict:
        return Verdict(
            ruling=Ruling.ASK, reason=reason if self.mode is Mode.DONT_ASK else f"mode {self.mode}: {reason}"
        )


def _find_rule(rules: frozenset[str], call: Call) -> str | None:
    """The rule that covers the call: its tool's name, or a domain that it would reach."""
    if call.name in rules:
        return call.name
    host = host_of(call.input) if call.name == "WebFetch" else None
    if host is None:
        return None
    patterns = {rule: parse_domain_rule(rule) for rule in sorted(rules)}
    return next((rule for rule, pattern in patterns.items() if pattern and judge_domain(pattern, host)), None)


def _names(field: str, names: Iterable[str]) -> frozenset[str]:
    if isinstance(names, str):
        raise OptionError(field, f"must be a list of tool names, not the text {names!r}")
    chosen = frozenset(names)
    for name in sorted(chosen, key=str):
        if not isinstance(name, str) or not name.strip():
            raise OptionError(field, f"must hold names of tools, not {name!r}")
        if not name.replace("_", "").replace("-", "").isalnum() and parse_domain_rule(name) is None:
            raise OptionError(
                field, f"{name!r} is more than a tool's name; rules with specifiers are not supported yet"
            )
    return chosen
