"""`everturn trust`: shows what a folder would do, trusts it, lists what is trusted, takes it back."""

import os
import sys
import time
from pathlib import Path

from everturn.cli.console import write
from everturn.cli.errors import UsageError
from everturn.cli.syntax import Arguments
from everturn.cli.trust.question import ask_yes_or_no, can_ask, load_effects, trust_shown
from everturn.core.state import Exit
from everturn.frontends.asking.visible import make_visible
from everturn.frontends.figures import render_count
from everturn.settings.program_files import SettingsArguments, find_roots
from everturn.settings.trust_book import append_trust, find_trusted_above, load_book

SEE = "everturn trust --help"


def run_trust(asked: Arguments) -> int:
    """Raises `UsageError`."""
    flags, folders = set(asked.given), asked.words
    if len(flags & {"--list", "--revoke", "--yes"}) > 1 or (flags & {"--list", "--revoke"} and "--below" in flags):
        raise UsageError(f"{' and '.join(sorted(flags))} cannot be given together", see=SEE)
    if "--list" in flags and folders:
        raise UsageError("--list shows all folders; it takes none", see=SEE)
    folder = folders[0] if folders else None
    if folder is not None and not Path(folder).is_dir():
        raise UsageError(f"there is no folder {make_visible(folder)}")
    if "--list" in flags:
        write(render_book(str(find_roots(os.environ).home)))
        return Exit.OK
    return run_revoke(folder) if "--revoke" in flags else run_grant(folder, flags)


def run_grant(folder: str | None, flags: set[str]) -> int:
    effects = load_effects(find_roots(os.environ, folder), os.environ, SettingsArguments())
    below = "--below" in flags
    write(f"{make_visible(effects.roots.root)}\n{effects.shown}")
    if below:
        write("Everything below it would be trusted, too, except programs that repositories there define.\n")
    if "--yes" not in flags:
        sys.stdout.flush()
        if not can_ask():
            raise UsageError("nobody can be asked here; --yes trusts the folder")
        if not ask_yes_or_no("Trust it?"):
            write("Nothing was changed.\n")
            return Exit.ERROR
    path = trust_shown(effects, below=below)
    write(f"It is trusted; this is kept in {path}\n")
    return Exit.OK


def run_revoke(folder: str | None) -> int:
    roots = find_roots(os.environ, folder)
    book = load_book(roots.home)
    root = os.path.realpath(roots.root)
    if root not in book and (above := find_trusted_above(book, root)):
        raise UsageError(
            f"{make_visible(root)} is trusted with everything below {make_visible(above)}; to take that back: "
            f"everturn trust --revoke {make_visible(above)}"
        )
    if root not in book:
        raise UsageError(f"{make_visible(root)} is not in the list of trusted folders")
    append_trust(roots.home, {place: trusted for place, trusted in book.items() if place != root})
    write(f"{make_visible(root)} is not trusted any more\n")
    return Exit.OK


def render_book(home: str) -> str:
    lines = []
    for folder, trusted in sorted(load_book(home).items()):
        day = time.strftime("%Y-%m-%d", time.localtime(trusted.at))
        what = "declined" if trusted.declined else "trusted, with everything below" if trusted.below else "trusted"
        pins = f", {render_count(len(trusted.pins), 'program')}" if trusted.pins else ""
        lines.append(f"{make_visible(folder)}  {what} since {day}{pins}\n")
    return "".join(lines) or "No folder is trusted.\n"
