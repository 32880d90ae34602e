"""The page of all settings, made from the code."""

import ast
import inspect
from collections.abc import Sequence
from itertools import pairwise
from types import ModuleType
from typing import Any

import msgspec

from everturn.core import limits
from everturn.settings import options
from everturn.settings.environment import OF_COMMANDS, OF_THE_SYSTEM, VARIABLES
from everturn.settings.keys import KEYS, LIMIT_PREFIX, Reach, is_limit

UNSAID = {
    "max_tool_calls": "Calls that the model may make in one query; the first call above the limit does not run and ends the query. 0 = no limit.",
    "max_wall_s": "Seconds that one query may take; 0 = no limit.",
    "structured_retries": "Retries for an answer that does not fit the output schema.",
    "work_threshold": "Share of the work budget above which a query may stop.",
    "work_min_gain": "Output tokens below which a continuation counts as no progress.",
    "work_min_continuations": "Continuations before a lack of progress ends the query.",
    "output_cap_thinking": "Output tokens that are first requested from a model that thinks; if you set `output_cap`, that counts.",
    "output_cap_escalated": "Output tokens that are requested after an answer was cut off.",
    "output_recoveries": "How many times a cut answer is resumed.",
    "goal_attempts": "Failed verifications of a goal after which the query ends.",
    "stop_hook_blocks": "How many times stop hooks may send the model back to work in one query.",
    "pauses": "Paused answers in a row after which the query ends.",
    "reactive_compact": "Summarise when the API refuses the conversation as too long.",
    "overloads_before_fallback": "Overloads in a row before the next fallback model is used.",
    "backoff_first_s": "Seconds before the second attempt; the wait doubles from there.",
    "backoff_most_s": "The longest wait between two attempts, unless the server names one.",
    "connect_s": "Seconds that a connection may take to open.",
    "tool_concurrency": "Calls that may run at the same time.",
    "auto_compact": "Summarise before the window is full.",
    "summary_output": "Output tokens that a summary may take.",
    "file_states": "Number of files whose state is remembered when they are read.",
}
"""Limits without a docstring in the code."""
INTRODUCTION = """\
# Settings

This page is made from the code: `make pages`.

`Options` takes everything by name. An option that is not given comes from the environment, or else is the default here.
A value that does not fit raises one `OptionError` that names the option, or the variable, and says what is allowed.
"""
LIMITS = """\
Set a limit with `Options(limits={"name": value})`. The most used limits are also options, which override the same limit here.
"""
FILES = """\
[cli.md](cli.md#settings) says where the files are and which one wins; [trust.md](../how-to/trust.md) says what trust is.
"""
FROM_A_REPOSITORY = {
    Reach.TRUSTED: "if the repository is trusted",
    Reach.ANYWHERE: "always: it can only restrict",
    Reach.MANAGED: "never: only from managed settings",
}
ENVIRONMENT = """\
An empty variable counts as not set. An option overrides its variable.
"""


OTHER_PROGRAMS = """\
Everturn also reads these, most of which other programs use, too:
"""
GIVEN = """\
Commands of the model get the environment of the program without the credentials above, plus these:
"""


def render_page() -> str:
    parts = [
        INTRODUCTION,
        "## Options\n",
        render_table(options, options.Options, {}),
        "## Settings files\n",
        FILES,
        render_keys(),
        "## Limits\n",
        LIMITS,
        render_table(limits, limits.Limits, UNSAID),
        "## Environment\n",
        ENVIRONMENT,
        render_variables(VARIABLES),
        OTHER_PROGRAMS,
        render_variables(OF_THE_SYSTEM),
        GIVEN,
        render_variables(OF_COMMANDS),
    ]
    return "\n".join(parts)


def render_table(module: ModuleType, struct: type[msgspec.Struct], unsaid: dict[str, str]) -> str:
    meanings = {**unsaid, **read_meanings(module, struct)}
    rows = [
        (f"`{field.name}`", render_default(field), meanings[field.name].replace("|", "\\|"))
        for field in msgspec.structs.fields(struct)
    ]
    return render_rows(("name", "default", "meaning"), rows)


def render_keys() -> str:
    rows = [
        (f"`{name}`", key.meaning.replace("|", "\\|"), FROM_A_REPOSITORY[key.reach])
        for name, key in KEYS.items()
        if not is_limit(name)
    ]
    limits = (f"`{LIMIT_PREFIX}*`", "each limit below by its name", FROM_A_REPOSITORY[Reach.TRUSTED])
    return render_rows(("key", "meaning", "counts from a repository"), [*rows, limits])


def render_variables(variables: dict[str, str]) -> str:
    return render_rows(("variable", "meaning"), [(f"`{name}`", meaning) for name, meaning in variables.items()])


def render_rows(heading: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> str:
    lines = [heading, tuple("---" for _ in heading), *rows]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in lines)


def render_default(field: msgspec.structs.FieldInfo) -> str:
    default: Any = field.default if field.default is not msgspec.NODEFAULT else {}
    return f"{default:,}" if isinstance(default, int) and not isinstance(default, bool) else f"`{default!r}`"


def read_meanings(module: ModuleType, struct: type) -> dict[str, str]:
    """The strings below the fields, or below the members of an enum, as they stand in the source."""
    tree = ast.parse(inspect.getsource(module))
    body = next(node.body for node in tree.body if isinstance(node, ast.ClassDef) and node.name == struct.__name__)
    meanings: dict[str, str] = {}
    for field, below in pairwise(body):
        match field, below:
            case (
                ast.AnnAssign(target=ast.Name(id=name)) | ast.Assign(targets=[ast.Name(id=name)]),
                ast.Expr(value=ast.Constant(value=str(text))),
            ):
                meanings[name] = " ".join(text.split())
    return meanings
