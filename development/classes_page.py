"""The page of the classes that approvers, tools and hooks meet, and of the errors, made from the code."""

import inspect
import sys
from collections.abc import Iterator
from enum import Enum

import msgspec

import everturn
from development.events_page import describe_type
from development.settings_page import read_meanings, render_rows
from everturn.core import denials, errors
from everturn.ports import abort, hooks, ledger, policy, tool

INTRODUCTION = """\
# Classes for approvers, tools and hooks

This page is made from the code: `make pages`.

What your own functions are given, and what they return. Every class is imported from `everturn`:

```python
from everturn import Access, Call, Engine, PostToolVerdict, Ruling
from everturn import ToolContext, ToolResult, Verdict, tool


@tool(access=Access.NETWORK)
async def publish(page: str, context: ToolContext) -> ToolResult:
    \"\"\"Publishes a page of the folder.\"\"\"
    context.progress(f"publishing {page} from {context.folder}")
    return ToolResult(content="published", shown={"page": page})


def approve(call: Call, reason: str) -> Verdict:
    if call.name == "publish":
        return Verdict(ruling=Ruling.ALLOW)
    return Verdict(ruling=Ruling.DENY, reason="only publishing is approved")


def look(call: Call, result: ToolResult) -> PostToolVerdict | None:
    if call.name == "publish":
        return PostToolVerdict(note="Check the links, too.")
    return None


engine = Engine(tools=[publish], approver=approve, hooks={"post_tool": look})
```

Fields that this page does not have, and types that it names without a table, are for the engine and the built-in tools; they may change in any release.
Events and the result are in [events.md](events.md), options in [settings.md](settings.md).
"""
APPROVERS = """\
## Approvers

An approver is a function `approve(call, reason)`, or an object with such a method; it may be `async`. It is called if neither a rule nor the mode decides
([permissions.md](../how-to/permissions.md#the-order)), gets a `Call` and the reason for asking, and returns a `Verdict`. If it raises, the call does not run, and the model reads the error.
It is asked about several calls at the same time, unless it has the attribute `one_at_a_time = True`. Its answers to questions and plans are in
[own-tools.md](../how-to/own-tools.md#questions-and-plans-the-approver).
"""
TOOLS = """\
## Tools

A function becomes a tool by `@tool` ([own-tools.md](../how-to/own-tools.md)). It may take a `ToolContext`, and returns text, a `ToolResult`, or any value that JSON can carry.
"""
BUDGETS = """\
## Budgets

A program that runs several engines gives each of them a share of one budget ([cost.md](../how-to/cost.md#the-tree)).
"""
HOOKS = """\
## Hooks

`Engine(hooks={…})` takes functions by the name of the moment at which they are called. Each may be `async`; in place of a function you may give a list of functions.

| name | is called | is given | returns |
| --- | --- | --- | --- |
| `stop` | when the model thinks that it is done | `StopInput` | `StopVerdict`, a text (the same as `block`), or None |
| `post_tool` | after a call has run | `Call`, `ToolResult` | `PostToolVerdict` or None |
| `stop_failure` | when the query ended because the model could not be used | `FailureInput` | nothing |
| `pre_compact` | before the conversation is summarised | `CompactInput` | `CompactVerdict`, a text (the same as `block`), or None |
| `post_compact` | after it was summarised | `CompactInput` | nothing |
| an event, such as `PreToolUse` ([all events](hooks.md)) | at that event | `HookInput` | `HookVerdict`, a text (the reason of a refusal: it denies a call, and blocks another event that can be blocked), or None |
"""
ERRORS = """\
## Errors

All of them are subclasses of `EverturnError`. Errors of the API and reached limits are not raised: the [result](events.md#the-result) has them.

"""
PARTS = (
    (APPROVERS, (policy.Call, policy.Verdict, policy.Ruling, denials.DenialCause, policy.Offer, policy.Scope)),
    (TOOLS, (tool.ToolContext, abort.AbortSignal, tool.ToolResult, tool.NewContext, tool.Traits, tool.Access)),
    (BUDGETS, (ledger.Allowance,)),
    (
        HOOKS,
        (
            hooks.HookInput,
            hooks.HookVerdict,
            hooks.HookRuling,
            hooks.StopInput,
            hooks.StopVerdict,
            hooks.PostToolVerdict,
            hooks.FailureInput,
            hooks.CompactInput,
            hooks.CompactVerdict,
        ),
    ),
)
INTERNAL = {
    "Verdict": {"by", "unasked", "may_lift", "grave", "judged", "may_read", "advice", "holding", "by_person"},
    "ToolContext": {"traits", "judged", "holding", "hiding", "note_output", "files", "notepad", "abort_grace_s"},
    "Traits": {"confinement"},
}
"""Fields that are not for programs of others."""
Row = tuple[str, ...]


def render_page() -> str:
    parts = [INTRODUCTION]
    for words, classes in PARTS:
        parts.append(words)
        for each in classes:
            parts.append(f"### {each.__name__}\n\n{read_first(each)}\n")
            parts.append(render_class(each))
    rows = [(f"`{name}`", " ".join((inspect.getdoc(error) or "").split())) for name, error in list_errors()]
    return "\n".join([*parts, ERRORS + render_rows(("error", "meaning"), rows)])


def list_errors() -> Iterator[tuple[str, type[Exception]]]:
    """Those that a program of others meets, in the order of their module."""
    for name, value in vars(errors).items():
        if name in everturn.__all__:
            yield name, value


def render_class(of: type) -> str:
    module = sys.modules[of.__module__]
    meanings = read_meanings(module, of) if issubclass(of, Enum | msgspec.Struct) else {}
    if issubclass(of, Enum):
        return render_rows(
            ("member", "value", "meaning"), [(f"`{each.name}`", f"`{each.value}`", meanings[each.name]) for each in of]
        )
    if issubclass(of, msgspec.Struct):
        return render_rows(("field", "type", "default", "meaning"), list(list_fields(of, meanings)))
    rows = [
        (f"`{name}`" if isinstance(value, property) else f"`{name}()`", read_first(value))
        for name, value in vars(of).items()
        if not name.startswith("_") and read_first(value)
    ]
    return render_rows(("name", "meaning"), rows)


def list_fields(of: type[msgspec.Struct], meanings: dict[str, str]) -> Iterator[Row]:
    for field in msgspec.structs.fields(of):
        if field.name not in INTERNAL.get(of.__name__, set()):
            yield (
                f"`{field.name}`",
                describe_type(field.type),
                render_default(field),
                render_meaning(meanings[field.name]),
            )


def render_meaning(meaning: str) -> str:
    """The columns are for approvers: their own label is left out."""
    bare = meaning.removeprefix("An approver's: ").removeprefix("For an approver: ")
    return (bare[0].upper() + bare[1:]).replace("|", "\\|")


def render_default(field: msgspec.structs.FieldInfo) -> str:
    if field.default_factory is not msgspec.NODEFAULT:
        return ""
    if field.default is msgspec.NODEFAULT:
        return "required"
    return f"`{field.default.value!r}`" if isinstance(field.default, Enum) else f"`{field.default!r}`"


def read_first(value: object) -> str:
    """The first paragraph of the docstring; the rest is for those who write the engine."""
    return " ".join((inspect.getdoc(value) or "").split("\n\n")[0].split())
