"""Finds finished stretches of work: a closed task, a test that passes after failures, a search that found something, the work on an answered prompt."""

import msgspec

from everturn.context.fact_tracker import MAX_COMMAND_LENGTH, SHELL, field_of, task_of
from everturn.core.messages import Kind, Message, ToolResult, ToolUse, result_text
from everturn.core.notes import TodoStatus

SEARCHES = frozenset({"Grep", "Glob", "WebSearch"})
TASKS = "TodoWrite"
ANSWERED = "prompt that was answered"
OPENERS = {"Read": "file_path", "Edit": "file_path", "NotebookEdit": "notebook_path"}
PAGES = "WebFetch"
WORK_ROUNDS = 2
"""Number of rounds with calls from which on the work on an answered prompt is worth a summary."""
MAX_SEARCHES = 20
"""Number of searches that are remembered; older ones are taken to have led nowhere."""
MIN_NAME = 3
"""Characters of the shortest name that is looked for in results."""


class Stretch(msgspec.Struct, frozen=True):
    """A finished stretch of work: ids of its first and last message. It consists of whole rounds."""

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
        """Id of the answer that began the present round."""
        self._last = ""
        self._before = ""
        """Id of the last message of the round before."""
        self._uses: dict[str, ToolUse] = {}
        self._closing: list[tuple[str, str]] = []
        """Stretches that end with the present round: where each began, and why it ends."""
        self._open_tasks: dict[str, str] = {}
        """Where the work on each open task began, by its text."""
        self._pending: frozenset[str] = frozenset()
        self._listed: str | None = None
        """The round after the one in which the list was written last, where it has come."""
        self._failing: dict[str, str] = {}
        self._searches: dict[str, str] = {}
        """Names that a search found, by the round of the search."""
        self._has_calls = self._is_answer = False
        """The present round has calls."""
        self._work: tuple[str, str] | None = None
        """First and last message of the work on the last prompt, without the prompt and the answer to it."""
        self._work_rounds = 0

    def take(self, message: Message) -> None:
        if message.role == "assistant" or message.kind in {Kind.PROMPT, Kind.SUMMARY}:
            self._end_round()
            if message.kind is Kind.PROMPT:
                self._end_work()
            self._round, self._has_calls, self._is_answer = message.id, False, message.role == "assistant"
            if self._is_answer:
                self._listed = self._listed or message.id
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
        """Ends the stretch of an earlier search whose result is opened now."""
        if not self._searches:
            return
        names = name_opened(use)
        for begun, found in list(self._searches.items()):
            name = next((name for name in names if name in found), None)
            if name is not None and begun != self._round:
                del self._searches[begun]
                self.finished.append(Stretch(begun, self._before, f"search that led to {name}"))

    def _settle(self, use: ToolUse, result: ToolResult) -> None:
        if use.name in SEARCHES:
            self._settle_search(result)
        elif use.name == TASKS and not result.is_error:
            self._settle_tasks(use)
        elif use.name == SHELL:
            self._settle_command(field_of(use, "command")[:MAX_COMMAND_LENGTH], result)

    def _settle_command(self, command: str, result: ToolResult) -> None:
        from everturn.context.shell_words import find_test, is_search, says_failed

        if task_of(result):
            return
        tested = find_test(command)
        if tested.test:
            failed = result.is_error or (not tested.is_last and says_failed(result_text(result)))
            self._settle_test(tested.test, failed=failed)
        elif is_search(command):
            self._settle_search(result)

    def _settle_search(self, result: ToolResult) -> None:
        if result.is_error:
            return
        self._searches[self._round] = self._searches.get(self._round, "") + result_text(result)
        while len(self._searches) > MAX_SEARCHES:
            del self._searches[next(iter(self._searches))]

    def _settle_test(self, test: str, *, failed: bool) -> None:
        if failed:
            self._failing.setdefault(test, self._round)
        elif (begun := self._failing.pop(test, None)) is not None:
            self._closing.append((begun, "test that was made to pass"))

    def _settle_tasks(self, use: ToolUse) -> None:
        try:
            listed = msgspec.json.decode(use.input, type=_Todos).todos
        except (msgspec.DecodeError, RecursionError):
            return
        by_status = {status: [todo.content for todo in listed if todo.status == status] for status in TodoStatus}
        begun, pending = by_status[TodoStatus.IN_PROGRESS], by_status[TodoStatus.PENDING]
        for content in by_status[TodoStatus.COMPLETED]:
            self._finish_task(content, is_last=not begun and not pending)
        for content in begun:
            self._open_tasks.setdefault(content, self._round)
        self._pending, self._listed = frozenset(pending), None

    def _finish_task(self, content: str, *, is_last: bool) -> None:
        """Ends the work on a task. The list that names the next task must stay, so only the last task ends with the round that closes it."""
        first, why = self._close_task(content), f"task that was done: {content}"
        if first is None:
            return
        if is_last or first == self._round:
            self._closing.append((first, why))
        else:
            self.finished.append(Stretch(first, self._before, why))

    def _close_task(self, content: str) -> str | None:
        """Where it began; one that was never said to be in progress, after the list was written last."""
        if content in self._open_tasks:
            return self._open_tasks.pop(content)
        return self._listed if content in self._pending and self._listed != self._round else None


def name_opened(use: ToolUse) -> list[str]:
    """The name that a call opens, as a search would have shown it; empty where it opens nothing."""
    if use.name == PAGES:
        named = [field_of(use, "url")]
    elif use.name == SHELL:
        from everturn.context.shell_words import list_opened

        named = [name for name in list_opened(field_of(use, "command")) if len(name) >= MIN_NAME]
    else:
        named = [field_of(use, OPENERS[use.name]).rpartition("/")[2]] if use.name in OPENERS else []
    return [name for name in named if name]
