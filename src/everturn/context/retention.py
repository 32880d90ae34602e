"""What no stage may lose: where a stage would remove it from the request, it is added again word for word, without asking a model."""

from collections.abc import Callable, Iterable, Mapping, Sequence

import msgspec

from everturn.context.fact_tracker import PLAN, fold_facts, full_path
from everturn.core.facts import Facts, Said
from everturn.core.marks import Own, join_harmless, one_line, quote
from everturn.core.messages import UNSENT, Kind, Message, ToolUse
from everturn.core.notes import Notes
from everturn.core.records import ResultSpilled
from everturn.core.tokens import estimate_bytes
from everturn.ports.outputs import Shelf

HEAD = "What was kept word for word from the part that is no longer shown:"
TASK_TOOLS = frozenset({"TodoWrite", PLAN})


def recall(
    facts: Facts,
    notes: Notes,
    kept: Sequence[Message],
    *,
    changed: Mapping[str, str] = {},
    calls: Mapping[str, ToolUse] = {},
    folder: str = "",
    prompts_room: int = 0,
    shorten: Callable[[str], str] | None = None,
) -> str:
    """All that the kept messages do not show, after a compaction. Empty where there is nothing.

    What is shown is known by its identity: the id of the message or of the call that brought it. `changed` are files that
    no call names, each with the id of what told of it; `calls` are all, in their order; `folder` is what relative paths
    start from; `shorten` is for what would not fit the window as it is.
    """
    ids = {message.id for message in kept}
    answered = {result.tool_use_id for message in kept for result in message.results}
    missing = Facts(
        prompts=choose_prompts([said for said in facts.prompts if said.id not in ids], prompts_room),
        words=tuple(said for said in facts.words if said.id not in ids),
        answers=tuple(said for said in facts.answers if said.id not in answered),
        changed_files=tuple(dict.fromkeys(full_path(path, folder) for path in (*facts.changed_files, *changed))),
        failing=tuple(failing for failing in facts.failing if failing.tool_use_id not in answered | ids),
        contexts=tuple(said for said in facts.contexts if said.id not in ids),
    )
    return render_facts(missing, notes, shorten, when=tell_when(facts, changed, calls))


def tell_when(facts: Facts, changed: Mapping[str, str], calls: Mapping[str, ToolUse]) -> dict[str, str]:
    """For each failed command, how long ago that was, and whether files changed since."""
    if not facts.failing:
        return {}
    order = {id_: place for place, id_ in enumerate(calls)}
    last_change = max(order.get(id_, -1) for id_ in (facts.changed_by, *changed.values()))
    told = {}
    for id_ in (failing.tool_use_id for failing in facts.failing):
        ago = len(order) - order.get(id_, -1)
        when = f"{ago} call{'s' * (ago > 1)} before this was written" if id_ in order else "earlier"
        is_outdated = order.get(id_, last_change) < last_change
        since = "files were changed since" if is_outdated else "no file is known to have changed since"
        told[id_] = f"(It failed {when}; {since}.)\n"
    return told


def recall_from(
    stretch: Sequence[Message],
    facts: Facts,
    notes: Notes,
    calls: Mapping[str, ToolUse],
    changed: Mapping[str, str] = {},
    *,
    folder: str = "",
) -> str:
    """What of this stretch, without collapses, must stay in sight when something stands for it.

    `changed`: files that no call names, each with the id of what told of it.
    """
    if any(message.kind is Kind.SUMMARY for message in stretch):
        # The summary of a compaction had put everything back that was known then.
        return recall(facts, notes, (), changed=changed, calls=calls, folder=folder)
    found = Facts(behind=facts.behind)
    for message in stretch:
        found = fold_facts(found, message, calls)
    uses = [use for message in stretch for use in message.uses]
    ids = {use.id for use in uses} | {message.id for message in stretch}
    failed = {failing.tool_use_id for failing in found.failing}
    named = (*found.changed_files, *(path for path in changed if changed[path] in ids))
    words = {said.id for said in facts.words}
    missing = Facts(
        words=tuple(said for said in found.words if said.id in words),
        answers=found.answers,
        changed_files=tuple(dict.fromkeys(full_path(path, folder) for path in named)),
        failing=tuple(failing for failing in facts.failing if failing.tool_use_id in failed),
        contexts=tuple(said for said in found.contexts if said in facts.contexts),
    )
    listed = notes if any(use.name in TASK_TOOLS for use in uses) else Notes()
    text = "\n".join(message.text for message in stretch if message.kind not in UNSENT)
    pins = tuple(pin for pin in notes.pins if pin in text)
    when = tell_when(facts, changed, calls)
    return render_facts(missing, msgspec.structs.replace(listed, pins=pins), when=when)


def choose_prompts(prompts: Sequence[Said], room: int) -> tuple[Said, ...]:
    """The latest prompts that fit into the room, in their order."""
    chosen: list[Said] = []
    for said in reversed(prompts):
        room -= estimate_bytes(len(said.text.encode(errors="replace")))
        if room < 0:
            break
        chosen.append(said)
    return tuple(reversed(chosen))


def shorten_part(part: str, most: int, shelf: Shelf | None) -> str:
    """Both ends of the text, and the path of a file with all of it; a short text stays as it is."""
    if len(part) <= most:
        return part
    path = put_aside(part, shelf)
    where = f"all of it is in {path}, which Read shows in pages" if path else "and there was no room to keep them"
    half = most // 2
    return f"{part[:half]}\n[… {len(part) - 2 * half:,} characters are left out here; {where} …]\n{part[-half:]}"


class RecordingShelf:
    """A shelf that remembers what was put there, for the journal."""

    def __init__(self, shelf: Shelf) -> None:
        self._shelf = shelf
        self._news: dict[str, ResultSpilled] = {}

    def put(self, text: str) -> str:
        path = self._shelf.put(text)
        self._news[path] = ResultSpilled(path=path, characters=len(text))
        return path

    def take_news(self) -> tuple[ResultSpilled, ...]:
        news, self._news = tuple(self._news.values()), {}
        return news


def put_aside(text: str, shelf: Shelf | None) -> str:
    """Writes the text into a file. Returns its path, or None where that failed."""
    try:
        return shelf.put(text) if shelf is not None else ""
    except OSError:
        return ""


def render_facts(
    facts: Facts, notes: Notes, shorten: Callable[[str], str] | None = None, *, when: Mapping[str, str] = {}
) -> str:
    """What the person typed stands as they typed it; no other text can hold a tag of ours.

    `when`: what there is to say of the time of a failure, by its id.
    """
    parts = [
        _section("Contexts that changed since the beginning", (said.text for said in facts.contexts)),
        _section("The user's earlier prompts", (Own(said.text) for said in facts.prompts)),
        _section("Sent by the user while this query was at work", (Own(said.text) for said in facts.words)),
        _section("Answers of the user to questions and plans", (quote(said.text) for said in facts.answers)),
        _section("Notes that the user pinned", map(Own, notes.pins)),
        _section("The plan that the user approved", (notes.plan,) if notes.plan else ()),
        _list("The list of todos, done and open", (f"[{todo.status}] {todo.content}" for todo in notes.todos)),
        _list("Files changed so far", map(one_line, facts.changed_files)),
        _section(
            "Commands that failed and have not passed since",
            (
                ("$ ", failing.command, "\n", when.get(failing.tool_use_id, ""), *quote(failing.error))
                for failing in facts.failing
            ),
        ),
    ]
    said = [shorten(part) if shorten else part for part in parts if part]
    return "\n\n".join([HEAD, *said]) if said else ""


def _section(title: str, texts: Iterable[str | tuple[str, ...]]) -> str:
    """A text may come in pieces."""
    pieces = [piece for text in texts for piece in ("\n\n", *(text if isinstance(text, tuple) else (text,)))]
    body = join_harmless(pieces[1:])
    return f"## {title}\n{body}" if body else ""


def _list(title: str, entries: Iterable[str]) -> str:
    return _section(title, ["\n".join(f"- {entry}" for entry in entries)])
