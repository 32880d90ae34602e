"""The hooks of a session: functions by the names of their call sites, everything else by the names of events."""

import asyncio
import os
from collections.abc import Callable
from typing import Any

import msgspec

from everturn.hooks.dispatch import Dispatch
from everturn.hooks.file_watch import FileWatch
from everturn.hooks.inprocess import InProcessHooks
from everturn.ports.hook_events import HOOK_EVENTS
from everturn.ports.hooks import (
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
from everturn.ports.tasks import Tasks
from everturn.ports.tool import ToolResult

FILE_CHANGED = "FileChanged"
MANUAL = "manual"
POLICY = "policy_settings"
"""A hook may not keep the administrator's settings from counting."""
_ERRORS = {
    "spend_limit": "billing_error",
    **dict.fromkeys(
        ("timeout", "connection", "stream_broken", "stalled", "tls", "not_an_api", "response_too_large"), "server_error"
    ),
}
"""Kinds of errors that hooks know by another name."""


class HookSurroundings(msgspec.Struct, frozen=True, kw_only=True):
    """What hooks are told of beside the conversation."""

    folder: str
    """In which FileChanged hooks watch files."""
    tasks: Tasks
    """What runs in the background."""
    settings: tuple[tuple[str, str], ...] = ()
    """Settings files, each as source and path."""
    refuse_settings: Callable[[], None] = lambda: None
    """What they say by now, and what would let more run, does not count in this session."""


class SessionHooks:
    """`ports.hooks.Hooks`."""

    def __init__(self, functions: InProcessHooks, dispatch: Dispatch, around: HookSurroundings) -> None:
        self._functions = functions
        self._dispatch = dispatch
        self._around = around
        names = dispatch.watched_files()
        self._watch = FileWatch(f"{around.folder}/{name}" for name in names) if dispatch.hears(FILE_CHANGED) else None
        self._settings = {path: source for source, path in around.settings} if dispatch.hears("ConfigChange") else {}
        self._settings_watch = FileWatch(self._settings) if self._settings else None

    def hears(self, event: str) -> bool:
        return self._dispatch.hears(event)

    async def ask(self, occasion: Occasion) -> HookVerdict:
        said = await self._dispatch.ask(occasion)
        if said.watch is not None and self._watch is not None:
            self._watch.put(map(os.path.normpath, said.watch))
        return said

    def take_context(self) -> tuple[str, ...]:
        return self._dispatch.take_context()

    async def look_around(self) -> str | None:
        stop: str | None = None
        for path, event in self._watch.take_changes() if self._watch is not None else ():
            said = await self.ask(Occasion(event=FILE_CHANGED, fields={"file_path": path, "event": event}))
            stop = said.stop if stop is None else stop
        for path, _ in self._settings_watch.take_changes() if self._settings_watch is not None else ():
            source = self._settings[path]
            said = await self._dispatch.ask(
                Occasion(event="ConfigChange", fields={"source": source, "file_path": path})
            )
            stop = said.stop if stop is None else stop
            if said.block is not None and source != POLICY:
                self._around.refuse_settings()
        return stop

    async def aclose(self) -> None:
        await self._dispatch.aclose()

    async def stop(self, turn: StopInput) -> tuple[StopVerdict, ...]:
        if not self.hears("Stop"):
            return await self._functions.stop(turn)
        fields = {
            "stop_hook_active": turn.stop_hook_active,
            "last_assistant_message": turn.text,
            "background_tasks": describe_tasks(self._around.tasks),
            "session_crons": [],
        }
        occasion = Occasion(event="Stop", fields=fields, ask=turn.ask)
        own, said = await asyncio.gather(self._functions.stop(turn), self._dispatch.ask(occasion))
        return (*own, StopVerdict(block=said.block, context=said.context, prevent=said.stop))

    async def post_tool(self, call: Call, result: ToolResult) -> PostToolVerdict:
        return await self._functions.post_tool(call, result)

    async def pre_compact(self, compaction: CompactInput) -> CompactVerdict:
        verdict = await self._functions.pre_compact(compaction)
        if verdict.block is not None or not self.hears("PreCompact"):
            return verdict
        fields = {"trigger": _trigger(compaction), "custom_instructions": compaction.instructions}
        said = await self._dispatch.ask(Occasion(event="PreCompact", fields=fields))
        reason = said.block if said.stop is None else said.stop
        return verdict if reason is None else CompactVerdict(block=reason)

    async def post_compact(self, compaction: CompactInput) -> None:
        await self._functions.post_compact(compaction)
        if self.hears("PostCompact"):
            fields = {"trigger": _trigger(compaction), "compact_summary": compaction.summary}
            await self._dispatch.ask(Occasion(event="PostCompact", fields=fields))

    async def stop_failure(self, failure: FailureInput) -> None:
        await self._functions.stop_failure(failure)
        if self.hears("StopFailure"):
            fields = {
                "error": _name_error(failure.kind),
                "error_details": failure.reason,
                "last_assistant_message": failure.error,
            }
            await self._dispatch.ask(Occasion(event="StopFailure", fields=fields))


def _trigger(compaction: CompactInput) -> str:
    return MANUAL if compaction.cause == MANUAL else "auto"


def _name_error(kind: str) -> str:
    return kind if kind in HOOK_EVENTS["StopFailure"].values else _ERRORS.get(kind, "unknown")


def describe_tasks(tasks: Tasks) -> list[dict[str, Any]]:
    """What runs in the background, as hooks are told of it."""
    told = []
    for task in tasks.running:
        report = task.report()
        kind = {"local_bash": "shell", "local_agent": "subagent"}.get(report.kind, report.kind)
        fields = {"id": report.id, "type": kind, "status": str(report.status), "description": report.description}
        told.append(fields | ({"command": report.command} if report.command else {}))
    return told
