"""What may follow `/` and `@` in the prompt. The names of files come when they are listed."""

from collections.abc import Callable, Sequence

from everturn.frontends.commands import SlashCommand
from everturn.frontends.harmless import make_line
from everturn.frontends.terminal.files import FileIndex
from everturn.frontends.terminal.menu import MenuItem

MAX_ITEMS = 50


class Completions:
    def __init__(
        self,
        list_commands: Callable[[], Sequence[SlashCommand]],
        *,
        files: FileIndex,
        list_folders: Callable[[str], Sequence[str]],
    ) -> None:
        self._list_commands = list_commands
        self._files = files
        self._list_folders = list_folders

    def complete_command(self, typed: str) -> list[MenuItem]:
        """Names that begin so, then those whose other name begins so, then those that hold it."""
        typed = typed.lower()
        commands = self._list_commands()
        ranked = [(rank, command) for command in commands if (rank := rank_command(typed, command)) is not None]
        ranked.sort(key=lambda each: each[0])
        return [MenuItem(label_of(command), f"/{command.name}", command.help) for _, command in ranked]

    def complete_argument(self, name: str, typed: str) -> list[MenuItem]:
        """The value of each is the whole line."""
        if not any(command.takes_folder and command.name == name for command in self._list_commands()):
            return []
        paths = [path for path in self._list_folders(typed) if make_line(path) == path]
        return [MenuItem(f"/{name} {path}", path) for path in paths[:MAX_ITEMS]]

    def complete_file(self, typed: str) -> list[MenuItem]:
        """The files are listed when a mention begins, so that new ones are there."""
        if not typed or not len(self._files):
            self._files.refresh()
        return [MenuItem(found.text, found.text) for found in self._files.find(typed, MAX_ITEMS)]


def label_of(command: SlashCommand) -> str:
    """As it is put into the prompt: with a space where words may follow."""
    return f"/{command.name} " if command.arguments else f"/{command.name}"


def rank_command(typed: str, command: SlashCommand) -> int | None:
    if command.name.startswith(typed):
        return 0
    if any(alias.startswith(typed) for alias in command.aliases):
        return 1
    return 2 if typed in command.name else None
