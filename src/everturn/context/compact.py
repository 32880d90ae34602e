"""Stage six: one model call makes a summary, and a boundary puts it in place of the messages that are no longer sent."""

from bisect import bisect_left
from itertools import accumulate

import msgspec

from everturn.context.accounting import costs_of, estimate_messages, threshold
from everturn.context.carried import MAX_PINNED, count_carried, estimate_pinned, find_unseen
from everturn.context.rounds import last_prompt, round_starts
from everturn.core.errors import FaultKind, ModelFault
from everturn.core.marks import Tag, enclose_summary, harmless
from everturn.core.messages import UNSENT, Block, Kind, Message, text_block
from everturn.core.refused_media import find_refused, name_messages
from everturn.ports.ask import Ask, Question, Reply
from everturn.ports.clock import Ids
from everturn.ports.context import Situation

PURPOSE = "summary"
MANUAL = "manual"
TOO_LONG = "too_long"
"""Cause of a compaction after the API refused the request as too long; its refusal counts more than our estimate."""
SMALL_SUMMARY = 1_500
"""Tokens of a summary that is always worth trying after a refusal."""
KEPT_SHARE = 4
"""At most this fraction of the window is kept word for word: one part in so many."""
WORTHWHILE = 2 / 3
"""Share of the former size up to which a compaction is worth the details that it loses."""
UNENDED = frozenset({"tool_use", "max_tokens", "pause_turn"})
"""Stop reasons of a summary that the model did not end."""
MIN_UNENDED = 1_000
"""Characters from which on such an unended text still counts as a summary."""
WINDOW_FULL = "model_context_window_exceeded"
CUT = "[The summary was cut off here.]"
EMPTY = "The summary was empty."
CALLED = "The model called tools instead of writing a summary."
CUT_SHORT = "The summary was cut off after a few words."
NOT_SHORTER = "The summary was not shorter than what it should replace."
TOO_LITTLE = "The conversation would not have become smaller by a third."
BOUNDARY = "The conversation was compacted here; what came before is no longer sent."
INSTRUCTION = """\
Write a summary of this conversation from which the work can go on: apart from it and the last messages, nothing above will be visible any more. Answer with the summary alone, and call no tools.

Say, in this order and only what is known:
1. The task, in the user's own words wherever they matter, with every wish and every limit.
2. Decisions that were taken, and why.
3. Files that were read, created or changed, and what matters in each.
4. Commands that were run, what failed, and what helped.
5. What is still open.
6. The next step.

Be exact about names, paths, figures and error texts; leave out what no longer matters."""
INSTRUCTION_TOKENS = 1_000
"""Tokens of the instructions for a summary, those of the user included."""
WRAPPER = f"""\
The earlier part of this conversation was compacted. This summary replaces it:

{enclose_summary("{summary}")}

The messages after it are unchanged. Continue from there, and do not ask again for what the summary answers."""

PROMPT_HEAD = "The prompt you are working on, word for word:"
LAST_PROMPT_HEAD = "The last prompt, word for word:"
"""Heading of the last prompt where it is answered already."""


class NoSummaryError(Exception):
    """Says why there is no summary; caught where the compaction reports."""


class TooLargeError(NoSummaryError):
    """Not even the last round alone could be summarised."""


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """The messages that stay word for word, and those that the summary replaces."""

    kept: tuple[Message, ...]
    left_out: tuple[Message, ...]
    against_estimate: bool = False
    """By our estimate the conversation would fit: only a refusal justifies a result that is not smaller."""
    unread: tuple[Message, ...] = ()
    """Messages that no request has carried and that are left out."""

    @property
    def is_idle(self) -> bool:
        """Whether there is nothing to summarise except an earlier summary."""
        sent = [message for message in self.left_out if message.kind not in UNSENT]
        return not sent or (len(sent) == 1 and sent[0].kind is Kind.SUMMARY)


def can_compact(view: tuple[Message, ...]) -> bool:
    """Whether there is more than an earlier summary, the last prompt and what came after the last answer."""
    return not _split(view, last_prompt(view), find_unseen(view)).is_idle


def is_worth_asking(view: tuple[Message, ...]) -> bool:
    """Whether a summary can help: not where what must stay leaves no room for even a small one."""
    return estimate_pinned(view) <= MAX_PINNED * estimate_messages(view)


def plan_compaction(
    view: tuple[Message, ...], summary_tokens: int, situation: Situation, *, refused: bool = False
) -> Plan:
    """Keeps the last prompt with what came after it and the answer before it, or as many of its latest rounds as there is room for.

    What came after the last answer stays whatever the room is. Made when the summary is there, since its size decides about
    the room: the result is below the threshold, or there is nothing left to leave out.
    """
    prompt = last_prompt(view)
    room = _room(summary_tokens, estimate_messages(view), situation)
    tail = len(view) if prompt is None else _tail_start(view, prompt, room)
    unseen = find_unseen(view)
    plan = _split(view, prompt, min(tail, unseen))
    if plan.is_idle:
        plan = msgspec.structs.replace(_split(view, prompt, unseen), against_estimate=True)
    return plan_prompt_alone(view) if plan.is_idle and refused else plan


def plan_prompt_alone(view: tuple[Message, ...]) -> Plan:
    """Keeps the last prompt alone, after a refusal where nothing else helps: what came after the last answer goes into a file."""
    plan = _split(view, last_prompt(view), len(view))
    unseen = {message.id for message in view[find_unseen(view) :]}
    unread = tuple(message for message in plan.left_out if message.id in unseen)
    return msgspec.structs.replace(plan, against_estimate=True, unread=unread)


def judge_summary(
    text_tokens: int, summary: Message, plan: Plan, cause: str, *, is_last_resort: bool = False
) -> str | None:
    """What is wrong with it, or None. Where the API refused the conversation, its word counts more than our estimate.

    `text_tokens`: of what the model wrote; the rest of the summary is ours. As the last resort a little smaller will do.
    """
    if cause == TOO_LONG and (plan.against_estimate or text_tokens <= SMALL_SUMMARY):
        return None
    left_out, kept = estimate_messages(plan.left_out), estimate_messages(plan.kept)
    if summary.tokens >= left_out:
        return NOT_SHORTER
    if cause != MANUAL and not is_last_resort and summary.tokens + kept > WORTHWHILE * (left_out + kept):
        return TOO_LITTLE
    return None


def render_boundary(keeps: tuple[str, ...], ids: Ids) -> Message:
    return Message(id=ids.new(), role="user", kind=Kind.BOUNDARY, blocks=(text_block(BOUNDARY),), keeps=keeps)


def render_summary(text: str, *additions: str) -> tuple[Block, ...]:
    """The summary as it is sent: the model's text, then what we add."""
    summary = WRAPPER.format(summary=harmless(text.strip(), Tag.SUMMARY))
    return tuple(text_block(part) for part in (summary, *additions) if part)


def plan_shown(view: tuple[Message, ...], tokens: int, situation: Situation) -> tuple[Message, ...]:
    """What is to be summed up: all of it, or its latest rounds where even the call for a summary would not fit.

    `tokens`: of the whole request. It may be many windows, when another model with a smaller one takes over.
    """
    room = situation.card.window - min(situation.limits.summary_output, situation.card.max_output)
    if tokens <= room:
        return view
    estimated = situation.fixed_tokens + estimate_messages(view)
    return drop_oldest(view, room * estimated // tokens - situation.fixed_tokens - INSTRUCTION_TOKENS)


async def ask_for_summary(
    view: tuple[Message, ...], situation: Situation, ask: Ask, ids: Ids, *, instructions: str
) -> str:
    """Asks for a summary; each time the request is itself too long, the older half of the rounds is left out. Raises `NoSummaryError`."""
    limits = situation.limits
    words = f"{INSTRUCTION}\n\nThe user adds: {instructions.strip()}" if instructions.strip() else INSTRUCTION
    request = Message(id=ids.new(), role="user", kind=Kind.HIDDEN, blocks=(text_block(words),))
    shown = view
    for attempt in range(1, max(1, limits.summary_tries) + 1):
        question = Question(
            purpose=PURPOSE,
            messages=(*shown, request),
            max_tokens=min(limits.summary_output, situation.card.max_output),
            share_prefix=True,
            within_s=limits.summary_s,
            awaited=True,
        )
        try:
            reply = await _ask(ask, question, situation)
        except ModelFault as fault:
            fewer = drop_older_half(shown)
            if fault.kind is not FaultKind.TOO_LONG or fewer is None or attempt == limits.summary_tries:
                found = TooLargeError if fault.kind is FaultKind.TOO_LONG and fewer is None else NoSummaryError
                raise found(f"The call for a summary failed: {fault.text}") from fault
            shown = fewer
            continue
        return read_summary(reply)
    raise NoSummaryError("No summary was asked for.")


async def _ask(ask: Ask, question: Question, situation: Situation) -> Reply:
    """Asks once more with a larger output cap where thinking took almost all of it. Raises `ModelFault`."""
    reply = await ask.ask(question)
    most = min(situation.limits.output_cap_escalated, situation.card.max_output) if situation.limits.escalate else 0
    if reply.stop_reason == "max_tokens" and len(reply.text.strip()) < MIN_UNENDED and question.max_tokens < most:
        reply = await ask.ask(msgspec.structs.replace(question, max_tokens=most))
    if reply.stop_reason == WINDOW_FULL:
        raise ModelFault(FaultKind.TOO_LONG, "There was no room left for it.")
    return reply


def read_summary(reply: Reply) -> str:
    """The summary in the model's answer. Raises `NoSummaryError`."""
    text, stop_reason = reply.text.strip(), reply.stop_reason
    if stop_reason == "refusal":
        raise NoSummaryError("The model refused to write a summary.")
    if stop_reason == "tool_use" and len(text) < MIN_UNENDED:
        raise NoSummaryError(CALLED)
    if not text:
        raise NoSummaryError(EMPTY)
    if stop_reason in UNENDED and len(text) < MIN_UNENDED:
        raise NoSummaryError(CUT_SHORT)
    return f"{text}\n{CUT}" if stop_reason == "max_tokens" else text


def drop_older_half(view: tuple[Message, ...]) -> tuple[Message, ...] | None:
    """The later half of the rounds, with the summary that led the view and the last prompt; None if one round is all."""
    starts = _droppable(view)
    return None if len(starts) <= 1 else _from(view, starts[(len(starts) + 1) // 2])


def drop_oldest(view: tuple[Message, ...], most: int) -> tuple[Message, ...]:
    """The view with as many of the latest rounds as fit into these tokens, and at least one."""
    starts = _droppable(view)
    fitting = bisect_left(starts, True, key=lambda start: estimate_messages(_from(view, start)) <= most)
    return _from(view, starts[min(fitting, len(starts) - 1)]) if starts else view


def _droppable(view: tuple[Message, ...]) -> list[int]:
    """Indices of the rounds that may be left out of what is summarised."""
    lead, prompt = _count_lead(view), last_prompt(view)
    return [start for start in round_starts(view) if start >= lead and start != prompt]


def _count_lead(view: tuple[Message, ...]) -> int:
    return 1 if view and view[0].kind is Kind.SUMMARY else 0


def _from(view: tuple[Message, ...], start: int) -> tuple[Message, ...]:
    prompt = last_prompt(view)
    pinned = view[prompt : prompt + 1] if prompt is not None and prompt < start else ()
    return (*view[: _count_lead(view)], *pinned, *view[start:])


def _room(summary_tokens: int, view_tokens: int, situation: Situation) -> int:
    """Tokens that may be kept word for word."""
    worthwhile = int(WORTHWHILE * view_tokens)
    return min(
        situation.card.window // KEPT_SHARE,
        threshold(situation) - situation.fixed_tokens - summary_tokens,
        max(worthwhile - summary_tokens, 0),
    )


def _tail_start(view: tuple[Message, ...], prompt: int, room: int) -> int:
    """The earliest round whose tail, with the prompt, fits into the room: that of the answer before the prompt, or a later one."""
    costs = costs_of(view, find_refused(view))
    tails = list(accumulate(reversed(costs)))[::-1]
    first = min(prompt, count_carried(view))
    starts = [start for start in round_starts(view) if start >= first]
    fitting = (start for start in starts if tails[start] + (costs[prompt] if prompt < start else 0) <= room)
    return next(fitting, len(view))


def _split(view: tuple[Message, ...], prompt: int | None, tail: int) -> Plan:
    kept = {message.id for message in view[tail:]}
    if prompt is not None:
        kept.add(view[prompt].id)
    # A notice that takes media out of a message has to stay as long as the message does.
    kept |= {message.id for message in view if message.kind is Kind.NOTICE and kept & name_messages(message.blames)}
    return Plan(
        kept=tuple(message for message in view if message.id in kept),
        left_out=tuple(message for message in view if message.id not in kept),
    )
