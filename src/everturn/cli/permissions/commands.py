"""The rows of `everturn permissions ACTION`."""

from everturn.cli.sessions.commands import ALL_SESSIONS
from everturn.cli.syntax import JSON, Argument, Arguments, ProgramCommand
from everturn.settings.declaration import CompletionOffer, Flag, Takes
from everturn.settings.options import MODE_NAMES

MODE = Flag(
    name="--mode", takes=Takes.TEXT, value="MODE", choices=MODE_NAMES, help="as in a run with this permission mode"
)
FOLDER = Flag(name="--cwd", takes=Takes.FILE, value="DIR", help="in this folder")


def test_policy(asked: Arguments) -> int:
    from everturn.cli.permissions.test import run_test

    return run_test(asked)


def list_rules(asked: Arguments) -> int:
    from everturn.cli.permissions.list import run_list

    return run_list(asked)


def replay_rule(asked: Arguments) -> int:
    from everturn.cli.permissions.replay import run_replay

    return run_replay(asked)


PERMISSION_ACTIONS = (
    ProgramCommand(
        name="test",
        run=test_policy,
        arguments=(Argument(name="COMMAND", required=False, quoted=True),),
        flags=(
            Flag(
                name="--tool",
                takes=Takes.TEXT,
                value="TOOL",
                help="a call of this tool; COMMAND is then its file, URL or query",
            ),
            Flag(name="--input", takes=Takes.TEXT, value="JSON", help="the complete input of the call"),
            MODE,
            Flag(name="--allow", takes=Takes.EACH, value="RULE", help="with one more allow rule; may be given again"),
            Flag(name="--ask", takes=Takes.EACH, value="RULE", help="with one more ask rule; may be given again"),
            Flag(name="--deny", takes=Takes.EACH, value="RULE", help="with one more deny rule; may be given again"),
            FOLDER,
            Flag(
                name="--cases", takes=Takes.FILE, value="FILE", help="check every case of a file; - is standard input"
            ),
            JSON,
        ),
        help="say what would happen to a call, and which rule decides",
    ),
    ProgramCommand(
        name="list",
        run=list_rules,
        flags=(FOLDER, JSON),
        instead="everturn permissions test",
        help="list the rules in force, with the file of each",
    ),
    ProgramCommand(
        name="replay",
        run=replay_rule,
        arguments=(Argument(name="RULE"),),
        flags=(
            Flag(name="--ask", help="try it as an ask rule, not as an allow rule"),
            Flag(name="--deny", help="try it as a deny rule"),
            Flag(
                name="--session",
                takes=Takes.TEXT,
                value="SESSION",
                offer=CompletionOffer.SESSIONS,
                help="on this session, instead of all sessions of this folder",
            ),
            ALL_SESSIONS,
            JSON,
        ),
        help="show what a new rule would have changed in past sessions",
    ),
)
