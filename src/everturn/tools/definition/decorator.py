"""The decorator `tool`: makes of a function what the engine can offer to a model, gate and run."""

import asyncio
import inspect
from collections.abc import Callable, Sequence
from typing import Any, overload

import msgspec

from everturn.core.errors import OptionError, ToolFault
from everturn.core.inputs import settle_input
from everturn.ports.tool import Access, Confinement, PatchHunk, ToolContext, ToolResult, Traits
from everturn.tools.definition.inputs import parse_input
from everturn.tools.definition.pydantic_models import encode_model, is_model
from everturn.tools.definition.schemas import hide_fields
from everturn.tools.definition.signatures import parse_signature

RESULT_LIMIT = 50_000
_NAME_MARKS = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-")
_NAME_LENGTH = 64
_LINE = 120

Answer = bool | Callable[[Any], bool]
"""A trait: fixed, or a function of the typed input."""
Settle = Callable[[dict[str, Any], str], dict[str, Any]]
"""Given the input that fits the schema or not, and the working folder: the input as it is meant. Raises `InputFault`."""


class FunctionTool:
    """`ports.tool.Tool` around a function. Calling it calls the function."""

    def __init__(
        self,
        function: Callable[..., Any],
        *,
        name: str | None = None,
        description: str | None = None,
        reads_only: Answer = False,
        concurrent: Answer | None = None,
        destructive: Answer = False,
        access: Access = Access.EXECUTE,
        result_limit: int = RESULT_LIMIT,
        line: Callable[[Any], str] | None = None,
        done: Callable[[ToolResult], str] | None = None,
        deferred: bool = False,
        needs_person: bool = False,
        person_fields: tuple[str, ...] = (),
        confinement: Callable[[Any], Confinement] | None = None,
        check: Callable[[Any, ToolContext], Sequence[PatchHunk] | None] | None = None,
        settle: Settle | None = None,
        untold_fields: tuple[str, ...] = (),
        derive: Callable[[Any], dict[str, Any]] | None = None,
    ) -> None:
        self.name = _check_function(function, name)
        if result_limit < 1:
            raise OptionError(f"tool {self.name}, result_limit", f"must be at least 1, not {result_limit}")
        self._signature = parse_signature(self.name, function)
        self.description = inspect.cleandoc(description).strip() if description else self._signature.description
        if not self.description:
            raise OptionError(f"tool {self.name}", "has no description; write a docstring or give `description`")
        self._taken = hide_fields(self._signature.schema, person_fields)
        self.schema = hide_fields(self._taken, untold_fields)
        self.result_limit = result_limit
        self.deferred = deferred
        self.function = function
        self._reads_only = reads_only
        self._concurrent = concurrent
        self._destructive = destructive
        self._access = access
        self._line = line
        self._done = done
        self._needs_person = needs_person
        self._confinement = confinement
        self._check = check
        self._settle = settle
        self._derive = derive

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.function(*args, **kwargs)

    def settle(self, input_: dict[str, Any], folder: str) -> dict[str, Any]:
        """What the model sent, with what it habitually sends put right. Raises `InputFault`."""
        settled = settle_input(self._taken, input_)
        return settled if self._settle is None else self._settle(settled, folder)

    def parse(self, input_: dict[str, Any]) -> Any:
        """What the model sent: the fields of the person are unknown to it."""
        return parse_input(self.name, self._signature, self._taken, input_, told=self.schema)

    def parse_approved(self, input_: dict[str, Any]) -> Any:
        """What the approver put in its place, with the person's own fields. Raises `InputFault`."""
        return parse_input(self.name, self._signature, self._signature.schema, input_)

    def traits(self, call: Any) -> Traits:
        read_only = _answer(self._reads_only, call, otherwise=False)
        return Traits(
            read_only=read_only,
            concurrent=read_only if self._concurrent is None else _answer(self._concurrent, call, otherwise=False),
            destructive=_answer(self._destructive, call, otherwise=True),
            access=self._access,
            needs_person=self._needs_person,
            confinement=self._confinement(call) if self._confinement else Confinement.NONE,
        )

    def derive(self, call: Any) -> dict[str, Any]:
        return {} if self._derive is None else self._derive(call)

    def line(self, call: Any) -> str:
        return _one_line(self._line(call) if self._line else f"{self.name}({_render_fields(call)})")

    def done(self, result: ToolResult) -> str:
        if self._done is not None:
            return _one_line(self._done(result))
        # Not at the start: with it comes all that results are made of.
        from everturn.tools.result_lines import render_done

        return _one_line(render_done(result))

    async def check(self, call: Any, context: ToolContext) -> Sequence[PatchHunk]:
        """Raises as `run` would where the call cannot work. It changes nothing."""
        if self._check is None:
            return ()
        found: Sequence[PatchHunk] | None = await asyncio.to_thread(self._check, call, context)
        return found or ()

    async def run(self, call: Any, context: ToolContext) -> ToolResult:
        arguments = self._signature.arguments(call, context)
        try:
            if inspect.iscoroutinefunction(self.function):
                value = await self.function(**arguments)
            else:
                value = await asyncio.to_thread(_call_plainly, self.function, arguments)
        except SystemExit as error:
            raise ToolFault(f"{self.name} tried to end the program ({error}).") from error
        return _as_result(self.name, value)


@overload
def tool(function: Callable[..., Any], /) -> FunctionTool: ...


@overload
def tool(
    *,
    name: str | None = None,
    description: str | None = None,
    reads_only: Answer = False,
    concurrent: Answer | None = None,
    destructive: Answer = False,
    access: Access = Access.EXECUTE,
    result_limit: int = RESULT_LIMIT,
    line: Callable[[Any], str] | None = None,
    done: Callable[[ToolResult], str] | None = None,
    deferred: bool = False,
    needs_person: bool = False,
    person_fields: tuple[str, ...] = (),
    confinement: Callable[[Any], Confinement] | None = None,
    check: Callable[[Any, ToolContext], Sequence[PatchHunk] | None] | None = None,
    settle: Settle | None = None,
    untold_fields: tuple[str, ...] = (),
    derive: Callable[[Any], dict[str, Any]] | None = None,
) -> Callable[[Callable[..., Any]], FunctionTool]: ...


def tool(
    function: Callable[..., Any] | None = None, /, **options: Any
) -> FunctionTool | Callable[[Callable[..., Any]], FunctionTool]:
    """Bare or with options. The docstring is what the model reads; raises `OptionError` where the function does not fit.

    `concurrent` follows `reads_only` unless it is given. A `deferred` tool is not listed until ToolSearch has found it.
    For one that `needs_person`, the approver is asked each time, whatever mode and rules allow; it may fill in
    `person_fields`, which the model neither sees nor may send. `confinement` says whether a sandbox holds a call. `check`
    raises `ToolFault` where a call cannot work, before a person is asked about it, and may return what would become of a
    file. `settle` puts right what models habitually send, before the input is judged. `untold_fields` have no meaning in this
    session: the model is not told of them, and may send them all the same. `derive` returns fields that people and hooks see
    beside the input.
    """
    if function is not None:
        return FunctionTool(function)
    return lambda decorated: FunctionTool(decorated, **options)


def _check_function(function: Callable[..., Any], name: str | None) -> str:
    chosen: str = name or str(getattr(function, "__name__", ""))
    if not inspect.isroutine(function):
        raise OptionError(f"tool {chosen or function!r}", "only a function or a method can be a tool")
    if not 1 <= len(chosen) <= _NAME_LENGTH or not _NAME_MARKS.issuperset(chosen):
        raise OptionError(f"tool {chosen}", "the name must be 1 to 64 letters, digits, `_` or `-`")
    if inspect.isasyncgenfunction(function) or inspect.isgeneratorfunction(function):
        raise OptionError(
            f"tool {chosen}", "a generator cannot be a tool; return the result, show progress by the context"
        )
    return chosen


def _one_line(text: str) -> str:
    text = text[: _LINE * 100]
    if not text.isprintable():
        text = "".join(mark if mark.isprintable() else " " for mark in text)
    flat = " ".join(text.split())
    return flat if len(flat) <= _LINE else f"{flat[: _LINE - 1]}…"


def _answer(trait: Answer, call: Any, *, otherwise: bool) -> bool:
    if isinstance(trait, bool):
        return trait
    try:
        return bool(trait(call))
    except Exception:  # noqa: BLE001 - a trait that cannot be told gets the careful answer
        return otherwise


def _call_plainly(function: Callable[..., Any], arguments: dict[str, Any]) -> Any:
    try:
        return function(**arguments)
    except StopIteration as error:
        # A future cannot carry StopIteration: the call would wait for ever.
        raise RuntimeError("StopIteration") from error


def _as_result(name: str, value: Any) -> ToolResult:
    match value:
        case ToolResult():
            return value
        case str():
            return ToolResult(content=value)
        case None:
            return ToolResult(content="(no result)")
        case _:
            try:
                return ToolResult(
                    content=msgspec.json.encode(value, enc_hook=encode_model).decode(), shown=_plain(value)
                )
            except (TypeError, ValueError, RecursionError) as error:
                raise ToolFault(f"{name} returned a value that JSON cannot carry: {error}") from None


def _plain(value: Any) -> Any:
    return encode_model(value) if is_model(type(value)) else value


def _render_fields(call: Any) -> str:
    fields = msgspec.to_builtins(call, enc_hook=encode_model)
    return ", ".join(f"{key}={value!r}" for key, value in fields.items())
