"""A search engine of the web: a question with its domains in, titles and addresses out."""

from typing import Protocol

import msgspec


class SearchQuestion(msgspec.Struct, frozen=True, kw_only=True):
    query: str
    allowed_domains: tuple[str, ...] = ()
    """Only these and what is below them."""
    blocked_domains: tuple[str, ...] = ()
    """Never these. At most one of the two is set."""


class Hit(msgspec.Struct, frozen=True, kw_only=True):
    title: str
    url: str
    excerpt: str = ""


class Searcher(Protocol):
    """Contract: raises `ToolFault` and nothing else; its text never holds the key. Best hits first."""

    async def search(self, question: SearchQuestion) -> tuple[Hit, ...]: ...
