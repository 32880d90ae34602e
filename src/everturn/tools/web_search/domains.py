"""Which hits belong to which domains. Pure: whatever the engine was told, what it answers is judged again."""

import re
from collections.abc import Iterable

from everturn.core.errors import InputFault, ToolFault
from everturn.ports.web import Hit, SearchQuestion, parse_web_url

_DOMAIN = r"(?:\*\.)?(?:[a-z0-9_-]+\.)*[a-z0-9_-]+"


def parse_domains(field: str, given: Iterable[str]) -> tuple[str, ...]:
    """Bare domains in small letters. Raises `InputFault`: a misspelt one would let everything through."""
    domains = []
    for text in given:
        domain = text.strip().lower().removesuffix(".")
        if not re.fullmatch(_DOMAIN, domain):
            raise InputFault(f"`{field}`: expected domains such as example.com, got {text[:80]!r}.")
        domains.append(domain.removeprefix("*."))
    return tuple(dict.fromkeys(domains))


def judge_hits(hits: Iterable[Hit], question: SearchQuestion) -> tuple[Hit, ...]:
    """Those that the question admits, each address once; what is no web address is dropped."""
    kept: dict[str, Hit] = {}
    for hit in hits:
        try:
            host = parse_web_url(hit.url).host
        except ToolFault:
            continue
        allowed = not question.allowed_domains or _is_below(host, question.allowed_domains)
        if allowed and not _is_below(host, question.blocked_domains):
            kept.setdefault(hit.url, hit)
    return tuple(kept.values())


def _is_below(host: str, domains: tuple[str, ...]) -> bool:
    return any(host == domain or host.endswith(f".{domain}") for domain in domains)
