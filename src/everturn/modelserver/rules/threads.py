"""Rules about threads: conversations that the API holds, of which a request brings only what is new."""

from everturn.modelserver.ask import Ask
from everturn.modelserver.rules.rule import REFERENCE, BodyRules
from everturn.modelserver.threads import HELD_FIELDS, continued_id

THREADS = BodyRules()

_BETA = "message-threads-2026-08-12"
_FIELDS = {"create": {"type"}, "continue": {"type", "previous_message_id"}}


@THREADS.rule("thread-beta", REFERENCE, "thread needs its beta header.")
def _beta(ask: Ask) -> str | None:
    if ask.sent.get("thread") is not None and _BETA not in ask.betas:
        return "thread: Extra inputs are not permitted"
    return None


@THREADS.rule("thread-shape", REFERENCE, "thread is create, or continue with a previous_message_id.")
def _shape(ask: Ask) -> str | None:
    thread = ask.sent.get("thread")
    if thread is None:
        return None
    kind = thread.get("type")
    if kind not in _FIELDS:
        return "thread: Input tag found using 'type' does not match any of the expected tags: 'create', 'continue'"
    if kind == "continue" and not isinstance(thread.get("previous_message_id"), str):
        return "thread.continue.previous_message_id: Field required"
    strange = set(thread) - _FIELDS[kind]
    return f"thread.{kind}.{min(strange)}: Extra inputs are not permitted" if strange else None


@THREADS.rule(
    "thread-held",
    REFERENCE,
    "The answer that is continued was given in a thread, less than five minutes ago.",
    status=404,
    kind="not_found_error",
    details={"error_code": "thread_not_found"},
)
def _held(ask: Ask) -> str | None:
    identity = continued_id(ask.sent)
    if not identity or ask.threads.find(ask.sent) is not None:
        return None
    return f"thread: nothing is held for previous_message_id '{identity}'. Send the full conversation with thread.type 'create'."


@THREADS.rule(
    "thread-continued-once",
    REFERENCE,
    "An answer is continued once.",
    details={"error_code": "thread_already_continued"},
)
def _once(ask: Ask) -> str | None:
    held = ask.threads.find(ask.sent)
    if held is None or not held.continued:
        return None
    return (
        f"thread: previous_message_id '{continued_id(ask.sent)}' was continued already. Continue from the last answer."
    )


@THREADS.rule("thread-fields", REFERENCE, "A continuation repeats neither system nor tools.")
def _fields(ask: Ask) -> str | None:
    repeated = [name for name in HELD_FIELDS if continued_id(ask.sent) and name in ask.sent]
    return f"{repeated[0]}: must not be sent when a thread is continued; the thread keeps it" if repeated else None
