"""The hooks of one event: found, run in parallel, and their answers joined into one."""

import asyncio
import json
from collections.abc import Callable, Iterable
from typing import Any

import msgspec

from everturn.core.events import HookRan
from everturn.hooks.answers import HookAnswer, merge, name_decision
from everturn.hooks.handlers import FunctionHook, Handler, HookCall, within
from everturn.hooks.matcher import list_file_names, list_names
from everturn.ports.hook_events import MAX_SESSION_END_S, SESSION_END_S
from everturn.ports.hooks import NOTHING_SAID, Covers, GivenVariables, HookInput, HookVerdict, Occasion, Programs

MAX_TEXT = 10_000
"""Characters of one text that a hook says; a longer one goes into a file."""
MAX_AT_ONCE = 64
"""Hooks of one occasion that run at the same time: each holds pipes, of which a process has only so many. The others follow."""
_KEPT_MATCHES = 1_024


class DispatchParts(msgspec.Struct, frozen=True, kw_only=True):
    """What dispatch needs of the session around it."""

    describe: Callable[[], dict[str, Any]]
    """The fields that all events have."""
    show: Callable[[HookRan], None]
    warn: Callable[[str], None]
    """Shows the person a sentence."""
    hide: Callable[[str], str]
    """Takes our own credentials out of a text."""
    put_aside: Callable[[str], str]
    """Puts a text into a file of the session; the path. Raises `OSError`."""
    covers: Covers
    now: Callable[[], float]
    programs: Programs
    variables: GivenVariables | None = None
    """None: hooks set no variables for later commands."""


class Dispatch:
    def __init__(self, handlers: Iterable[Handler], parts: DispatchParts) -> None:
        self._parts = parts
        self._by_event: dict[str, list[Handler]] = {}
        for handler in handlers:
            self._by_event.setdefault(handler.spec.event.name, []).append(handler)
        self._matches: dict[tuple[str, str], tuple[Handler, ...]] = {}
        self._told_problems: set[str] = set()
        self._asking: set[asyncio.Task[Any]] = set()
        """Tasks that ask, or have asked, and have not ended."""
        self._unawaited: set[asyncio.Task[None]] = set()
        self._context: list[str] = []
        self._prompt_id = ""

    def hears(self, event: str) -> bool:
        return event in self._by_event

    def watched_files(self) -> tuple[str, ...]:
        handlers = self._by_event.get("FileChanged", ())
        return tuple(dict.fromkeys(name for one in handlers for name in list_file_names(one.spec.matcher.text)))

    def take_context(self) -> tuple[str, ...]:
        told = tuple(self._context)
        self._context.clear()
        return told

    async def find(self, occasion: Occasion) -> tuple[Handler, ...]:
        """Those that are meant, each once however often it is written."""
        handlers = self._by_event.get(occasion.event)
        if not handlers:
            return ()
        field = handlers[0].spec.event.matched
        value = str(occasion.fields.get(field, "")) if field else ""
        if occasion.event == "FileChanged":
            value = value.rpartition("/")[2]
        key = (occasion.event, value)
        found = self._matches.get(key)
        if found is None:
            if len(self._matches) >= _KEPT_MATCHES:
                self._matches.clear()
            found = self._matches[key] = await self._match(handlers, value)
        if found and occasion.call is not None and any(handler.spec.condition for handler in found):
            call, covers = occasion.call, self._parts.covers
            found = tuple(one for one in found if not one.spec.condition or covers(one.spec.condition, call))
        return found

    async def _match(self, handlers: Iterable[Handler], value: str) -> tuple[Handler, ...]:
        found: dict[tuple[Any, ...], Handler] = {}
        by_search = await self._search(handlers, value)
        for handler in handlers:
            spec = handler.spec
            if spec.matcher.problem:
                self._warn_once(f"{spec.origin}: {spec.matcher.problem}, so that it matches nothing")
            elif by_search[spec.matcher.text] if spec.matcher.may_take_long else spec.matcher.matches(value):
                found.setdefault(spec.key, handler)
        return tuple(found.values())

    async def _search(self, handlers: Iterable[Handler], value: str) -> dict[str, bool]:
        """For matchers that could search for ever: most sessions have none. Where that cannot be told, the hook runs."""
        long = {each.spec.matcher.text: each.spec for each in handlers if each.spec.matcher.may_take_long}
        if not long:
            return {}
        from everturn.hooks.long_searches import search

        patterns = [spec.matcher.pattern for spec in long.values()]
        said = await search(patterns, list_names(value), self._parts.programs)
        for spec, answer in zip(long.values(), said, strict=True):
            if answer is None:
                self._warn_once(
                    f"{spec.origin}: the matcher {spec.matcher.text!r:.80} takes too long for {value!r:.60}, so that its hook runs"
                )
        return {text: answer is not False for text, answer in zip(long, said, strict=True)}

    async def ask(self, occasion: Occasion) -> HookVerdict:
        """Never raises but for a cancellation."""
        self._prompt_id = occasion.fields.get("prompt_id", self._prompt_id)
        found = await self.find(occasion)
        if not found:
            return NOTHING_SAID
        task = asyncio.current_task()
        if task is not None and task not in self._asking:
            self._asking.add(task)
            task.add_done_callback(self._asking.discard)
        told = self._tell(occasion)
        awaited = []
        for handler in found:
            if handler.spec.is_async:
                self._start(handler, told)
            else:
                awaited.append(handler)
        if self._parts.variables is not None and awaited and awaited[0].spec.event.sets_variables:
            return await self._run_setting(awaited, told, self._parts.variables)
        return await self._run_all(awaited, told)

    async def _run_all(self, awaited: list[Handler], told: HookCall) -> HookVerdict:
        if len(awaited) == 1:
            return await self._run(awaited[0], told, self._limit(awaited[0], awaited))
        room = asyncio.Semaphore(MAX_AT_ONCE)

        async def run(one: Handler) -> HookVerdict:
            async with room:
                return await self._run(one, told, self._limit(one, awaited))

        return merge(await asyncio.gather(*map(run, awaited)))

    async def _run_setting(self, awaited: list[Handler], told: HookCall, variables: GivenVariables) -> HookVerdict:
        """They share one file for the variables that they set."""
        try:
            path = variables.make()
        except OSError as error:
            self._warn_once(f"There is no file for variables that hooks set: {error}")
            return await self._run_all(awaited, told)
        try:
            verdict = await self._run_all(awaited, msgspec.structs.replace(told, variable_file=path))
            if problem := await variables.take(path):
                self._parts.warn(f"{told.input.event} hooks: their variables do not count: {problem}")
        finally:
            variables.remove(path)
        return verdict

    async def aclose(self) -> None:
        """Whoever still asks has a moment more. Hooks that nobody waits for end here, with all that programs have left running."""
        if asking := self._asking - {asyncio.current_task()}:
            await asyncio.wait(asking, timeout=SESSION_END_S)
        for task in self._unawaited:
            task.cancel()
        if self._unawaited:
            await asyncio.wait(self._unawaited)
        await self._parts.programs.aclose()

    @staticmethod
    def _limit(handler: Handler, found: Iterable[Handler]) -> float:
        """The end of a session waits only so long for all of its hooks together."""
        if handler.spec.event.name != "SessionEnd":
            return handler.spec.timeout_s
        asked = max((one.spec.timeout_s for one in found if one.spec.has_own_timeout), default=SESSION_END_S)
        return min(max(asked, SESSION_END_S), MAX_SESSION_END_S)

    def _tell(self, occasion: Occasion) -> HookCall:
        common = self._parts.describe() | {"hook_event_name": occasion.event}
        if self._prompt_id:
            common["prompt_id"] = self._prompt_id
        fields = common | occasion.fields
        try:
            body = msgspec.json.encode(fields)
        except (TypeError, ValueError, RecursionError):
            # Half a surrogate pair is no UTF-8, and is JSON all the same.
            body = json.dumps(fields, default=str).encode()
        return HookCall(input=HookInput(event=occasion.event, fields=fields), body=body, ask=occasion.ask)

    def _start(self, handler: Handler, told: HookCall) -> None:
        async def run() -> None:
            verdict = await self._run(handler, told, handler.spec.timeout_s, is_async=True)
            self._context += verdict.context

        task = asyncio.create_task(run())
        self._unawaited.add(task)
        task.add_done_callback(self._unawaited.discard)

    async def _run(self, handler: Handler, told: HookCall, limit_s: float, *, is_async: bool = False) -> HookVerdict:
        spec, began = handler.spec, self._parts.now()
        try:
            answer = await within(limit_s, handler.answer(told))
        except Exception as error:  # noqa: BLE001 (a hook that fails never ends the loop)
            answer = HookAnswer(problem=f"failed: {type(error).__name__}: {error}")
        answer = self._clean(answer)
        verdict = answer.verdict
        if is_async:
            woken = (answer.refusal,) if spec.wakes and answer.refusal else ()
            verdict = HookVerdict(context=(*verdict.context, *woken), notices=verdict.notices)
        name = handler.name if isinstance(handler, FunctionHook) else self._parts.hide(spec.label)
        self._parts.show(
            HookRan(
                hook=spec.event.name,
                kind="function" if isinstance(handler, FunctionHook) else str(spec.kind),
                name=name,
                source=spec.source,
                duration_s=self._parts.now() - began,
                exit_code=answer.exit_code,
                decision=name_decision(verdict),
                problem=answer.problem,
            )
        )
        if answer.problem:
            self._parts.warn(f"{spec.event.name} hook `{name}`: {answer.problem}")
        if answer.remark:
            self._warn_once(f"{spec.event.name} hook `{name}`: {self._clean_text(answer.remark)}")
        for notice in verdict.notices:
            self._parts.warn(f"{spec.event.name} hook: {notice}")
        return verdict

    def _clean(self, answer: HookAnswer) -> HookAnswer:
        """Without credentials of ours, and no text longer than it may be."""
        verdict, clean = answer.verdict, self._clean_text
        if verdict is not NOTHING_SAID:
            verdict = msgspec.structs.replace(
                verdict,
                reason=clean(verdict.reason),
                block=None if verdict.block is None else clean(verdict.block),
                stop=None if verdict.stop is None else clean(verdict.stop),
                context=tuple(map(clean, verdict.context)),
                output=None if verdict.output is None else self._parts.hide(verdict.output),
                notices=tuple(map(clean, verdict.notices)),
            )
        problem, refusal = clean(answer.problem), clean(answer.refusal)
        return msgspec.structs.replace(answer, verdict=verdict, problem=problem, refusal=refusal)

    def _clean_text(self, text: str) -> str:
        text = self._parts.hide(text)
        if len(text) <= MAX_TEXT:
            return text
        try:
            where = f"the whole of it is in {self._parts.put_aside(text)}"
        except OSError as error:
            where = f"it could not be kept: {error}"
        return (
            f"{text[:MAX_TEXT]}\n[… {len(text) - MAX_TEXT:,} of {len(text):,} characters are left out here; {where} …]"
        )

    def _warn_once(self, text: str) -> None:
        if text not in self._told_problems:
            self._told_problems.add(text)
            self._parts.warn(text)


def build_function_hooks(functions: dict[str, tuple[Callable[..., Any], ...]], timeout_s: float) -> list[Handler]:
    return [FunctionHook(event, function, timeout_s) for event, named in functions.items() for function in named]
