"""Rules for a test, from their texts."""

from everturn.permissions.rules.rule_parser import parse_rule
from everturn.ports.policy import Ruling


def rules_of(*, allow=(), ask=(), deny=(), folder=""):
    texts = {Ruling.ALLOW: allow, Ruling.ASK: ask, Ruling.DENY: deny}
    return [parse_rule(text, ruling, folder=folder) for ruling, each in texts.items() for text in each]
