"""The page of all hook events, made from their table."""

from collections.abc import Iterator

from everturn.ports.hook_events import (
    AGENT_S,
    COMMON_ANSWERS,
    COMMON_FIELDS,
    HOOK_EVENTS,
    PROGRAM_S,
    PROMPT_S,
    HookEvent,
)

INTRODUCTION = f"""\
# Hooks: every event

This page is made from the code: `make pages`. [how-to/hooks.md](../how-to/hooks.md) shows how hooks are written.

```json
{{"hooks": {{"PreToolUse": [{{"matcher": "Edit|Write", "hooks": [{{"type": "command", "command": "./check.sh", "timeout": 60}}]}}]}}}}
```

| a matcher | matches |
|---|---|
| none, `""`, `"*"` | always |
| letters, digits, `_`, `-`, blanks, commas, `\\|` | exactly these names, separated by `\\|` or a comma |
| anything else | as a regular expression, anywhere in the value: `Edit.*` matches NotebookEdit, too. An expression that could take for ever (`(a+)+$`) always matches, with a warning |

| a hook has | meaning |
|---|---|
| `type` | `command`, `http`, `prompt` or `agent` |
| `command` | for a shell (`sh`, or `"shell": "bash"`); with `args`, a program without a shell |
| `async` | true: the loop does not wait for the hook. Its text reaches the model later, and it decides nothing |
| `asyncRewake` | the same; with exit code 2 the model reads the reason |
| `url`, `headers`, `allowedEnvVars` | for `http`: the address that gets the event, more headers, and the variables that the headers may contain (`$NAME`) |
| `prompt`, `model`, `continueOnBlock` | for `prompt` and `agent`: the question; `$ARGUMENTS` stands for the event. The model answers with `ok` and `reason` |
| `if` | a permission rule, for events of tools: the hook runs for calls that it covers |
| `timeout` | time limit in seconds; by default {PROGRAM_S:g} for commands and requests, {PROMPT_S:g} for prompts, {AGENT_S:g} for agents |

| exit code of a command | meaning |
|---|---|
| 0 | standard output is read: JSON if it begins with a brace, else plain text |
| 2 | refuses, where the event can be refused; the reason is in the JSON or on standard error |
| any other | has no effect except a warning; JSON on standard output still counts |
"""


def render_page() -> str:
    ready = [event for event in HOOK_EVENTS.values() if not event.not_yet]
    later = [event for event in HOOK_EVENTS.values() if event.not_yet]
    lines = [INTRODUCTION, "## Fields of every event\n", *_table("field", COMMON_FIELDS), ""]
    lines += [
        "## Answers that count at every event\n",
        "As fields of the JSON object.\n",
        *_table("field", COMMON_ANSWERS),
        "",
    ]
    for event in ready:
        lines += [*_render_event(event), ""]
    lines += ["## Not yet\n", "Hooks of these events are ignored, with a warning:\n"]
    lines += ["| event | why |", "|---|---|", *(f"| `{event.name}` | {event.not_yet} |" for event in later), ""]
    return "\n".join(lines)


def _render_event(event: HookEvent) -> Iterator[str]:
    yield f"## {event.name}\n"
    yield f"Happens {event.when}.\n"
    kinds = list(event.kinds)
    rows = {
        "kinds": ", ".join(f"`{kind}`" for kind in kinds),
        "matcher": f"`{event.matched}`" if event.matched else "none: these hooks always run",
        "values": ", ".join(f"`{value}`" for value in event.values),
        "exit code 2": f"standard error {event.exit_2}" if event.exit_2 != "blocks" else "blocks",
        "a block": event.blocks,
        "plain output": "the model reads it" if event.plain_context else "",
        "`additionalContext`": "the model reads it" if event.takes_context else "",
        "other answers": ", ".join(f"`{answer}`" for answer in event.answers),
        "variables": "`CLAUDE_ENV_FILE` names a file for `export NAME=value`, for later commands of Bash"
        if event.sets_variables
        else "",
        "time limit": f"{event.program_s:g} s" if event.program_s != PROGRAM_S else "",
    }
    yield "| | |\n|---|---|"
    yield from (f"| {name} | {text} |" for name, text in rows.items() if text)
    if event.fields:
        yield ""
        yield from _table("field", event.fields)


def _table(head: str, rows: dict[str, str]) -> Iterator[str]:
    yield f"| {head} | meaning |\n|---|---|"
    yield from (f"| `{name}` | {text} |" for name, text in rows.items())
