"""The rows of `everturn sessions ACTION`."""

from everturn.cli.syntax import JSON, Argument, Arguments, ProgramCommand
from everturn.settings.declaration import CompletionOffer, Flag, Takes

SESSION = Argument(name="SESSION", offer=CompletionOffer.SESSIONS)
YES = Flag(name="--yes", help="do it without asking")
ALL_SESSIONS = Flag(name="--all", help="the sessions of every folder, not only of this one")
LIMIT = Flag(name="--limit", takes=Takes.WHOLE, value="N", least=0, help="show at most N; 0 shows all")


def list_sessions(asked: Arguments) -> int:
    from everturn.cli.sessions.list import run_list

    return run_list(asked)


def search_sessions(asked: Arguments) -> int:
    from everturn.cli.sessions.search import run_search

    return run_search(asked)


def show_session(asked: Arguments) -> int:
    from everturn.cli.sessions.show import run_show

    return run_show(asked)


def rename_session(asked: Arguments) -> int:
    from everturn.cli.sessions.rename import run_rename

    return run_rename(asked)


def tag_session(asked: Arguments) -> int:
    from everturn.cli.sessions.rename import run_tag

    return run_tag(asked)


def export_session(asked: Arguments) -> int:
    from everturn.cli.sessions.show import run_export

    return run_export(asked)


def delete_sessions(asked: Arguments) -> int:
    from everturn.cli.sessions.delete import run_delete

    return run_delete(asked)


def prune_sessions(asked: Arguments) -> int:
    from everturn.cli.sessions.delete import run_prune

    return run_prune(asked)


def rebuild_index(asked: Arguments) -> int:
    from everturn.cli.sessions.list import run_rebuild

    return run_rebuild(asked)


SESSION_ACTIONS = (
    ProgramCommand(
        name="list",
        run=list_sessions,
        flags=(ALL_SESSIONS, LIMIT, JSON, Flag(name="--ids", help="print only ids, one per line")),
        instead="everturn sessions search",
        help="list this folder's sessions, the newest first",
    ),
    ProgramCommand(
        name="search",
        run=search_sessions,
        arguments=(Argument(name="WORDS", many=True),),
        flags=(ALL_SESSIONS, LIMIT, JSON),
        help='search prompts, answers and results; "several words" are a phrase',
    ),
    ProgramCommand(
        name="show",
        run=show_session,
        arguments=(SESSION,),
        flags=(JSON,),
        help="show its properties and its messages",
    ),
    ProgramCommand(
        name="rename",
        run=rename_session,
        arguments=(SESSION, Argument(name="TITLE", many=True)),
        help="give it a title, which --resume takes",
    ),
    ProgramCommand(
        name="tag",
        run=tag_session,
        arguments=(SESSION, Argument(name="TAG", required=False, many=True)),
        flags=(Flag(name="--clear", help="remove its tag"),),
        form="SESSION TAG, or --clear",
        help="give it a tag, which the list shows",
    ),
    ProgramCommand(
        name="export",
        run=export_session,
        arguments=(SESSION,),
        flags=(
            Flag(
                name="--format",
                takes=Takes.TEXT,
                value="FORMAT",
                choices=("markdown", "html", "json"),
                help="markdown, html or json; by default the ending of FILE decides, else markdown",
            ),
            Flag(name="--output", takes=Takes.FILE, value="FILE", help="write to this file, not to standard output"),
            Flag(name="--force", help="replace an existing file"),
        ),
        help="write its messages as Markdown, HTML or JSON",
    ),
    ProgramCommand(
        name="delete",
        run=delete_sessions,
        arguments=(Argument(name="SESSION", many=True, offer=CompletionOffer.SESSIONS),),
        flags=(YES,),
        help="remove sessions with their files, except open ones",
    ),
    ProgramCommand(
        name="prune",
        run=prune_sessions,
        flags=(
            Flag(
                name="--older-than",
                takes=Takes.TEXT,
                value="AGE",
                help="sessions that were last written longer ago, such as 30d",
            ),
            Flag(
                name="--larger-than", takes=Takes.TEXT, value="SIZE", help="sessions that take more space, such as 1GB"
            ),
            Flag(
                name="--keep-total",
                takes=Takes.TEXT,
                value="SIZE",
                help="the oldest sessions, until the rest takes at most SIZE",
            ),
            Flag(name="--yes", help="remove the sessions; without it they are only shown"),
            JSON,
        ),
        instead="everturn sessions delete",
        help="show which old or large sessions would be removed; --yes removes them",
    ),
    ProgramCommand(name="rebuild", run=rebuild_index, help="build the index again; no session is lost"),
)
