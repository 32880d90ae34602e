"""Settings that change while a session runs: what tightens counts at once, what loosens waits until a person agrees. Pure.

The administrator's word counts at once either way: nobody in the session could have written it.
"""

from collections.abc import Iterable

import msgspec

from everturn.permissions.rules.rule import Rule, Source
from everturn.ports.policy import Ruling
from everturn.ports.rules import WrittenBan, WrittenFolder

RuleKey = tuple[Ruling, str, str | None, str]
MAX_TOLD = 5
_DROPPED = {Ruling.DENY: "no longer denies", Ruling.ASK: "no longer asks about"}


class FileRules(msgspec.Struct, frozen=True, kw_only=True):
    """The permissions of all settings files, parsed."""

    rules: tuple[Rule, ...] = ()
    folders: tuple[WrittenFolder, ...] = ()
    no_bypass: tuple[WrittenBan, ...] = ()
    managed_by_others: bool = True
    """See `ports.rules.Permissions`."""

    @property
    def paths(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(folder.path for folder in self.folders))


class Loosening(msgspec.Struct, frozen=True, kw_only=True):
    """The changes that would let more run, and wait for a person."""

    allows: tuple[Rule, ...] = ()
    drops: tuple[Rule, ...] = ()
    """Deny and ask rules that were removed from their files."""
    folders: tuple[WrittenFolder, ...] = ()
    unbans: tuple[WrittenBan, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.allows or self.drops or self.folders or self.unbans)

    @property
    def content(self) -> frozenset[object]:
        """For comparisons: equal changes are equal here, on whichever lines they are written."""
        rules = (key_of(rule) for rule in (*self.allows, *self.drops))
        return frozenset((*rules, *(folder.path for folder in self.folders), *self.unbans))

    @property
    def lines(self) -> tuple[str, ...]:
        """The changes, a line for each with its file, for a person."""
        return (
            *(f"{rule.origin} allows {rule.text}" for rule in self.allows),
            *(f"{_file_of(rule)} {_DROPPED[rule.ruling]} {rule.text}" for rule in self.drops),
            *(f"{folder.origin} adds the working folder {folder.path}" for folder in self.folders),
            *(f"{ban.origin} no longer switches bypassPermissions off" for ban in self.unbans),
        )

    @property
    def summary(self) -> str:
        """The changes in one line."""
        more = len(self.lines) - MAX_TOLD
        return "; ".join(self.lines[:MAX_TOLD]) + (f"; and {more:,} more" if more > 0 else "")


def key_of(rule: Rule) -> RuleKey:
    """Two rules with the same key say the same, in whichever file they are."""
    return rule.ruling, rule.tool, rule.specifier, rule.folder


def tighten(held: FileRules, now: FileRules) -> FileRules:
    """The rules from now on, where `held` were in force and the files now have `now`: every restriction stays."""
    loose = [rule for rule in held.rules if not _is_firm(rule.source, now)]
    known = {key_of(rule) for rule in loose}
    said = {key_of(rule) for rule in now.rules if not _is_firm(rule.source, now)}
    counting = [
        rule
        for rule in now.rules
        if rule.ruling is not Ruling.ALLOW or _is_firm(rule.source, now) or key_of(rule) in known
    ]
    kept = [rule for rule in loose if rule.ruling is not Ruling.ALLOW and key_of(rule) not in said]
    paths = {folder.path for folder in held.folders if not _is_firm(folder.source, now)}
    bans = (ban for ban in held.no_bypass if not _is_firm(ban.source, now))
    return FileRules(
        rules=(*counting, *kept),
        folders=tuple(each for each in now.folders if _is_firm(each.source, now) or each.path in paths),
        no_bypass=tuple(dict.fromkeys((*now.no_bypass, *bans))),
        managed_by_others=now.managed_by_others,
    )


def add_restrictions(held: FileRules, now: FileRules) -> FileRules:
    """As `tighten`, if a file could not be read: its rules stay in force as they were."""
    known = {key_of(rule) for rule in held.rules}
    new = (rule for rule in now.rules if rule.ruling is not Ruling.ALLOW and key_of(rule) not in known)
    bans = (ban for ban in now.no_bypass if ban not in held.no_bypass)
    return msgspec.structs.replace(
        held, rules=(*held.rules, *new), no_bypass=(*held.no_bypass, *bans), managed_by_others=now.managed_by_others
    )


def find_loosening(held: FileRules, now: FileRules) -> Loosening:
    """What `now` would let run beyond `held`, the result of `tighten`."""
    counting, said = ({key_of(rule) for rule in one.rules} for one in (held, now))
    return Loosening(
        allows=_once(rule for rule in now.rules if key_of(rule) not in counting),
        drops=_once(rule for rule in held.rules if key_of(rule) not in said),
        folders=tuple(folder for folder in now.folders if folder.path not in held.paths),
        unbans=() if now.no_bypass else held.no_bypass,
    )


def agree_to(held: FileRules, rules: Iterable[Rule]) -> FileRules:
    """Adds rules that a person has agreed to: they count as soon as a file has them."""
    return msgspec.structs.replace(held, rules=(*held.rules, *rules))


def _is_firm(source: str, now: FileRules) -> bool:
    return source == Source.MANAGED and now.managed_by_others


def _once(rules: Iterable[Rule]) -> tuple[Rule, ...]:
    return tuple({key_of(rule): rule for rule in rules}.values())


def _file_of(rule: Rule) -> str:
    return rule.origin.rpartition(":")[0] or rule.origin
