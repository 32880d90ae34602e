"""Slash commands that only the interactive terminal has: they change what is seen, pick from menus, or ask the program around it."""

from collections.abc import AsyncGenerator, Callable, Sequence
from typing import TYPE_CHECKING, cast, get_args

from everturn.core.errors import EverturnError, OptionError
from everturn.core.messages import Text
from everturn.core.modes import PermissionMode
from everturn.core.notes import TodoStatus
from everturn.frontends.commands import CommandOutput, CommandRequest, Reply, SlashCommand
from everturn.frontends.harmless import make_line
from everturn.frontends.terminal.key_bindings import MEANINGS
from everturn.frontends.terminal.menu import MenuItem
from everturn.frontends.terminal.program import TerminalProgram
from everturn.frontends.transcript.calls import TODO_MARKS
from everturn.ports.model import Effort

if TYPE_CHECKING:
    from everturn.frontends.terminal.app import TerminalApp

STATUS_SETTING = "everturn.terminal.statusCommand"
Run = Callable[[CommandRequest], AsyncGenerator[Reply]]


class TerminalCommands:
    def __init__(self, app: "TerminalApp", program: TerminalProgram) -> None:
        self._app = app
        self._program = program

    @property
    def table(self) -> tuple[SlashCommand, ...]:
        return (
            SlashCommand(
                name="model", arguments="[name]", help="Choose the model from the next prompt on.", run=self._model
            ),
            SlashCommand(
                name="effort", arguments="[level]", help="Choose how hard the model thinks.", run=self._effort
            ),
            SlashCommand(
                name="plan",
                arguments="[task]",
                help="Plan first: nothing is changed until you approve.",
                run=self._plan,
            ),
            SlashCommand(
                name="permissions",
                help="List the rules that decide what may run.",
                run=self._tell_words("permissions", "list"),
                beside=True,
            ),
            SlashCommand(
                name="hooks",
                help="List the hooks, and whether each runs here.",
                run=self._tell_words("hooks", "list"),
                beside=True,
            ),
            SlashCommand(
                name="config",
                arguments="[KEY VALUE]",
                help="Show the settings with their origin, or set one of yours.",
                run=self._config,
                beside=True,
            ),
            SlashCommand(
                name="doctor",
                help="Check key, network, sandbox and settings.",
                run=self._doctor,
                beside=True,
            ),
            SlashCommand(
                name="sandbox",
                help="Say what holds commands here, and what does not.",
                run=self._sandbox,
                beside=True,
            ),
            SlashCommand(
                name="memory", help="List the memory files that the model was given.", run=self._memory, beside=True
            ),
            SlashCommand(
                name="todos", help="Show the list of tasks that the model keeps.", run=self._todos, beside=True
            ),
            SlashCommand(
                name="tasks",
                arguments="[stop ID]",
                help="List commands in the background, or stop one.",
                run=self._tasks,
                beside=True,
                aliases=("jobs",),
            ),
            SlashCommand(name="diff", help="Show what is not committed, in full.", run=self._diff, beside=True),
            SlashCommand(
                name="copy",
                arguments="[code]",
                help="Put the last answer, or its last block of code, on the clipboard.",
                run=self._copy,
                beside=True,
            ),
            SlashCommand(
                name="resume",
                arguments="[session]",
                help="Go on with another session of this folder.",
                run=self._resume,
                aliases=("continue",),
            ),
            SlashCommand(name="fork", help="Go on in a copy of this session; the session stays.", run=self._fork),
            SlashCommand(
                name="theme",
                arguments="[dark|light|auto]",
                help="Choose colours for a dark or a light background.",
                run=self._theme,
            ),
            SlashCommand(
                name="statusline",
                arguments="[COMMAND|off]",
                help="Let a command of yours write the status line; it gets JSON.",
                run=self._statusline,
            ),
            SlashCommand(
                name="add-dir",
                arguments="FOLDER",
                help="Add a folder to work in, for this session.",
                run=self._add_folder,
                takes_folder=True,
            ),
            SlashCommand(
                name="keys", help="List the keys, as your key bindings have them.", run=self._keys, beside=True
            ),
            SlashCommand(
                name="vim", help="Switch the prompt between the keys of vi and of emacs.", run=self._vim, beside=True
            ),
            SlashCommand(name="exit", help="Leave.", run=self._exit, beside=True, aliases=("quit",)),
        )

    async def _model(self, asked: CommandRequest) -> AsyncGenerator[Reply]:
        app, program = self._app, self._program
        name = asked.arguments or await app.pick(
            program.list_models(), title="which model? Enter takes one, Esc leaves", chosen=app.agent.model
        )
        if name is None:
            return
        try:
            model, remark = program.choose_model(name)
            app.agent.switch_model(model)
        except EverturnError as error:
            yield CommandOutput(text=str(error), is_error=True)
        else:
            yield CommandOutput(text=f"The model is {app.agent.model} from the next prompt on. {remark}".rstrip())

    async def _effort(self, asked: CommandRequest) -> AsyncGenerator[Reply]:
        app = self._app
        levels = self._program.list_efforts(app.agent.model)
        if not levels:
            yield CommandOutput(text=f"{app.agent.model} cannot be told how hard to think.", is_error=True)
            return
        items = [MenuItem(level, level) for level in levels]
        chosen = asked.arguments.lower() or await app.pick(
            items, title="how hard shall it think? Enter takes one, Esc leaves", chosen=app.agent.effort or ""
        )
        if chosen is None:
            return
        if chosen not in levels or chosen not in get_args(Effort):
            yield CommandOutput(text=f"There is no effort {chosen!r}; there are {', '.join(levels)}.", is_error=True)
            return
        app.agent.effort = cast("Effort", chosen)
        yield CommandOutput(text=f"The effort is {chosen} from the next prompt on.")

    async def _plan(self, asked: CommandRequest) -> AsyncGenerator[Reply]:
        self._app.agent.permission_mode = PermissionMode.PLAN
        if asked.arguments:
            self._app.work.submit_next(asked.arguments)
        yield CommandOutput(text="Plan mode: nothing is changed until you approve a plan. Shift-Tab leaves it.")

    def _tell_words(self, *words: str) -> Run:
        async def run(_asked: CommandRequest) -> AsyncGenerator[Reply]:
            said, code = await self._program.run_words(*words)
            yield CommandOutput(text=said, is_error=code != 0)

        return run

    async def _doctor(self, _asked: CommandRequest) -> AsyncGenerator[Reply]:
        said, is_well = await self._program.check_machine()
        yield CommandOutput(text=said, is_error=not is_well)

    async def _sandbox(self, _asked: CommandRequest) -> AsyncGenerator[Reply]:
        yield CommandOutput(text=await self._program.check_confinement())

    async def _config(self, asked: CommandRequest) -> AsyncGenerator[Reply]:
        key, _, value = asked.arguments.replace("=", " ", 1).partition(" ")
        words = (
            ("config", "set", key, value.strip())
            if value.strip()
            else ("config", "get", key)
            if key
            else ("config", "list")
        )
        said, code = await self._program.run_words(*words)
        yield CommandOutput(text=said, is_error=code != 0)

    async def _memory(self, _asked: CommandRequest) -> AsyncGenerator[Reply]:
        files = self._program.list_memory()
        listed = "\n".join(f"{make_line(path)} ({whose.lower()})" for path, whose in files)
        yield CommandOutput(
            text=listed or "The model was given no memory file. AGENTS.md in the working folder would be one."
        )

    async def _todos(self, asked: CommandRequest) -> AsyncGenerator[Reply]:
        todos = asked.conversation.notes.todos
        rows = [
            f"{TODO_MARKS[todo.status]} {todo.active_form if todo.status is TodoStatus.IN_PROGRESS else todo.content}"
            for todo in todos
        ]
        yield CommandOutput(text="\n".join(rows) or "The model keeps no list of tasks.")

    async def _tasks(self, asked: CommandRequest) -> AsyncGenerator[Reply]:
        tasks = self._app.agent.tasks
        word, _, name = asked.arguments.partition(" ")
        if word == "stop" and (task := next((each for each in tasks.running if each.id == name.strip()), None)):
            await task.stop()
            yield CommandOutput(text=f"Stopped: {task.report().description}")
        elif asked.arguments:
            yield CommandOutput(
                text="Give the id of one that runs, as /tasks lists them: /tasks stop ID", is_error=True
            )
        else:
            reports = [task.report() for task in tasks.running]
            rows = [f"{report.id}  {report.summary}  {make_line(report.description)}" for report in reports]
            yield CommandOutput(text="\n".join(rows) or "Nothing runs in the background.")

    async def _diff(self, _asked: CommandRequest) -> AsyncGenerator[Reply]:
        try:
            diff = await self._program.read_diff()
        except OptionError as error:
            yield CommandOutput(text=error.problem, is_error=True)
            return
        if diff.strip():
            self._app.transcript.show_diff(diff)
        else:
            yield CommandOutput(text="Everything is committed.")

    async def _copy(self, asked: CommandRequest) -> AsyncGenerator[Reply]:
        answer = last_answer(asked)
        text = last_code(answer) if asked.arguments == "code" else answer
        if asked.arguments not in {"", "code"}:
            yield CommandOutput(text="/copy, or /copy code for the last block of code.", is_error=True)
        elif not text:
            yield CommandOutput(text="There is nothing to copy yet.", is_error=True)
        else:
            copied = self._app.copy(text)
            told = (
                f"Copied: {len(text):,} characters."
                if copied
                else "This terminal takes no text of this size for the clipboard."
            )
            yield CommandOutput(text=told, is_error=not copied)

    async def _resume(self, asked: CommandRequest) -> AsyncGenerator[Reply]:
        program, name = self._program, asked.arguments
        if not name:
            sessions = [item for item in program.list_sessions() if item.value != asked.conversation.session_id]
            if not sessions:
                yield CommandOutput(text="There is no other session of this folder.", is_error=True)
                return
            picked = await self._app.pick(
                sessions, title="sessions of this folder, the newest first; type to search, Enter takes one, Esc leaves"
            )
            if picked is None:
                return
            name = picked
        async for reply in self._go_to(name):
            yield reply

    async def _fork(self, asked: CommandRequest) -> AsyncGenerator[Reply]:
        async for reply in self._go_to(asked.conversation.session_id, fork=True):
            yield reply

    async def _go_to(self, name: str, *, fork: bool = False) -> AsyncGenerator[Reply]:
        app, program = self._app, self._program
        before = app.agent
        try:
            engine = await program.open_session(name, fork=fork)
        except EverturnError as error:
            yield CommandOutput(text=str(error), is_error=True)
            return
        app.take_agent(engine)
        await program.leave_session(before)
        app.show_last()
        yield CommandOutput(text=f"This is session {engine.session_id} now.")

    async def _theme(self, asked: CommandRequest) -> AsyncGenerator[Reply]:
        names = ("auto", "dark", "light")
        items = [MenuItem(name, name) for name in names]
        name = asked.arguments.lower() or await self._app.pick(
            items, title="background of your terminal; Enter takes one, Esc leaves"
        )
        if name is None:
            return
        if name not in names:
            yield CommandOutput(text=f"There is no theme {name!r}; there are {', '.join(names)}.", is_error=True)
            return
        self._app.choose_theme("" if name == "auto" else name)
        said, code = await self._program.run_words("config", "set", "theme", name)
        yield CommandOutput(text=said or f"The theme is {name}.", is_error=code != 0)

    async def _statusline(self, asked: CommandRequest) -> AsyncGenerator[Reply]:
        command = asked.arguments
        if not command:
            told = "/statusline COMMAND lets a command of yours write the status line; /statusline off ends that."
            yield CommandOutput(text=told)
            return
        words = ("config", "unset", STATUS_SETTING) if command == "off" else ("config", "set", STATUS_SETTING, command)
        said, code = await self._program.run_words(*words)
        if code == 0:
            self._program.choose_status("" if command == "off" else command)
        yield CommandOutput(text=said, is_error=code != 0)

    async def _add_folder(self, asked: CommandRequest) -> AsyncGenerator[Reply]:
        if not asked.arguments:
            yield CommandOutput(text="Say which folder: /add-dir FOLDER", is_error=True)
            return
        try:
            added = self._app.agent.add_folder(asked.arguments)
        except OptionError as error:
            yield CommandOutput(text=f"Not added: {error.problem}.", is_error=True)
        else:
            yield CommandOutput(text=f"{make_line(added)} is a working folder, too, until you leave.")

    async def _keys(self, _asked: CommandRequest) -> AsyncGenerator[Reply]:
        listed = [(told, MEANINGS[action]) for action in MEANINGS if (told := self._app.bindings.tell(action))]
        wide = max(len(told) for told, _ in listed)
        yield CommandOutput(text="\n".join(f"{told:<{wide}}  {meaning}" for told, meaning in listed))

    async def _vim(self, _asked: CommandRequest) -> AsyncGenerator[Reply]:
        editor = self._app.prompt.editor
        editor.vi = not editor.vi
        yield CommandOutput(text=f"The prompt has the keys of {'vi' if editor.vi else 'emacs'}.")

    async def _exit(self, _asked: CommandRequest) -> AsyncGenerator[Reply]:
        self._app.leave()
        return
        yield


def last_answer(asked: CommandRequest) -> str:
    for message in reversed(asked.conversation.transcript):
        if message.role == "assistant" and (text := texts_of(message.blocks)):
            return text
    return ""


def texts_of(blocks: Sequence[object]) -> str:
    views = (getattr(block, "view", None) for block in blocks)
    return "\n\n".join(view.text for view in views if isinstance(view, Text))


def last_code(answer: str) -> str:
    """Of the last fence, without its marks."""
    block: list[str] | None = None
    last: list[str] = []
    for line in answer.split("\n"):
        if line.lstrip().startswith(("```", "~~~")):
            if block is None:
                block = []
            else:
                last, block = block, None
        elif block is not None:
            block.append(line)
    return "\n".join(last)
