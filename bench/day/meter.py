"""What a request costs: counted, cached and aged by the model server's own rules, without its HTTP."""

import json
from typing import Any

from everturn.core.budget import Usage
from everturn.core.messages import Block
from everturn.models.anthropic.cache_marks import plan_marks
from everturn.modelserver.prompt_cache import CachedSegment, PromptCache
from everturn.modelserver.tokens import MESSAGE_TOKENS, estimate_block, estimate_json, estimate_text
from everturn.ports.model import Catalog, Request


class CacheMeter:
    """One cache for a whole day. A block is parsed once, however often it is sent."""

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog
        self._cache = PromptCache()
        self._blocks: dict[bytes, int] = {}

    def charge(self, request: Request, now: float, output: int) -> Usage:
        segments = self.list_segments(request)
        use = self._cache.judge(segments, self._catalog.card(request.model).min_cacheable, now)
        self._cache.commit(use, now)
        return Usage(input=use.fresh, output=output, cache_read=use.read, cache_write=sum(use.written.values()))

    def count(self, request: Request) -> int:
        return sum(segment.tokens for segment in self.list_segments(request))

    def list_segments(self, request: Request) -> list[CachedSegment]:
        ttl = request.cache_ttl if request.cache else None
        segments = [
            CachedSegment(text=f"{request.model} {raw!r}", tokens=self._count_tool(raw), ttl=None)
            for raw in request.tools
        ]
        texts = [text for text in request.system if text.strip()]
        for at, text in enumerate(texts, start=1):
            mark = ttl if at == len(texts) else None
            segments.append(CachedSegment(text=f"{request.model} {text}", tokens=estimate_text(text), ttl=mark))
        marks = plan_marks(request.messages, request.kept, request.anchor) if request.cache else frozenset()
        for index, wire in enumerate(request.messages):
            extra = MESSAGE_TOKENS
            for position, block in enumerate(wire.blocks):
                segments.append(
                    CachedSegment(
                        text=f"{request.model} {wire.role} {hash(block.raw)}",
                        tokens=self._count_block(block) + extra,
                        ttl=ttl if (index, position) in marks else None,
                    )
                )
                extra = 0
        return segments

    def _count_tool(self, raw: bytes) -> int:
        return self._remember(raw, estimate_json)

    def _count_block(self, block: Block) -> int:
        return self._remember(block.raw, estimate_block)

    def _remember(self, raw: bytes, count: Any) -> int:
        known = self._blocks.get(raw)
        if known is None:
            known = self._blocks[raw] = count(json.loads(raw))
        return known
