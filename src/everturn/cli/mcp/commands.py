"""The commands of `everturn mcp`: rows of the table, each with the function that runs it."""

import msgspec

from everturn.cli.syntax import JSON, Argument, Arguments, ProgramCommand
from everturn.settings.declaration import Flag, Takes
from everturn.settings.options import DECLARED

SCOPES = ("user", "project", "local")
SCOPE = Flag(
    name="--scope",
    short="-s",
    takes=Takes.TEXT,
    value="SCOPE",
    choices=SCOPES,
    help="whose file: user (default), project (.mcp.json) or local (settings.local.json)",
)
NAME = Argument(name="NAME")


def add_server(asked: Arguments) -> int:
    from everturn.cli.mcp.change import run_add

    return run_add(asked)


def add_json(asked: Arguments) -> int:
    from everturn.cli.mcp.change import run_add_json

    return run_add_json(asked)


def remove_server(asked: Arguments) -> int:
    from everturn.cli.mcp.change import run_remove

    return run_remove(asked)


def list_servers(asked: Arguments) -> int:
    from everturn.cli.mcp.show import run_list

    return run_list(asked)


def get_server(asked: Arguments) -> int:
    from everturn.cli.mcp.show import run_get

    return run_get(asked)


def test_server(asked: Arguments) -> int:
    from everturn.cli.mcp.test import run_test

    return run_test(asked)


def log_in(asked: Arguments) -> int:
    from everturn.cli.mcp.login import run_login

    return run_login(asked)


def serve_tools(asked: Arguments) -> int:
    from everturn.cli.mcp.serve import run_serve

    return run_serve(asked)


RULE_FLAGS = tuple(
    msgspec.structs.replace(flag, help=flag.help or DECLARED[option].help)
    for option in ("permission_mode", "allowed_tools", "disallowed_tools")
    for flag in DECLARED[option].flags
)
MCP_ACTIONS = (
    ProgramCommand(
        name="list",
        run=list_servers,
        flags=(JSON,),
        help="list every MCP server that is defined, and whether it starts here",
    ),
    ProgramCommand(
        name="get",
        run=get_server,
        arguments=(NAME,),
        flags=(JSON,),
        help="show one server and the tools that you agreed to",
    ),
    ProgramCommand(
        name="add",
        run=add_server,
        arguments=(NAME, Argument(name="COMMAND|URL", many=True)),
        flags=(
            SCOPE,
            Flag(
                name="--transport",
                short="-t",
                takes=Takes.TEXT,
                value="KIND",
                choices=("stdio", "http", "sse"),
                help="stdio (default: a command), http or sse (an address)",
            ),
            Flag(
                name="--env", short="-e", takes=Takes.EACH, value="NAME=VALUE", help="a variable that the command gets"
            ),
            Flag(name="--header", short="-H", takes=Takes.EACH, value='"NAME: VALUE"', help="a header of each request"),
        ),
        form="NAME -- COMMAND…  or  NAME URL --transport http",
        help="define a server; flags of its command stand behind --",
    ),
    ProgramCommand(
        name="add-json",
        run=add_json,
        arguments=(NAME, Argument(name="JSON")),
        flags=(SCOPE,),
        help="define a server by JSON, as it stands in .mcp.json",
    ),
    ProgramCommand(name="remove", run=remove_server, arguments=(NAME,), flags=(SCOPE,), help="remove a definition"),
    ProgramCommand(
        name="test",
        run=test_server,
        arguments=(NAME,),
        flags=(
            Flag(name="--agree", help="agree to tools whose definition has changed"),
            JSON,
        ),
        help="start a server, list its tools, and show what has changed since you agreed to them",
    ),
    ProgramCommand(
        name="serve",
        run=serve_tools,
        flags=RULE_FLAGS,
        help="offer our own tools to another program as an MCP server; the same rules decide what may run",
    ),
    ProgramCommand(
        name="login", run=log_in, arguments=(NAME,), help="log in to a server with an address, in your browser"
    ),
)
