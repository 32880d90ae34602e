"""Rules of the form `WebFetch(domain:example.com)`: which hosts they cover. Pure."""

import re
from typing import Any

from everturn.core.errors import ToolFault
from everturn.ports.web import parse_web_url

_RULE = r"WebFetch\(domain:(?P<pattern>[^()\s]+)\)"


def parse_domain_rule(rule: str) -> str | None:
    """The pattern of a rule, in small letters; None where it is another kind of rule."""
    found = re.fullmatch(_RULE, rule)
    return found["pattern"].lower() if found else None


def host_of(input_: dict[str, Any]) -> str | None:
    """The host that the call would reach, read as the tool reads it; None where the tool will refuse the URL."""
    url = input_.get("url")
    try:
        return parse_web_url(url).host if isinstance(url, str) else None
    except ToolFault:
        return None


def judge_domain(pattern: str, host: str) -> bool:
    """`*.` in front covers any depth below the domain, but not itself; any other `*` stays within one label."""
    if pattern == "*":
        return True
    prefix, rest = (r"(?:[^.]+\.)+", pattern[2:]) if pattern.startswith("*.") else ("", pattern)
    covered = prefix + "".join("[^.]*" if mark == "*" else re.escape(mark) for mark in rest)
    return re.fullmatch(covered, host) is not None
