"""From the words of the command line to the command that they name, with every failure told in a line."""

import gc
import os
from collections.abc import MutableMapping

from everturn.cli.arguments import ELSEWHERE, check_command, parse_arguments
from everturn.cli.console import BROKEN_PIPE, OutputLostError, complain, flush, silence_output, write
from everturn.cli.flags import COMMANDS
from everturn.cli.names import find_typed, name_option
from everturn.cli.usage import UsageError
from everturn.core.errors import EverturnError, JournalError, OptionError
from everturn.core.state import Exit

PRINT = {"-p", "--print"}
INTERACTIVE_LATER = """\
the interactive terminal comes with a later version; for now, ask with -p:
  everturn -p "What does this project do?"
  git diff | everturn -p "Review this change"
  everturn --help"""


def run_guarded(words: list[str]) -> int:
    settle_user_home(os.environ)
    try:
        code = dispatch(words)
        return code if flush() else BROKEN_PIPE
    except UsageError as error:
        complain(f"{error}\nTry '{error.see}'." if error.see else str(error))
        return Exit.USAGE
    except OptionError as error:
        complain(f"{name_option(error.field, find_typed(words))}: {error.problem}")
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
        from everturn.cli.crash import report_crash

        complain(report_crash(error))
        return Exit.ERROR


def settle_user_home(env: MutableMapping[str, str]) -> None:
    """Whoever reads a `~` means the same by it: we, and the programs that we start."""
    if not env.get("HOME", "").startswith("/"):
        from everturn.settings.environment import find_user_home

        env["HOME"] = find_user_home(env)


def dispatch(words: list[str]) -> int:
    if words and words[0] in {command.name for command in COMMANDS}:
        return run_command(words[0], words[1:])
    if words and words[0] in ELSEWHERE and not PRINT.intersection(words):
        # Before its flags, which are not ours.
        check_command(words)
    arguments = parse_arguments(words)
    if "--help" in arguments:
        from everturn.cli.help import render_help

        write(render_help())
        return Exit.OK
    if "--version" in arguments:
        from everturn.cli.main import print_version

        return print_version()
    if "--print" not in arguments:
        check_command(arguments.words)
        complain(INTERACTIVE_LATER)
        return Exit.USAGE
    from everturn.cli.run import run_prompt

    return run_prompt(arguments)


def run_command(name: str, words: list[str]) -> int:
    """Imported only when it is called for."""
    gc.enable()
    match name:
        case "doctor":
            from everturn.cli.doctor.main import run_doctor

            return run_doctor(words)
        case "config":
            from everturn.cli.config.main import run_config

            return run_config(words)
        case "sessions":
            from everturn.cli.sessions.main import run_sessions

            return run_sessions(words)
        case "cost":
            from everturn.cli.cost import run_cost

            return run_cost(words)
        case "cache":
            from everturn.cli.cache import run_cache

            return run_cache(words)
        case "prompt":
            from everturn.cli.prompt import run_prompt_command

            return run_prompt_command(words)
        case "trust":
            from everturn.cli.trust.main import run_trust

            return run_trust(words)
        case "permissions":
            from everturn.cli.permissions.main import run_permissions

            return run_permissions(words)
        case "completion":
            from everturn.cli.completion import run_completion

            return run_completion(words)
        case _:
            from everturn.cli.demo.main import run_demo

            return run_demo(words)
