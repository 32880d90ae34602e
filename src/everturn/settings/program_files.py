"""The program's settings files: where they lie for a folder, which of them count, and what they say together."""

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

import msgspec

from everturn.core.errors import OptionError
from everturn.settings.environment import find_user_home, named_home, parse_flag
from everturn.settings.files import FILE_NAME
from everturn.settings.places import CHOSEN, MANAGED, MANAGED_FOLDERS, USER, SettingsRoots, find_root
from everturn.settings.setup import find_home
from everturn.settings.sources import Merged, load_merged
from everturn.settings.trust import BOOK_NAME, TrustState

if TYPE_CHECKING:
    from pathlib import Path

WAY_OUT = "It may have rules that protect you. Repair it, or run without it: --setting-sources user"


class SettingsArguments(msgspec.Struct, frozen=True, kw_only=True):
    """What the command line says about settings files."""

    given: str | None = None
    """A file or JSON (`--settings`)."""
    trust: bool = False
    """The folder is trusted for this run."""
    wanted: tuple[str, ...] = CHOSEN
    """The files that are read (`--setting-sources`)."""
    managed: tuple[str, ...] = MANAGED_FOLDERS
    """Where the administrator's settings lie."""
    servers: tuple[str, ...] = ()
    """More MCP servers, each a file or JSON (`--mcp-config`)."""
    only_these_servers: bool = False
    """No MCP server counts but `servers` and those of the administrator."""


def program_home(env: Mapping[str, str]) -> "Path":
    return find_home(named_home(env), env)


def settings_path(env: Mapping[str, str]) -> "Path":
    return program_home(env) / FILE_NAME


def find_roots(
    env: Mapping[str, str], folder: str | None = None, managed: tuple[str, ...] = MANAGED_FOLDERS
) -> SettingsRoots:
    """`folder` is the present one where none is given. Raises `OptionError`."""
    try:
        place = os.path.realpath(folder) if folder is not None else os.getcwd()  # noqa: PTH109 (before the first request)
    except OSError as error:
        raise OptionError("cwd", f"cannot be used: {error.strerror}") from None
    return SettingsRoots(
        home=str(program_home(env)),
        folder=place,
        root=find_root(place, os.path.realpath(find_user_home(env))),
        foreign_home=not env.get("EVERTURN_HOME", "").strip() and bool(env.get("CLAUDE_CONFIG_DIR", "").strip()),
        managed=managed,
    )


def load_program_settings(
    roots: SettingsRoots, env: Mapping[str, str], asked: SettingsArguments | None = None
) -> tuple[Merged, TrustState]:
    """Never raises for what stands in a file: see `Merged.problems`."""
    asked = asked or SettingsArguments()
    problems: tuple[OptionError, ...] = ()
    try:
        at_once = asked.trust or parse_flag("EVERTURN_TRUST", env.get("EVERTURN_TRUST", "").strip() or "0")
        trust = judge_trust(roots, at_once=at_once)
    except OptionError as problem:
        trust, problems = TrustState(root=roots.root), (problem,)
    merged = load_merged(roots, env, asked.given, trust=trust, wanted=asked.wanted)
    return msgspec.structs.replace(merged, problems=problems + merged.problems) if problems else merged, trust


def load_user_settings(env: Mapping[str, str]) -> Merged:
    """What the user has said, whichever folder we are in. See `Merged.problems`."""
    return load_program_settings(find_roots(env), env, SettingsArguments(wanted=(USER,)))[0]


def judge_trust(roots: SettingsRoots, *, at_once: bool) -> TrustState:
    """Most users have trusted nothing yet: then there is nothing to load. Raises `OptionError`."""
    if at_once or not os.path.lexists(f"{roots.home}/{BOOK_NAME}"):
        return TrustState(trusted=at_once, root=roots.root)
    from everturn.settings.trust_book import judge_folder_trust, load_book

    return judge_folder_trust(load_book(roots.home), roots, at_once=False)


def is_of_repository(place: str, roots: SettingsRoots) -> bool:
    """Of a file, whether `--setting-sources` can leave it out."""
    return place.startswith((f"{roots.folder}/", f"{roots.root}/")) and not place.startswith(f"{roots.home}/")


@contextmanager
def naming_way_out(roots: SettingsRoots) -> Iterator[None]:
    """Around what reads the rules: for one of the repository that cannot work, the error says how to run without."""
    try:
        yield
    except OptionError as problem:
        if not is_of_repository(problem.field, roots):
            raise
        raise OptionError(problem.field, f"{problem.problem}\n{WAY_OUT}") from None


def list_settings_files(roots: SettingsRoots, asked: SettingsArguments) -> tuple[tuple[str, str], ...]:
    """Each file as the source that hooks know, and its path. The files need not exist."""
    from everturn.settings.places import find_managed, find_places

    places = find_places(roots, asked.wanted)
    with suppress(OptionError):
        places += find_managed(roots.managed, roots.folder)
    return tuple((f"{'policy' if place.source == MANAGED else place.source}_settings", place.path) for place in places)
