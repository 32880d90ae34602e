"""The page of all events and of the result, made from the code."""

import inspect
import re
from collections.abc import Iterator
from typing import Any

import msgspec

import everturn
from development.settings_page import read_meanings, render_rows
from everturn import Event, ResultEvent
from everturn.core import events

INTRODUCTION = """\
# Events and the result

This page is made from the code: `make pages`.

`engine.submit(prompt)` yields events while the query runs; the last one is the result. Use the events that you need, and ignore the others:

```python
from everturn import CallBegan, Engine, ResultEvent, Retracted, TextDelta


async def show(engine: Engine, prompt: str) -> ResultEvent:
    async for event in engine.submit(prompt):
        match event:
            case TextDelta(text=text):
                print(text, end="")
            case CallBegan(line=line):
                print(f"\\n· {line}")
            case Retracted():
                print("\\n(the model is asked again)")
            case ResultEvent() as result:
                return result
    raise AssertionError("the last event is always the result")
```

`engine.run(prompt)` ignores the events and returns the result. Every class is imported from `everturn`. What `everturn -p --output-format stream-json` prints
is made of these events and described in [headless.md](headless.md).

## All events
"""
RESULT = """\
## The result

`ResultEvent` is the last event of a query, and what `run` and `engine.run` return. The values of `terminal_reason` and `exit` are in [loop.md](../explanation/loop.md#ways-to-stop).
"""
USUAL = {
    "message_id": "Id of the message.",
    "index": "Place of the block in the answer, from 0.",
    "tool_use_id": "Id of the call.",
    "name": "Name of the tool.",
    "turn": "Number of the round.",
    "model": "Id of the model.",
    "usage": "Tokens by kind.",
    "usd": "Price in USD.",
    "text": "The text.",
    "message": "The message.",
    "block": "The block.",
    "task_id": "Id of the command in the background.",
    "cause": "Why.",
    "reason": "Why.",
    "mode": "The permission mode that is in force now.",
    "is_error": "The call failed or was denied.",
    "notes": "The task list, the plan and the rest, as they are now.",
    "problem": "The error, where there is one.",
    "exit": "Exit code of the program.",
    "command_id": "Id of the command.",
    "command": "The command.",
    "attempt": "Number of the verification in this query, from 1.",
    "max_attempts": "Failures after which the query ends.",
    "duration_s": "Seconds that it took.",
    "files": "Files that the command reads or names and that have changed.",
    "level": "`info` or `warning`.",
    "purpose": "What the call was for, such as `main` or `summary`.",
    "transition": "Why the loop goes on.",
    "stage": "Name of the context stage.",
    "tokens_before": "Estimated tokens before the change.",
    "tokens_after": "Estimated tokens after it.",
    "tokens": "Tokens that were paid for again.",
    "delay_s": "Seconds until the next attempt.",
    "max_tries": "Attempts that are made at most.",
    "error": "What went wrong.",
    "tool_use_ids": "Ids of the calls.",
    "continuations": "How often the model was sent back to work, to spend the budget.",
    "percent": "Share of the budget that was spent.",
    "diminishing": "The query ended because the last continuations brought little.",
    "summary": "How it ended, in one line.",
    "output_path": "File that holds the output, where there is one.",
}
"""The meaning of a field whose class has no docstring for it."""
Row = tuple[str, ...]


def render_page() -> str:
    parts = [INTRODUCTION]
    for name in list_names():
        event = getattr(everturn, name)
        parts.append(f"### {name}\n\n{read_words(event)}\n")
        parts.append(render_fields(event))
    properties = [
        (f"`{name}`", describe_type(inspect.signature(value.fget).return_annotation), read_words(value))
        for name, value in vars(ResultEvent).items()
        if isinstance(value, property) and value.fget
    ]
    fields = list(list_fields(ResultEvent))
    return "\n".join([*parts, RESULT, render_rows(("name", "type", "meaning"), [*properties, *fields])])


def list_names() -> Iterator[str]:
    """The events that `everturn` serves, in the order of their module: the order in which they come."""
    for name, value in vars(events).items():
        if isinstance(value, type) and issubclass(value, Event) and value not in {Event, ResultEvent}:
            yield name


def render_fields(struct: type[msgspec.Struct]) -> str:
    rows = list(list_fields(struct))
    return render_rows(("field", "type", "meaning"), rows) if rows else ""


def list_fields(struct: type[msgspec.Struct]) -> Iterator[Row]:
    meanings = read_meanings(events, struct)
    for field in msgspec.structs.fields(struct):
        yield (
            f"`{field.name}`",
            describe_type(field.type),
            name_classes(meanings.get(field.name) or USUAL[field.name]).replace("|", "\\|"),
        )


def describe_type(annotation: Any) -> str:
    name = (
        annotation.__name__ if isinstance(annotation, type) and not hasattr(annotation, "__args__") else str(annotation)
    )
    name = re.sub(r"\b(?:typing|collections\.abc|everturn)\.(?:\w+\.)*(?=\w)", "", name)
    return f"`{name}`".replace("|", "\\|")


def read_words(value: object) -> str:
    return name_classes(inspect.getdoc(value) or "")


def name_classes(words: str) -> str:
    """Docstrings name events by their tags, readers of the page by their classes."""
    tags = {event.__struct_config__.tag: f"`{event.__name__}`" for event in Event.__subclasses__()}
    return re.sub(r"`(\w+)`", lambda named: tags.get(named[1], named[0]), words)
