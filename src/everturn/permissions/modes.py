"""Permission modes: the policy that the gate asks right before each call."""

from collections.abc import Iterable
from enum import StrEnum
from typing import Any

from everturn.core.errors import OptionError, ToolFault
from everturn.ports.policy import Call, Ruling, Verdict
from everturn.ports.tool import Access
from everturn.workspace.paths import is_inside, locate

_READERS = frozenset({"Read", "Glob", "Grep"})
_SEARCHERS = frozenset({"Glob", "Grep"})
_EDITORS = frozenset({"Write", "Edit"})


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
    """`ports.policy.Policy`. `mode` may be changed at any time and counts from the next call on."""

    def __init__(self, mode: str, folder: str, *, allow: Iterable[str] = (), deny: Iterable[str] = ()) -> None:
        """`allow` and `deny` hold bare names of tools. Raises `OptionError`."""
        self.mode = mode
        self._folder = folder
        self._allow = _names("allow", allow)
        self._deny = _names("deny", deny)

    @property
    def mode(self) -> Mode:
        return self._mode

    @mode.setter
    def mode(self, mode: str) -> None:
        try:
            self._mode = Mode(mode)
        except ValueError:
            raise OptionError("permission_mode", f"must be one of {', '.join(Mode)}, not {mode!r}") from None

    def judge(self, call: Call) -> Verdict:
        verdict = self._judge(call)
        if verdict.ruling is Ruling.ASK and self.mode is Mode.DONT_ASK:
            return Verdict(ruling=Ruling.DENY, reason=f"mode dontAsk: {verdict.reason}, and nobody is asked")
        return verdict

    def _judge(self, call: Call) -> Verdict:
        if call.name in self._deny:
            return Verdict(ruling=Ruling.DENY, reason=f"the deny list names {call.name}")
        if self.mode is Mode.BYPASS:
            return self._allowed()
        if self.mode is Mode.PLAN and not call.traits.read_only:
            return Verdict(ruling=Ruling.DENY, reason=f"mode plan: {call.name} may change something")
        if call.name in self._allow:
            return Verdict(ruling=Ruling.ALLOW, reason=f"the allow list names {call.name}")
        if call.name in _READERS and call.traits.access is Access.READ:
            return self._allowed() if self._stays_inside(call) else self._ask("reading outside the working folder")
        if self.mode is Mode.PLAN:
            return self._allowed()
        if self.mode is Mode.ACCEPT_EDITS and call.name in _EDITORS and call.traits.access is Access.EDIT:
            return self._allowed() if self._stays_inside(call) else self._ask("writing outside the working folder")
        return self._ask(f"{call.name} needs approval")

    def _stays_inside(self, call: Call) -> bool:
        """Links followed. A search without a path is of the folder; a file tool without one is nobody's."""
        given: Any = call.input.get("path", ".") if call.name in _SEARCHERS else call.input.get("file_path")
        if not isinstance(given, str):
            return False
        try:
            return is_inside(self._folder, locate(self._folder, given))
        except (ToolFault, OSError):
            return False

    def _allowed(self) -> Verdict:
        return Verdict(ruling=Ruling.ALLOW, reason=f"mode {self.mode}")

    def _ask(self, reason: str) -> Verdict:
        return Verdict(
            ruling=Ruling.ASK, reason=reason if self.mode is Mode.DONT_ASK else f"mode {self.mode}: {reason}"
        )


def _names(field: str, names: Iterable[str]) -> frozenset[str]:
    if isinstance(names, str):
        raise OptionError(field, f"must be a list of tool names, not the text {names!r}")
    chosen = frozenset(names)
    for name in sorted(chosen, key=str):
        if not isinstance(name, str) or not name.strip():
            raise OptionError(field, f"must hold names of tools, not {name!r}")
        if not name.replace("_", "").replace("-", "").isalnum():
            raise OptionError(
                field, f"{name!r} is more than a tool's name; rules with specifiers are not supported yet"
            )
    return chosen
