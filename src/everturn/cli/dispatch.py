"""From the words of the command line to the command that they name, with every failure told in a line."""

import gc
import os
from collections.abc import MutableMapping, Sequence

from everturn.cli.arguments import PROGRAM, parse_arguments, parse_command
from everturn.cli.console import BROKEN_PIPE, OutputLostError, complain, flush, silence_output, write
from everturn.cli.errors import HELP, UsageError
from everturn.cli.flags import FLAGS
from everturn.cli.names import find_typed, name_option
from everturn.cli.syntax import ProgramCommand
from everturn.core.errors import EverturnError, JournalError, OptionError
from everturn.core.state import Exit
from everturn.settings.checks import nearest

PRINT = {"-p", "--print"}
ASKS_FOR_HELP = {"-h", "--help"}
ELSEWHERE = frozenset(
    (
        "agents",
        "auth",
        "exec",
        "install",
        "login",
        "logout",
        "plugin",
        "plugins",
        "resume",
        "setup-token",
        "update",
    )
)
"""Commands of programs like this one: whoever types one, with whatever behind it, means no prompt."""
MEANT_AS_FLAGS = ("--help", "--version")
"""Other programs have commands of these names."""


def run_guarded(words: list[str]) -> int:
    settle_user_home(os.environ)
    try:
        code = dispatch(words)
        return code if flush() else BROKEN_PIPE
    except UsageError as error:
        complain(f"{error}\nTry '{error.see}'." if error.see else str(error))
        return Exit.USAGE
    except OptionError as error:
        typed = find_typed(words)
        for each in error.all:
            complain(f"{name_option(each.field, typed)}: {each.problem}")
        return Exit.USAGE
    except JournalError as error:
        complain(str(error))
        return Exit.USAGE
    except (EverturnError, OutputLostError) as error:
        complain(str(error))
        return Exit.ERROR
    except BrokenPipeError:
        silence_output()
        return BROKEN_PIPE
    except Exception as error:  # noqa: BLE001 (the last resort: nobody sees a traceback)
        from everturn.cli.errors import report_crash

        complain(report_crash(error))
        return Exit.ERROR


def settle_user_home(env: MutableMapping[str, str]) -> None:
    """Whoever reads a `~` means the same by it: we, and the programs that we start."""
    if not env.get("HOME", "").startswith("/"):
        from everturn.settings.environment import find_user_home

        env["HOME"] = find_user_home(env)


def dispatch(words: list[str]) -> int:
    if words and not words[0].startswith("-"):
        from everturn.cli.commands import find_command

        if (command := find_command(words[0])) is not None:
            gc.enable()
            return run_command(command, words[1:])
        if words[0] in ELSEWHERE and not PRINT.intersection(words):
            # Before its flags, which are not ours.
            check_command(words)
    arguments = parse_arguments(words, FLAGS)
    if "--help" in arguments:
        from everturn.cli.help import render_help

        write(render_help())
        return Exit.OK
    if "--version" in arguments:
        from everturn.cli.main import print_version

        return print_version()
    if "--print" not in arguments:
        check_command(arguments.words)
        from everturn.cli.interactive.main import run_interactive

        return run_interactive(arguments)
    from everturn.cli.run import run_prompt

    return run_prompt(arguments)


def run_command(command: ProgramCommand, words: list[str]) -> int:
    """`words` stand behind the command's name. Raises `UsageError`."""
    action, title, rest = find_action(command, words)
    if asks_for_help(rest, literal=action.literal) or (action.actions and not rest):
        from everturn.cli.help import render_command_help

        write(render_command_help(action, title))
        return Exit.OK if words else Exit.USAGE
    if action.run is None:
        raise refuse_action(command, words[0])
    return action.run(parse_command(rest, action, title))


def find_action(command: ProgramCommand, words: list[str]) -> tuple[ProgramCommand, str, list[str]]:
    """The action that is meant, or the command itself; its whole name; and the words behind that."""
    named = command.find_action(words[0]) if words else None
    if named is not None:
        return named, f"{command.name} {named.name}", words[1:]
    default = command.find_action(command.default)
    if default is not None and (not words or words[0].startswith("-")) and not asks_for_help(words):
        return default, f"{command.name} {default.name}", words
    return command, command.name, words


def asks_for_help(words: list[str], *, literal: bool = False) -> bool:
    """Anywhere before a `--`; where words are taken as they are, only by the first."""
    before = words[:1] if literal else words[: words.index("--")] if "--" in words else words
    return not ASKS_FOR_HELP.isdisjoint(before)


def refuse_action(command: ProgramCommand, word: str) -> UsageError:
    names = [action.name for action in command.actions]
    hint = nearest(word, names) or f" (there are: {', '.join(names)})"
    return UsageError(f"unknown command '{command.name} {word[:60]}'{hint}", see=f"{PROGRAM} {command.name} --help")


def check_command(words: Sequence[str]) -> None:
    """Raises `UsageError` where the first word was meant as a command: a prompt is in quotes, or of several words."""
    from everturn.cli.commands import COMMANDS

    word = words[0] if words else ""
    is_name = word.isascii() and word.islower() and word.replace("-", "").isalpha() and not word.startswith("-")
    if not is_name or (len(words) > 1 and word not in ELSEWHERE):
        return
    if f"--{word}" in MEANT_AS_FLAGS:
        raise UsageError(f"unknown command {word!r}; did you mean '--{word}'?", see=HELP)
    names = [command.name for command in COMMANDS]
    hint = nearest(word, names) or f" (there are: {', '.join(names)}); a prompt needs -p: everturn -p {word}"
    raise UsageError(f"unknown command {word!r}{hint}", see=HELP)
