"""Hooks that are Python callables of the embedding program."""

import asyncio
import inspect
from collections.abc import Callable, Iterable
from typing import Any

from everturn.core.errors import OptionError
from everturn.ports.hooks import (
    NOTHING_SAID,
    CompactInput,
    CompactVerdict,
    FailureInput,
    HookVerdict,
    Occasion,
    PostToolVerdict,
    StopInput,
    StopVerdict,
)
from everturn.ports.policy import Call
from everturn.ports.tool import ToolResult

TIMEOUT_S = 60.0

Hook = Callable[..., Any]
"""Sync or async. A sync one runs in a thread; if it outlives its time it is left behind there."""


class HookError(Exception):
    """A hook failed; the text says which and how."""


_NOTHING_SAID = PostToolVerdict()


class InProcessHooks:
    """`ports.hooks.Hooks`.

    A stop hook takes a `StopInput` and answers None, a `StopVerdict`, or a text, which blocks. A post-tool hook takes
    the call and its result and answers None or a `PostToolVerdict`. A failure hook takes a `FailureInput`. A compaction
    hook takes a `CompactInput`; one that runs before may answer a `CompactVerdict`, or a text, which blocks.
    """

    def __init__(
        self,
        *,
        stop: Iterable[Hook] = (),
        post_tool: Iterable[Hook] = (),
        stop_failure: Iterable[Hook] = (),
        pre_compact: Iterable[Hook] = (),
        post_compact: Iterable[Hook] = (),
        timeout_s: float = TIMEOUT_S,
    ) -> None:
        self._stop = _hooks("stop", stop)
        self._post_tool = _hooks("post_tool", post_tool)
        self._stop_failure = _hooks("stop_failure", stop_failure)
        self._pre_compact = _hooks("pre_compact", pre_compact)
        self._post_compact = _hooks("post_compact", post_compact)
        if timeout_s <= 0:
            raise OptionError("timeout_s", f"must be more than 0, not {timeout_s}")
        self._timeout_s = timeout_s

    def hears(self, event: str) -> bool:  # noqa: ARG002 (see the docstring)
        """Those of this class are called by their own names."""
        return False

    async def ask(self, occasion: Occasion) -> HookVerdict:  # noqa: ARG002 (nobody is asked by an event)
        return NOTHING_SAID

    def take_context(self) -> tuple[str, ...]:
        return ()

    async def look_around(self) -> str | None:
        return None

    async def aclose(self) -> None:
        return

    async def stop(self, turn: StopInput) -> tuple[StopVerdict, ...]:
        return tuple(await asyncio.gather(*(self._ask_to_stop(hook, turn) for hook in self._stop)))

    async def post_tool(self, call: Call, result: ToolResult) -> PostToolVerdict:
        """In order; all of them run. The first stop counts, the notes are joined."""
        if not self._post_tool:
            return _NOTHING_SAID
        stop: str | None = None
        notes: list[str] = []
        for hook in self._post_tool:
            verdict = await self._ask_after_tool(hook, call, result)
            stop = verdict.stop if stop is None else stop
            notes.append(verdict.note)
        return PostToolVerdict(stop=stop, note="\n".join(note for note in notes if note))

    async def pre_compact(self, compaction: CompactInput) -> CompactVerdict:
        """One that fails blocks nothing: a full window is worse than a hook that was not heard."""
        added: list[str] = []
        for hook in self._pre_compact:
            try:
                answer = await self._run(hook, compaction)
            except HookError:
                continue
            match answer:
                case str():
                    return CompactVerdict(block=answer)
                case CompactVerdict(block=str()):
                    return answer
                case CompactVerdict(instructions=instructions) if instructions:
                    added.append(instructions)
        return CompactVerdict(instructions="\n".join(added))

    async def post_compact(self, compaction: CompactInput) -> None:
        await asyncio.gather(*(self._run(hook, compaction) for hook in self._post_compact), return_exceptions=True)

    async def stop_failure(self, failure: FailureInput) -> None:
        await asyncio.gather(*(self._run(hook, failure) for hook in self._stop_failure), return_exceptions=True)

    async def _ask_to_stop(self, hook: Hook, turn: StopInput) -> StopVerdict:
        try:
            answer = await self._run(hook, turn)
        except HookError as error:
            return StopVerdict(output=str(error))
        match answer:
            case None:
                return StopVerdict()
            case StopVerdict():
                return answer
            case str():
                return StopVerdict(block=answer)
            case _:
                return StopVerdict(output=_misfit(hook, answer, "a StopVerdict, a text or None"))

    async def _ask_after_tool(self, hook: Hook, call: Call, result: ToolResult) -> PostToolVerdict:
        """A failure goes into the note: it is the only place a post-tool verdict has for it."""
        try:
            answer = await self._run(hook, call, result)
        except HookError as error:
            return PostToolVerdict(note=str(error))
        match answer:
            case None:
                return PostToolVerdict()
            case PostToolVerdict():
                return answer
            case _:
                return PostToolVerdict(note=_misfit(hook, answer, "a PostToolVerdict or None"))

    async def _run(self, hook: Hook, *arguments: Any) -> Any:
        return await call_function(hook, self._timeout_s, *arguments)


async def call_function(hook: Hook, limit_s: float, *arguments: Any) -> Any:
    """Raises `HookError`, and nothing else but a cancellation."""
    limit = asyncio.timeout(limit_s)
    try:
        async with limit:
            return await _call(hook, *arguments)
    except (Exception, SystemExit) as error:
        if limit.expired():
            raise HookError(f"The hook {_name(hook)} took longer than {limit_s:g} s.") from None
        raise HookError(f"The hook {_name(hook)} failed: {type(error).__name__}: {error}") from error


async def _call(hook: Hook, *arguments: Any) -> Any:
    if inspect.iscoroutinefunction(hook) or inspect.iscoroutinefunction(type(hook).__call__):
        return await hook(*arguments)
    answer = await asyncio.to_thread(_call_plainly, hook, *arguments)
    return await answer if inspect.isawaitable(answer) else answer


def _call_plainly(hook: Hook, *arguments: Any) -> Any:
    try:
        return hook(*arguments)
    except StopIteration as error:
        # A future cannot carry StopIteration: the call would wait for ever.
        raise RuntimeError("StopIteration") from error


def _hooks(field: str, hooks: Iterable[Hook]) -> tuple[Hook, ...]:
    chosen = tuple(hooks)
    for hook in chosen:
        if not callable(hook):
            raise OptionError(field, f"a hook must be callable, not {hook!r}")
    return chosen


def _misfit(hook: Hook, answer: Any, expected: str) -> str:
    return f"The hook {_name(hook)} answered {type(answer).__name__}; expected {expected}."


def _name(hook: Hook) -> str:
    return str(getattr(hook, "__name__", type(hook).__name__))
