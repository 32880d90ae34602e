"""Every sentence of the loop that the model reads."""

from collections.abc import Mapping
from typing import Any

import msgspec

from everturn.core.commands import SENT_MEANWHILE
from everturn.core.contexts import ChangedEntry
from everturn.core.hiding import MARK
from everturn.core.marks import harmless, one_line, reminder, reminder_of_words, tool_error
from everturn.ports.tasks import TaskReport

RESUME = (
    "Your answer was cut off at the output limit. Go on exactly where it stopped: no apology, no recap. "
    "Break what remains into smaller portions."
)
GO_ON = "Your turn was paused in the middle of your answer. Go on exactly where it stopped: no recap."
FOR_THE_REST = frozenset({RESUME, GO_ON})
"""What asks for the rest of an answer."""
INTERRUPTED_STREAMING = "[The user interrupted the answer.]"
INTERRUPTED_TOOLS = "[The user interrupted the tools.]"
CALL_INTERRUPTED = "The call was interrupted before it finished."
CALL_NOT_RUN = "The call was not run: the query ended before its turn came."
CALL_AFTER_NO = "The call was not run: the person said no to an earlier call of the same response."
SCHEMA_SHOWN = 20_000
"""Characters of an output schema that a request for another answer repeats."""
USER_CONTEXT = "Context of this conversation:"
TASK_OUTPUT = 4_000
"""Characters of a finished task's output, the last ones, that the model is given unasked."""


def user_context(entries: Mapping[str, str]) -> str:
    body = "\n\n".join(f"# {key}\n{value}" for key, value in entries.items())
    return reminder(f"{USER_CONTEXT}\n\n{body}")


def system_context(entries: Mapping[str, str]) -> str:
    return harmless("\n".join(f"{key}: {value}" for key, value in entries.items()))


def changed_context(entry: ChangedEntry) -> str:
    if entry.now is None:
        return reminder(f"{entry.head} is gone; it holds no longer.")
    if entry.now == entry.first:
        return reminder(f"{entry.head} reads again as at the beginning of this conversation.")
    told = "is new:" if entry.before is None else "has changed; it now reads:"
    return reminder(f"{entry.head} {told}\n{entry.now}")


def hook_blocked(text: str) -> str:
    return reminder(f"A stop hook found that the work is not finished:\n{text}")


def output_invalid(text: str, schema: str) -> str:
    if len(schema) > SCHEMA_SHOWN:
        schema = f"{schema[:SCHEMA_SHOWN]}\n[… {len(schema) - SCHEMA_SHOWN:,} of {len(schema):,} characters are left out here …]"
    return reminder(
        f"The answer does not fit the required output schema: {text}\nThe schema is:\n{schema}\n"
        "Answer again with nothing but a JSON value that fits it."
    )


def budget_nudge(percent: int) -> str:
    return reminder(
        f"You have used {percent} % of the work budget. Keep working: look for what is missing, untested or could be "
        "better. Do not sum up yet."
    )


def queued_command(text: str) -> str:
    return reminder_of_words(SENT_MEANWHILE, text)


def pinned(text: str) -> str:
    return reminder_of_words("The user pinned this note; it holds until they take it back:", text)


def unpinned(text: str) -> str:
    return reminder_of_words("The user took this note back; it holds no longer:", text)


def changed_files(paths: list[str]) -> str:
    listing = "\n".join(f"- {one_line(path)}" for path in paths)
    return reminder(
        f"These files changed on disk since you read them; read them again before relying on them:\n{listing}"
    )


def files_changed_by_command(paths: list[str]) -> str:
    listing = "\n".join(f"- {one_line(path)}" for path in paths)
    return reminder(
        "These files changed while your command ran, after you had read them; read them again before you edit them:\n"
        f"{listing}"
    )


def hidden_credentials(places: list[str]) -> str:
    listing = "\n".join(f"- {one_line(place)}" for place in places)
    return reminder(
        f"A credential of this session stands in what follows; you read {MARK} in its place, and the files still hold the "
        "real value. Leave it where it is and change only what stands around it: Write and Edit refuse a text that would "
        f"put the mark into a file.\n{listing}"
    )


def gone_files(paths: list[str]) -> str:
    listing = "\n".join(map(gone_file, paths))
    return reminder(
        "These files held the whole of results that are shown here only in part, and they were deleted. What is shown is "
        f"all that is left; run the call again if you need more:\n{listing}"
    )


def gone_scratch(path: str) -> str:
    return reminder(
        f"The session was resumed, and $TMPDIR is a new, empty folder. What was in the former one ({one_line(path)}) is gone "
        "with the program that made it; write again what you still need."
    )


def gone_file(path: str) -> str:
    return f"- gone: {one_line(path)}"


def finished_task(report: TaskReport) -> str:
    output = report.output
    if len(output) > TASK_OUTPUT:
        # What is itself a part says nothing of how much is left out.
        left = (
            f"all but the last {TASK_OUTPUT:,} characters of {report.size:,} bytes are"
            if report.size
            else f"{len(output) - TASK_OUTPUT:,} of {len(output):,} characters are"
        )
        output = f"[… {left} left out here …]\n{output[-TASK_OUTPUT:]}"
    where = f" (all of it: {report.output_path})" if report.output_path else ""
    return reminder(
        f"The background task {report.id} has ended: {report.summary}. It was: {report.command or report.description}\n"
        f"Its output{where}:\n{output or '(none)'}"
    )


def unknown_outcome(name: str, input_: str, *, waited: bool = False) -> str:
    """`waited`: it was the turn of another call. After a power cut the record that it had begun may be missing."""
    told = (
        f"This {name} call did not run, as far as is known: the session ended before its turn came."
        if waited
        else f"The outcome of this {name} call is unknown: the session ended while it ran."
    )
    return tool_error(f"{told} {verify_first(input_)}")


def lost_call(name: str, input_: str, *, waited: bool = False) -> str:
    told = (
        f"An answer was cut off before the turn of its {name} call came; as far as is known, it did not run."
        if waited
        else f"An answer was cut off after its {name} call had begun; the outcome is unknown."
    )
    return reminder(f"{told} {verify_first(input_)}")


def verify_first(input_: str) -> str:
    """Names what to look at: the file of a call that has one, the command of one that runs it."""
    try:
        fields = msgspec.json.decode(input_, type=dict[str, Any])
    except (msgspec.DecodeError, RecursionError, UnicodeEncodeError):
        fields = {}
    for key in ("file_path", "notebook_path"):
        if isinstance(path := fields.get(key), str):
            return f"Read {path} to see whether the change is there before you repeat it."
    if isinstance(command := fields.get("command"), str):
        return f"Check what this command has done, and whether it still runs, before you repeat it: {command[:500]}"
    return f"Its input was {input_[:500]}. Verify what it did before you repeat it."


def unpaired_result(text: str) -> str:
    return reminder(f"The result of an earlier call, which is no longer shown:\n{text}")


def summary_request(calls: str) -> str:
    return f"Say in one line of at most ten words, past tense, what these tool calls did:\n{harmless(calls)}"
