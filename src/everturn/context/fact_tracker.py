"""What the stages know of the messages: folded from each message once, so that no turn searches all of them."""

import re
from collections.abc import Iterable, Mapping
from posixpath import join, normpath
from typing import Any

import msgspec

from everturn.core.commands import SENT_MEANWHILE
from everturn.core.contexts import REMINDER, find_change
from everturn.core.denials import DENIED
from everturn.core.facts import Facts, Failing, Said
from everturn.core.marks import harmless
from everturn.core.messages import UNSENT, Kind, Message, Text, ToolResult, ToolUse, result_text
from everturn.core.records import FactsKept
from everturn.core.tokens import Scale

SHELL = "Bash"
EDITORS = {"Edit": "file_path", "Write": "file_path", "NotebookEdit": "notebook_path"}
"""Which field of their input names the file that they change."""
PLAN = "ExitPlanMode"
ASKING = frozenset({"AskUserQuestion", PLAN})
"""They bring words of the person, also where the answer is no."""
WAITER = "TaskOutput"
BEHIND = r"The command (?:runs in|did not end within \S+ s and was moved to) the background, as task (\S+)\."
TASK_ENDED = r"(?:The background task|Task) (\S+) (?:has ended|\(\w+\)): exit code (\d+)"
"""How such a text begins, whether it was asked for or told unasked: what follows may be anything that the task printed."""
MAX_COMMAND_LENGTH = 2_000
"""Characters of a command that are looked at."""
MAX_PROMPT_LENGTH = 6_000
"""Characters of an earlier prompt that is worth repeating."""
MAX_PROMPTS = 50
MAX_ERROR_LENGTH = 8_000
"""Characters of a failed command's output; of a longer one both ends are kept."""


class FactTracker:
    """Of the whole session. Feed it every message, in order; what it has seen it passes over."""

    def __init__(self) -> None:
        self.facts = Facts()
        self.scales: dict[str, Scale] = {}
        """By model."""
        self.calls: dict[str, ToolUse] = {}
        self._seen: set[str] = set()
        self._counted = 0
        """What the API counted with the last answer."""
        self._since = 0
        """Estimate of what came after that."""

    def take(self, messages: Iterable[Message]) -> None:
        for message in messages:
            if message.id not in self._seen:
                self._seen.add(message.id)
                self._follow(message)

    def keep(self) -> FactsKept:
        return FactsKept(facts=self.facts, scales=dict(self.scales))

    def restore(self, messages: Iterable[Message], kept: FactsKept | None) -> None:
        """Of a resumed session. What came before its last compaction is told by `kept`."""
        after: list[Message] = []
        for message in messages:
            self.calls |= {use.id: use for use in message.uses}
            if kept is not None and message.kind is Kind.BOUNDARY:
                self._seen.update(earlier.id for earlier in after)
                after.clear()
            after.append(message)
        if kept is not None:
            self.facts, self.scales = kept.facts, dict(kept.scales)
        self.take(after)

    def _follow(self, message: Message) -> None:
        self.facts = fold_facts(self.facts, message, self.calls)
        for use in message.uses:
            self.calls[use.id] = use
        if message.kind in UNSENT:
            return
        self._since += message.tokens
        answer = message.answer
        if answer is None or not answer.counted:
            return
        if self._counted:
            counted = answer.counted - self._counted
            before = self.scales.get(answer.asked, Scale())
            scale = before.seen(estimated=self._since, counted=counted)
            if scale is not before:
                self.scales[answer.asked] = scale
        self._counted, self._since = answer.counted, 0


def fold_facts(facts: Facts, message: Message, calls: Mapping[str, ToolUse]) -> Facts:
    """`calls` are those that stand before the message."""
    match message.kind:
        case Kind.PROMPT:
            text = message.text
            kept = bool(text.strip()) and len(text) <= MAX_PROMPT_LENGTH
            facts = facts.with_prompt(Said(id=message.id, text=text) if kept else None)
            return msgspec.structs.replace(facts, prompts=facts.prompts[-MAX_PROMPTS:])
        case Kind.ATTACHMENT:
            for block in message.blocks:
                if isinstance(block.view, Text):
                    facts = _fold_attachment(facts, message.id, block.view.text)
        case Kind.RESULTS:
            for result in message.results:
                if (use := calls.get(result.tool_use_id)) is not None:
                    facts = _fold_result(facts, use, result)
    return facts


def _fold_attachment(facts: Facts, id_: str, text: str) -> Facts:
    # First of all: what a memory file says must not be taken for the person's words.
    if (told := find_change(text)) is not None:
        return facts.with_context(Said(id=id_, text=told))
    if text.removeprefix(REMINDER).startswith(SENT_MEANWHILE):
        return facts.with_words(Said(id=id_, text=text))
    return _fold_task(facts, id_, text) if facts.behind else facts


def _fold_result(facts: Facts, use: ToolUse, result: ToolResult) -> Facts:
    name = use.name
    if name in EDITORS and not result.is_error:
        path = field_of(use, EDITORS[name])
        return facts.with_change(path, use.id) if path else facts
    if name == SHELL:
        return _fold_command(facts, use, result)
    if name == WAITER and facts.behind:
        return _fold_task(facts, use.id, result_text(result))
    if name in ASKING and (DENIED in (said := result_text(result)) or not result.is_error):
        return facts.with_answer(Said(id=use.id, text=said))
    return facts


def _fold_command(facts: Facts, use: ToolUse, result: ToolResult) -> Facts:
    from everturn.context.shell_words import find_test, says_failed

    command = field_of(use, "command")
    if not result.is_error and (task := task_of(result)):
        return facts.with_behind(Said(id=task, text=command))
    tested = find_test(command[:MAX_COMMAND_LENGTH])
    hides_it = bool(tested.test) and not tested.is_last
    if not result.is_error and not (hides_it and says_failed(result_text(result))):
        return facts.with_success(command, tested.test) if facts.failing else facts
    # What failed by its exit code begins with a word of ours; this one begins with whatever it printed.
    error = _both_ends(result_text(result) if result.is_error else harmless(result_text(result)))
    return facts.with_failure(Failing(tool_use_id=use.id, command=command, error=error, test=tested.test))


def task_of(result: ToolResult) -> str:
    """Of a command that goes on in the background, which has neither passed nor failed; empty where it has ended."""
    if not bytes(result.content).startswith(b'"The command '):
        return ""
    moved = re.match(BEHIND, result_text(result))
    return moved[1] if moved else ""


def _fold_task(facts: Facts, id_: str, told: str) -> Facts:
    """`id_`: of the call or the message that tells how a task ended."""
    from everturn.context.shell_words import find_test

    ended = re.match(TASK_ENDED, told.removeprefix(REMINDER))
    command = next((said.text for said in facts.behind if ended and said.id == ended[1]), None)
    if ended is None or command is None:
        return facts
    test = find_test(command[:MAX_COMMAND_LENGTH]).test
    if ended[2] == "0":
        return facts.with_success(command, test)
    return facts.with_failure(Failing(tool_use_id=id_, command=command, error=_both_ends(told), test=test))


def field_of(use: ToolUse, name: str) -> str:
    """Empty where the input has no such text."""
    try:
        value: Any = msgspec.json.decode(use.input, type=dict[str, Any]).get(name)
    except (msgspec.DecodeError, RecursionError):
        return ""
    return value if isinstance(value, str) else ""


def full_path(path: str, folder: str) -> str:
    """As the tools resolve what a call names, without a look at the disk; as it is where that cannot be told."""
    if path.startswith("file://"):
        path = f"/{path.removeprefix('file://').partition('/')[2]}"
    return path if path.startswith("~") or not folder else normpath(join(folder, path))


def _both_ends(text: str) -> str:
    if len(text) <= MAX_ERROR_LENGTH:
        return text
    half = MAX_ERROR_LENGTH // 2
    return f"{text[:half]}\n[… {len(text) - 2 * half:,} characters left out …]\n{text[-half:]}"
