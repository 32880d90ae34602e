"""The commands of `everturn hooks`: rows of the table, each with the function that runs it."""

from everturn.cli.syntax import JSON, Argument, Arguments, ProgramCommand
from everturn.settings.declaration import CompletionOffer, Flag, Takes


def list_hooks(asked: Arguments) -> int:
    from everturn.cli.hooks.list import run_list

    return run_list(asked)


def test_hooks(asked: Arguments) -> int:
    from everturn.cli.hooks.test import run_test

    return run_test(asked)


HOOK_ACTIONS = (
    ProgramCommand(
        name="list",
        run=list_hooks,
        flags=(JSON,),
        help="list every hook of the settings files, and whether it runs here",
    ),
    ProgramCommand(
        name="test",
        run=test_hooks,
        arguments=(Argument(name="EVENT"),),
        flags=(
            Flag(
                name="--input",
                takes=Takes.FILE,
                value="FILE",
                offer=CompletionOffer.FILES,
                help="a JSON object with the event's fields; - is standard input",
            ),
            JSON,
        ),
        help="run the hooks of an event for real, and show what each answers and what follows",
    ),
)
