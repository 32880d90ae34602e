"""A yes for more than one call: tried on the policy before it is offered, then added to the session or written to a file."""

from collections import deque
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

import msgspec

from everturn.core.errors import OptionError
from everturn.core.modes import PermissionMode
from everturn.core.patterns import compile_late
from everturn.permissions.policy import RulePolicy
from everturn.permissions.rules.rule import Rule, Source
from everturn.ports.exports import matters
from everturn.ports.policy import HOST_QUESTION, SETTINGS_QUESTION, Call, Offer, Ruling, Scope
from everturn.ports.rules import RuleFile
from everturn.ports.sandbox import render_target
from everturn.ports.shell_folder import ShellFolder

if TYPE_CHECKING:
    from everturn.permissions.grants import Grant
    from everturn.permissions.live_rules import LiveRules

HOST_RULE = "sandbox.network.allowedDomains: "
"""Prefix of a host in a list of rules."""
MAX_REMEMBERED = 200
MAX_SHOWN = 20
_NAMES = compile_late(r"[A-Za-z_]\w*")
_READS_ALL = compile_late(
    r"\$\{!|\b(?:eval|env|printenv|export|declare|typeset|set|compgen|source|(?:ba|da|z|k|a)?sh)\b|(?:^|[;&|\s])\.\s|[\"'\\]\w*[\"'\\]"
)
"""Commands in which the names of variables may be computed, or all variables be used."""
_GOES_BACK = compile_late(r"\b(?:cd|pushd)\s+(?:--\s+)?-|~-|OLDPWD")
UNTRUSTED = "it holds in this session at once; in later ones when you trust this folder: everturn trust"
ONLY_MANAGED = "only managed settings may allow something for longer than one call"


class PolicyGrants:
    """`ports.policy.Grants`. Most of its modules are loaded at the first question."""

    def __init__(
        self,
        policy: RulePolicy,
        *,
        folder: str,
        file: RuleFile,
        trusted: bool,
        only_managed: bool = False,
        live: "LiveRules | None" = None,
        allow_host: Callable[[str], None] | None = None,
        shell: ShellFolder | None = None,
    ) -> None:
        """`file` takes what holds for longer than the session; it counts only where the folder is `trusted`.

        `only_managed`: nobody but the administrator allows anything for longer than one call. `live` watches the file
        that is written here. `shell` knows what earlier commands have exported. `allow_host` lets commands in the sandbox reach one, the session long.
        """
        self._policy = policy
        self._folder = folder
        self._file = file
        self._trusted = trusted
        self._only_managed = only_managed
        self._live = live
        self._allow_host = allow_host
        self._shell = shell or ShellFolder()
        self._asked: deque[Call] = deque(maxlen=MAX_REMEMBERED)

    def prepare(self, call: Call) -> Call:
        from everturn.permissions.command_parts import judge_parts
        from everturn.permissions.grants import plan_grants

        if call.name == SETTINGS_QUESTION:
            return call
        if call.name == HOST_QUESTION:
            return msgspec.structs.replace(call, offers=self._offer_host(call))
        grants = () if self._only_managed else plan_grants(call)
        offers = tuple(offer for grant in grants if (offer := self._try(call, grant)) is not None)
        details = tuple(f"{each.ruling}: {part} ({each.why})" for part, each in judge_parts(self._policy, call))
        self._asked.append(call)
        call = msgspec.structs.replace(call, offers=offers, details=details)
        return self._tell_surroundings(call) if call.name == "Bash" else call

    def _tell_surroundings(self, call: Call) -> Call:
        """Adds the folder and the exported variables of a command, which the person must see before a yes."""
        exports = tuple(self._list_exports(call))
        return msgspec.structs.replace(
            call,
            folder=self._policy.elsewhere,
            exports=exports,
        )

    def _list_exports(self, call: Call) -> Iterable[str]:
        """Exported variables that decide which programs this command runs, or that it names, with their whole values; and the folder of `cd -`."""
        command = str(call.input.get("command", ""))
        exports = self._shell.list_exports(call.traits.confinement)
        named = exports.keys() if _READS_ALL.search(command) else set(_NAMES.findall(command))
        yield from (f"{name}={exports[name]}" for name in sorted(exports) if name in named or matters(name))
        unset = self._shell.list_unset(call.traits.confinement)
        yield from (f"{name} is not set" for name in sorted(unset) if name in named or matters(name))
        if self._shell.previous and _GOES_BACK.search(command):
            yield f"OLDPWD={self._shell.previous}"

    def add(self, rules: tuple[str, ...], scope: Scope) -> str:
        from everturn.permissions.rules.rule_parser import RuleProblem

        if self._only_managed:
            return f"The rule was not added: {ONLY_MANAGED}."
        if rules and all(rule.startswith(HOST_RULE) for rule in rules):
            return self._add_hosts([rule.removeprefix(HOST_RULE) for rule in rules], scope)
        try:
            added = self._parse(rules)
            for rule in added:
                self._policy.add_rule(rule)
        except RuleProblem as problem:
            return f"The rule was not added: {problem}."
        try:
            if scope is Scope.ALWAYS:
                written = self._file.append_rules(rules)
                if self._live is not None:
                    self._live.note_written(written, added)
        except OptionError as problem:
            return f"The rule holds for this session only: {problem}."
        return ""

    def _add_hosts(self, hosts: list[str], scope: Scope) -> str:
        try:
            if self._allow_host is not None:
                for host in hosts:
                    self._allow_host(host)
        except OptionError as problem:
            return f"The host was not added: {problem}."
        try:
            if scope is Scope.ALWAYS:
                written = self._file.append_hosts(hosts)
                if self._live is not None:
                    self._live.note_written(written)
        except OptionError as problem:
            return f"The host may be reached in this session only: {problem}."
        return ""

    def _offer_host(self, call: Call) -> tuple[Offer, ...]:
        """Offers to allow one host at one port, the narrowest rule that exists."""
        if self._only_managed:
            return ()
        host, port = call.input["host"], call.input["port"]
        rules = (f"{HOST_RULE}{render_target(host, port)}",)
        covers = (f"commands in the sandbox reach {host}, port {port}",)
        return (
            Offer(scope=Scope.SESSION, rules=rules, covers=covers),
            Offer(scope=Scope.ALWAYS, rules=rules, covers=covers, place=self._place()),
        )

    def _try(self, call: Call, grant: "Grant") -> Offer | None:
        """The offer for a grant; None if the grant would not let the call run, for example because another rule asks or the path is protected."""
        from everturn.permissions.grants import EDITS_MEANING, describe_rule, find_needed
        from everturn.permissions.rules.rule_parser import RuleProblem

        if (scratch := self._policy.scratch) and any(scratch in rule for rule in grant.rules):
            # What a file there holds may be another thing when it runs again.
            return None
        try:
            if grant.mode is not None and self._policy.mode is PermissionMode.PLAN:
                # Who plans wants nothing changed: the way out is the plan's approval.
                return None
            if not self._would_run(call, grant.rules, grant.mode):
                return None
        except (RuleProblem, OptionError):
            return None
        needed = find_needed(grant.rules, lambda rules: self._would_run(call, rules, grant.mode))
        grant = msgspec.structs.replace(grant, rules=needed)
        return Offer(
            scope=grant.scope,
            rules=grant.rules,
            mode=grant.mode,
            covers=tuple(map(describe_rule, grant.rules)) or (EDITS_MEANING,),
            past=self._list_past(grant),
            place=self._place() if grant.scope is Scope.ALWAYS else "",
        )

    def _would_run(self, call: Call, rules: tuple[str, ...], mode: str | None) -> bool:
        return self._policy.imagine(self._parse(rules), mode).judge(call).ruling is Ruling.ALLOW

    def _list_past(self, grant: "Grant") -> tuple[str, ...]:
        """Earlier calls that a person was asked about and that this grant alone would allow."""
        without = self._policy.imagine_alone()
        alone = self._policy.imagine_alone(self._parse(grant.rules), grant.mode)
        earlier = (
            past.line
            for past in self._asked
            if alone.judge(past).ruling is Ruling.ALLOW and without.judge(past).ruling is not Ruling.ALLOW
        )
        return tuple(dict.fromkeys(earlier))[-MAX_SHOWN:]

    def _place(self) -> str:
        path = self._file.path
        return path if self._trusted else f"{path} ({UNTRUSTED})"

    def _parse(self, rules: Iterable[str]) -> list[Rule]:
        from everturn.permissions.rules.rule_parser import parse_rule

        return [parse_rule(text, Ruling.ALLOW, source=Source.SESSION, folder=self._folder) for text in rules]
