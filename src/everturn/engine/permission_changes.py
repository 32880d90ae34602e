"""What a PermissionRequest hook can change with an ALLOW: the modes and rules that it is offered, and those that it names. Pure."""

from typing import Any

import msgspec

from everturn.core.patterns import compile_late
from everturn.ports.policy import Offer, Scope, Verdict

MODES_OF_HOOKS = frozenset({"default", "acceptEdits", "plan", "dontAsk"})
"""Modes to which a hook may switch; bypassPermissions is not among them."""

_TOOL = compile_late(r"[\w*-]+")


def suggest_change(offer: Offer) -> dict[str, Any]:
    destination = "localSettings" if offer.scope is Scope.ALWAYS else "session"
    if offer.mode:
        return {"type": "setMode", "mode": offer.mode, "destination": destination}
    rules = [
        {"toolName": name, "ruleContent": rest.removesuffix(")")} if cut else {"toolName": name}
        for name, cut, rest in (rule.partition("(") for rule in offer.rules)
    ]
    return {"type": "addRules", "rules": rules, "behavior": "allow", "destination": destination}


def take_change(answer: Verdict, change: dict[str, Any]) -> Verdict | None:
    """The answer with the change; None for a change that hooks cannot make."""
    match change:
        case {"type": "setMode", "mode": str(mode)} if mode in MODES_OF_HOOKS:
            return msgspec.structs.replace(answer, mode=mode)
        case {
            "type": "addRules",
            "behavior": "allow",
            "rules": list(rules),
            "destination": "session" | "localSettings" as where,
        }:
            is_narrower = answer.grants and answer.scope is not Scope.ALWAYS
            scope = Scope.ALWAYS if where == "localSettings" and not is_narrower else Scope.SESSION
            named = tuple(text for rule in rules if (text := _write_rule(rule)))
            return msgspec.structs.replace(answer, grants=(*answer.grants, *named), scope=scope)
    return None


def _write_rule(rule: Any) -> str:
    """Empty for what names no tool: a host of the sandbox is a person's to allow."""
    match rule:
        case {"toolName": str(name)} if not _TOOL.fullmatch(name):
            return ""
        case {"toolName": str(name), "ruleContent": str(content)}:
            return f"{name}({content})"
        case {"toolName": str(name)}:
            return name
    return ""
