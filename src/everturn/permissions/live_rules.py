"""The rules of settings files that are in force during a session, and those that wait for a person."""

from typing import TYPE_CHECKING

import msgspec

from everturn.permissions.rules.written import find_missing, parse_written
from everturn.ports.rules import LivePermissions, Permissions, WrittenFile

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from everturn.permissions.rule_changes import FileRules, Loosening
    from everturn.permissions.rules.rule import Rule

UNUSABLE = "settings changed and cannot be used, so the rules from before stay in force"
HELD = "settings changed while the session runs, and these changes do not count yet"
RESTART = "a new session takes it"


class HeldBack(msgspec.Struct, frozen=True, kw_only=True):
    """A change that a person has to agree to."""

    loosening: "Loosening"
    wanted: "FileRules"
    """What would count then."""


class LiveRules:
    """One for an engine: a new conversation does not let go what was held. Most sessions see no change and load nothing."""

    def __init__(self, live: LivePermissions) -> None:
        self._live = live
        self._in_force: FileRules | None = None
        self._now: FileRules | None = None
        """What the files say."""
        self._is_partial = False
        self._granted: tuple[Rule, ...] = ()
        """Rules that a person had written down in this session."""
        self._held: HeldBack | None = None
        self._refused: frozenset[object] = frozenset()
        self._told: frozenset[object] = frozenset()
        self._is_new = False

    def look(self, tell: "Callable[[str], None]") -> "FileRules | None":
        """What counts from now on; None where that has not changed. `tell` takes a notice for the person."""
        if (permissions := self._live.changed()) is not None:
            self._take(permissions, tell)
        elif not self._is_new:
            return None
        self._is_new = False
        return self._in_force

    def forget(self) -> None:
        """The next look says what counts, in any case: whoever looks has heard nothing yet."""
        self._is_new = self._in_force is not None

    @property
    def held(self) -> HeldBack | None:
        """What waits for an answer."""
        return self._held

    def agree(self, held: HeldBack) -> None:
        """By content: what the files may say by now is not agreed to by this."""
        from everturn.permissions.rule_changes import agree_to

        self._settle(agree_to(held.wanted, self._granted))
        self._is_new = True

    def refuse(self, held: HeldBack) -> None:
        """For this session, as long as it says the same."""
        self._refused = held.loosening.content
        if self._held is not None:
            self._wait_for(self._held)

    def tell_held(self, held: HeldBack, tell: "Callable[[str], None]") -> None:
        """Once for the same content."""
        if held.loosening.content != self._told:
            self._told = held.loosening.content
            tell(f"{HELD}: {held.loosening.summary} ({RESTART})")

    def note_written(self, file: "WrittenFile", rules: "Iterable[Rule]" = ()) -> None:
        """We wrote these rules to a file after a person's yes. Whatever else the file says was not agreed to."""
        from everturn.permissions.rule_changes import agree_to

        self._live.note_written(file.path, file.content)
        self._granted += tuple(rules)
        self._in_force = agree_to(self._load_in_force(), self._granted)

    def _take(self, permissions: Permissions, tell: "Callable[[str], None]") -> None:
        from everturn.permissions.rule_changes import FileRules

        for notice in permissions.notices:
            tell(notice)
        rules, warnings, problems = parse_written(permissions.rules)
        for problem in problems[:1]:
            tell(f"{UNUSABLE}: {problem}")
        for warning in (*warnings, *find_missing(permissions.paths)):
            tell(warning)
        before = self._load_in_force()
        self._is_partial = permissions.partial or bool(problems)
        self._now = FileRules(
            rules=rules,
            folders=permissions.folders,
            no_bypass=permissions.no_bypass,
            managed_by_others=permissions.managed_by_others,
        )
        self._settle(before)

    def _settle(self, agreed: "FileRules") -> None:
        from everturn.permissions.rule_changes import add_restrictions, find_loosening, tighten

        now = self._now or agreed
        self._in_force, self._held = (add_restrictions if self._is_partial else tighten)(agreed, now), None
        if not self._is_partial:
            self._wait_for(HeldBack(loosening=find_loosening(self._in_force, now), wanted=now))

    def _wait_for(self, held: HeldBack) -> None:
        self._held = held if held.loosening and held.loosening.content != self._refused else None

    def _load_in_force(self) -> "FileRules":
        from everturn.permissions.rule_changes import FileRules

        if self._in_force is None:
            start = self._live.start
            rules, _, _ = parse_written(start.rules)
            self._in_force = FileRules(rules=rules, folders=start.folders, no_bypass=start.no_bypass)
        return self._in_force
