"""Which stretches of work are finished: a closed task, a test that passes at last, a search that led somewhere, a prompt's work."""

import re

import msgspec

from everturn.context.following import SHELL, field_of
from everturn.core.messages import Kind, Message, ToolResult, ToolUse, result_text
from everturn.core.notes import TodoStatus

SEARCHES = frozenset({"Grep", "Glob"})
TASKS = "TodoWrite"
ANSWERED = "prompt that was answered"
OPENERS = {"Read": "file_path", "Edit": "file_path"}
WORK_ROUNDS = 2
"""Rounds with calls that make an answered prompt's work worth a summary."""
MOST_SEARCHES = 20
"""Searches that may still lead somewhere; older ones led nowhere."""
_TESTS = (
    r"\b(?:pytest|unittest|tox|nox|jest|vitest|mocha|rspec|phpunit|ctest|(?:cargo|go|npm|pnpm|yarn|bun|deno|mix|swift|dotnet|"
    r"gradle|mvn|make|just|rake|zig|bazel)\s+(?:run\s+)?(?:-\S+\s+)*(?:tests?|check|verify)\b)"
)


class Stretch(msgspec.Struct, frozen=True):
    """From one message to another, both included; whole rounds."""

    first: str
    last: str
    why: str


class _Todo(msgspec.Struct, frozen=True):
    content: str = ""
    status: str = ""


class _Todos(msgspec.Struct, frozen=True):
    todos: tuple[_Todo, ...] = ()


class Stretches:
    """Feed it the messages of a view in order. A round is an answer with all that follows until the next one."""

    def __init__(self) -> None:
        self.finished: list[Stretch] = []
        """In the order in which they ended."""
        self._round = ""
        """Id of the answer that began it."""
        self._last = ""
        self._before = ""
        """Id of the last message of the round before."""
        self._uses: dict[str, ToolUse] = {}
        self._closing: list[tuple[str, str]] = []
        """Ends with the present round: where it began, and why."""
        self._open_tasks: dict[str, str] = {}
        self._failing: dict[str, str] = {}
        self._searches: dict[str, str] = {}
        """What was found, by the round of the search."""
        self._has_calls = self._is_answer = False
        """Of the present round."""
        self._work: tuple[str, str] | None = None
        """On the last prompt: its first message and its last. Neither the prompt nor the answer to it."""
        self._work_rounds = 0

    def take(self, message: Message) -> None:
        if message.role == "assistant" or message.kind in {Kind.PROMPT, Kind.SUMMARY}:
            self._end_round()
            if message.kind is Kind.PROMPT:
                self._end_work()
            self._round, self._has_calls, self._is_answer = message.id, False, message.role == "assistant"
            if message.role == "user":
                # What the person asks for begins something new.
                self._searches.clear()
        self._last = message.id
        for use in message.uses:
            self._has_calls = True
            self._uses[use.id] = use
            self._open(use)
        for result in message.results:
            if result.tool_use_id in self._uses:
                self._settle(self._uses.pop(result.tool_use_id), result)

    def _end_round(self) -> None:
        for first, why in self._closing:
            self.finished.append(Stretch(first, self._last, why))
        self._closing.clear()
        self._before = self._last
        if self._has_calls:
            first, _ = self._work or (self._round, "")
            self._work = first, self._last
            self._work_rounds += 1

    def _end_work(self) -> None:
        """The next prompt comes. Work that was cut short is not finished: the prompt may well be about it."""
        is_answered = self._is_answer and not self._has_calls
        if is_answered and self._work is not None and self._work_rounds >= WORK_ROUNDS:
            self.finished.append(Stretch(*self._work, ANSWERED))
        self._work, self._work_rounds = None, 0

    def _open(self, use: ToolUse) -> None:
        """A file that an earlier search had found: the search has done its work, before this round."""
        path = field_of(use, OPENERS[use.name]) if use.name in OPENERS else ""
        if not path:
            return
        name = path.rpartition("/")[2]
        for begun, found in list(self._searches.items()):
            if begun != self._round and name in found:
                del self._searches[begun]
                self.finished.append(Stretch(begun, self._before, f"search that led to {name}"))

    def _settle(self, use: ToolUse, result: ToolResult) -> None:
        if use.name in SEARCHES and not result.is_error:
            self._searches[self._round] = self._searches.get(self._round, "") + result_text(result)
            while len(self._searches) > MOST_SEARCHES:
                del self._searches[next(iter(self._searches))]
        elif use.name == TASKS and not result.is_error:
            self._settle_tasks(use)
        elif use.name == SHELL and re.search(_TESTS, command := field_of(use, "command")):
            if result.is_error:
                self._failing.setdefault(command, self._round)
            elif (begun := self._failing.pop(command, None)) is not None:
                self._closing.append((begun, "test that was made to pass"))

    def _settle_tasks(self, use: ToolUse) -> None:
        try:
            listed = msgspec.json.decode(use.input, type=_Todos).todos
        except (msgspec.DecodeError, RecursionError):
            return
        for todo in listed:
            if todo.status == TodoStatus.IN_PROGRESS:
                self._open_tasks.setdefault(todo.content, self._round)
            elif todo.status == TodoStatus.COMPLETED and (begun := self._open_tasks.pop(todo.content, None)):
                self._closing.append((begun, f"task that was done: {todo.content}"))
