"""Every command of the program as a row: parser, dispatch, help and shell completion are made from this table.

A row names the function that runs it. Each of these imports its module when it is called: the table is read at every start.
"""

from everturn.cli.hooks.commands import HOOK_ACTIONS
from everturn.cli.mcp.commands import MCP_ACTIONS
from everturn.cli.permissions.commands import MODE, PERMISSION_ACTIONS
from everturn.cli.sessions.commands import SESSION_ACTIONS
from everturn.cli.syntax import JSON, Argument, Arguments, ProgramCommand
from everturn.settings.declaration import CompletionOffer, Flag, Takes

THIS_OR_NEWEST = Argument(name="SESSION", required=False, offer=CompletionOffer.SESSIONS)
KEY = Argument(name="KEY", offer=CompletionOffer.SETTINGS)


def run_doctor(asked: Arguments) -> int:
    from everturn.cli.doctor.main import run_doctor

    return run_doctor(asked)


def list_settings(asked: Arguments) -> int:
    from everturn.cli.config.main import run_list

    return run_list(asked)


def get_setting(asked: Arguments) -> int:
    from everturn.cli.config.main import run_get

    return run_get(asked)


def set_setting(asked: Arguments) -> int:
    from everturn.cli.config.main import run_set

    return run_set(asked)


def unset_setting(asked: Arguments) -> int:
    from everturn.cli.config.main import run_unset

    return run_unset(asked)


def show_cost(asked: Arguments) -> int:
    from everturn.cli.cost import run_cost

    return run_cost(asked)


def trust_folder(asked: Arguments) -> int:
    from everturn.cli.trust.main import run_trust

    return run_trust(asked)


def show_cache(asked: Arguments) -> int:
    from everturn.cli.cache import run_cache

    return run_cache(asked)


def show_prompt(asked: Arguments) -> int:
    from everturn.cli.prompt import run_prompt

    return run_prompt(asked)


def print_completion(asked: Arguments) -> int:
    from everturn.cli.completion import run_completion

    return run_completion(asked)


def run_demo(asked: Arguments) -> int:
    from everturn.cli.demo.main import run_demo

    return run_demo(asked)


CONFIG_ACTIONS = (
    ProgramCommand(name="list", run=list_settings, help="show every setting, its value and where it comes from"),
    ProgramCommand(name="get", run=get_setting, arguments=(KEY,), help="show one value"),
    ProgramCommand(
        name="set",
        run=set_setting,
        arguments=(KEY, Argument(name="VALUE")),
        literal=True,
        help="change the user's settings file",
    ),
    ProgramCommand(
        name="unset", run=unset_setting, arguments=(KEY,), help="remove a setting from the user's settings file"
    ),
)

COMMANDS: tuple[ProgramCommand, ...] = (
    ProgramCommand(
        name="doctor", run=run_doctor, flags=(JSON,), help="check what a run needs, and say how to fix problems"
    ),
    ProgramCommand(name="config", actions=CONFIG_ACTIONS, help="read and change the user's settings"),
    ProgramCommand(
        name="sessions",
        actions=SESSION_ACTIONS,
        default="list",
        help="list, search, show, name, export and remove sessions",
    ),
    ProgramCommand(
        name="cost",
        run=show_cost,
        arguments=(THIS_OR_NEWEST,),
        flags=(JSON,),
        help="show what a session cost, round by round",
    ),
    ProgramCommand(
        name="trust",
        run=trust_folder,
        arguments=(Argument(name="FOLDER", required=False, offer=CompletionOffer.FILES),),
        flags=(
            Flag(name="--list", help="list the folders that are trusted, and those that you refused"),
            Flag(name="--revoke", help="stop trusting the folder"),
            Flag(name="--below", help="also trust every folder below, except the programs that these define"),
            Flag(name="--yes", help="trust the folder without a question"),
        ),
        help="show what a folder's own settings would do, and trust it",
    ),
    ProgramCommand(
        name="cache",
        run=show_cache,
        arguments=(THIS_OR_NEWEST,),
        flags=(JSON,),
        help="show what a session read from the prompt cache, and what broke it",
    ),
    ProgramCommand(
        name="permissions",
        actions=PERMISSION_ACTIONS,
        default="list",
        help="test calls, list the rules, try a rule on past sessions",
    ),
    ProgramCommand(
        name="hooks",
        actions=HOOK_ACTIONS,
        default="list",
        help="list the hooks of your settings, and try them on an event",
    ),
    ProgramCommand(
        name="mcp",
        actions=MCP_ACTIONS,
        default="list",
        help="define MCP servers, list them, and try them",
    ),
    ProgramCommand(
        name="prompt",
        run=show_prompt,
        flags=(
            MODE,
            Flag(
                name="--model",
                takes=Takes.TEXT,
                value="NAME",
                offer=CompletionOffer.MODELS,
                help="as in a run with this model",
            ),
            Flag(name="--person", help="as in a run with a person at a terminal"),
            Flag(name="--trust", help="as in a folder that you trust"),
            Flag(name="--counts", help="only the table of tokens"),
            JSON,
        ),
        help="print what the model reads before your prompt, with the tokens of each part",
    ),
    ProgramCommand(
        name="completion",
        run=print_completion,
        arguments=(Argument(name="bash|zsh|fish", choices=("bash", "zsh", "fish")),),
        help="print the completion script for a shell",
    ),
    ProgramCommand(
        name="demo",
        run=run_demo,
        flags=(
            Flag(name="--interactive", help="type to the scripted model yourself, in the interactive terminal"),
            Flag(name="--keep", help="keep the repository and the journal, and print where they are"),
            Flag(name="--fast", help="without the pauses that make it readable"),
        ),
        help="watch the loop repair a small repository with a scripted model",
    ),
)


def find_command(name: str) -> ProgramCommand | None:
    return next((command for command in COMMANDS if command.name == name), None)
