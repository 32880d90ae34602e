"""One script at work: for each request, the rules, the next answer, its usage, and the steps that deliver it."""

from collections.abc import Callable
from typing import Any, NamedTuple

from everturn.modelserver.answers import Answer, Fail, Say
from everturn.modelserver.ask import Ask
from everturn.modelserver.compose import compose, derive_id
from everturn.modelserver.connection import Incoming
from everturn.modelserver.delivery import plan_fail, plan_json, plan_say
from everturn.modelserver.model_list import render_model, render_models
from everturn.modelserver.prefixes import list_prefixes
from everturn.modelserver.prompt_cache import PromptCache, count_input, segments_of
from everturn.modelserver.rules import ENVELOPE_RULES, check_ask
from everturn.modelserver.rules.envelope import ADDRESS, COUNT_TOKENS, MODELS, decode_body, key_of
from everturn.modelserver.rules.lints import Lint, find_lints
from everturn.modelserver.rules.rule import Envelope, Violation, first_violation
from everturn.modelserver.scripts import Playhead, Script
from everturn.modelserver.signatures import IssuedThinking
from everturn.modelserver.steps import Steps
from everturn.modelserver.threads import Threads, is_threaded
from everturn.modelserver.wire import Wire, plan_wire, thoughts_of
from everturn.modelserver.wire_json import encode_json

_TOO_DEEP = Violation(
    rule="json-valid",
    status=400,
    type="invalid_request_error",
    message="The request body is not valid JSON: nested too deeply",
)


class CaseResponse(NamedTuple):
    steps: Steps
    body: Any = None
    """The request's body, decoded."""
    refused: str | None = None
    lints: tuple[Lint, ...] = ()
    on_start: Callable[[], None] | None = None
    """To be called when the answer begins."""


class CaseMemory(NamedTuple):
    """What stays of earlier requests when another script is put on."""

    cache: PromptCache
    threads: Threads


class Case:
    def __init__(self, script: Script, handed: IssuedThinking, memory: CaseMemory, clock: Callable[[], float]) -> None:
        self._script = script
        self._playhead = Playhead(script)
        self._cache, self._threads = memory
        self._handed = handed
        self._clock = clock

    def respond(self, incoming: Incoming, path: str, seed: str) -> CaseResponse:
        """`seed` is not shared by any other request of the session."""
        try:
            return self._judge(incoming, path, seed)
        except RecursionError:
            return _refuse(_TOO_DEEP, derive_id("req", seed), None)

    def _judge(self, incoming: Incoming, path: str, seed: str) -> CaseResponse:
        envelope = Envelope(
            method=incoming.method,
            path=path,
            headers=incoming.headers,
            size=incoming.size,
            raw=incoming.body,
            key=self._script.key,
        )
        body = _decoded(incoming.body)
        request_id = derive_id("req", seed)
        violation = first_violation(ENVELOPE_RULES if self._script.strict else ADDRESS.all, envelope)
        if violation:
            return _refuse(violation, request_id, body)
        if incoming.method == "GET":
            return self._about_models(incoming, path, request_id)
        ask = self._ask(body, incoming, counting=path == COUNT_TOKENS)
        violation = check_ask(ask) if self._script.strict else None
        if violation:
            return _refuse(violation, request_id, body)
        if ask.counting:
            return CaseResponse(_count(ask, request_id), body)
        return self._answer(ask, body, seed, request_id)

    def _ask(self, body: Any, incoming: Incoming, *, counting: bool) -> Ask:
        return Ask(
            body if isinstance(body, dict) else {},
            incoming.headers,
            models=self._script.models,
            window=self._script.window,
            handed=self._handed,
            threads=self._threads,
            counting=counting,
        )

    def _about_models(self, incoming: Incoming, path: str, request_id: str) -> CaseResponse:
        headers = {"request-id": request_id}
        if path == MODELS:
            query = incoming.target.partition("?")[2]
            return CaseResponse(plan_json(encode_json(render_models(self._script.models, query)), headers))
        name = path.removeprefix(f"{MODELS}/")
        model = self._script.models.find(name)
        if model is None:
            return CaseResponse(
                plan_fail(Fail(status=404, type="not_found_error", message=f"model: {name}"), request_id=request_id)
            )
        return CaseResponse(plan_json(encode_json(render_model(model)), headers))

    def _answer(self, ask: Ask, body: Any, seed: str, request_id: str) -> CaseResponse:
        key = key_of(ask.headers)
        lints = find_lints(ask)
        match self._next(ask):
            case Fail() as fail:
                return CaseResponse(plan_fail(fail, request_id=request_id, key=key), body, lints=lints)
            case Wire() as wire:
                thoughts = thoughts_of(wire)
                return CaseResponse(
                    plan_wire(wire, key),
                    body,
                    lints=lints,
                    on_start=lambda: self._handed.remember(ask.model.id, thoughts),
                )
            case Say() as say:
                return self._say(say, ask, body, seed, request_id)._replace(lints=lints)

    def _next(self, ask: Ask) -> Answer:
        try:
            return self._playhead.next(ask)
        except Exception as error:  # noqa: BLE001  a function in a script may raise anything; its client shall see what
            return Fail(status=500, type="api_error", message=f"The script raised {type(error).__name__}: {error}")

    def _say(self, say: Say, ask: Ask, body: Any, seed: str, request_id: str) -> CaseResponse:
        script = self._script
        minimum = ask.model.min_cacheable if script.min_cacheable is None else script.min_cacheable
        use = self._cache.judge(segments_of(ask), minimum, self._clock())
        message = compose(say, ask, use, seed=seed, chunk=script.chunk)

        def on_start() -> None:
            # As with the API, an entry can be read once the answer that wrote it has begun.
            self._cache.commit(use, self._clock())
            self._handed.remember(ask.model.id, message.content)
            if ask.model.binds_thinking:
                self._handed.bind((each.signature, each.digest) for each in list_prefixes(ask, message.content))
            # Of an answer that breaks off the API keeps nothing.
            if say.ending is None and is_threaded(ask.sent):
                self._threads.hold(ask.sent, ask.body, message.id, message.content)

        return CaseResponse(plan_say(say, message, streams=ask.streams, request_id=request_id), body, on_start=on_start)


def _decoded(raw: bytes) -> Any:
    try:
        return decode_body(raw)
    except (ValueError, RecursionError):
        return None


def _refuse(violation: Violation, request_id: str, body: Any) -> CaseResponse:
    fail = Fail(status=violation.status, type=violation.type, message=violation.message, details=violation.details)
    return CaseResponse(plan_fail(fail, request_id=request_id, rule=violation.rule), body, refused=violation.rule)


def _count(ask: Ask, request_id: str) -> Steps:
    tokens = count_input(ask)
    edits = {"context_management": {"original_input_tokens": tokens}} if ask.body.get("context_management") else {}
    return plan_json(encode_json({"input_tokens": tokens, **edits}), {"request-id": request_id})
