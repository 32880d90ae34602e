"""`everturn trust`: shows what a folder would do, trusts it, lists what is trusted, takes it back."""

import os
import sys
import time
from pathlib import Path

from everturn.cli.console import write
from everturn.cli.trust.asking import append_wishes, ask_yes_or_no, can_ask, load_wishes
from everturn.cli.usage import UsageError
from everturn.compose.cli import Asked, find_grounds
from everturn.core.state import Exit
from everturn.frontends.asking.visible import make_visible
from everturn.frontends.figures import render_count
from everturn.settings.checks import nearest
from everturn.settings.trust_book import append_trust, find_trusted_above, load_book

SEE = "everturn trust --help"
FLAGS = ("--list", "--revoke", "--below", "--yes", "--help", "-h")


def run_trust(words: list[str]) -> int:
    flags = {word for word in words if word.startswith("-")}
    folders = [word for word in words if not word.startswith("-")]
    for flag in sorted(flags - set(FLAGS)):
        raise UsageError(f"trust knows no {flag!r}{nearest(flag, FLAGS)}", see=SEE)
    if flags & {"--help", "-h"}:
        from everturn.cli.help import TRUST

        write(TRUST)
        return Exit.OK
    if len(flags & {"--list", "--revoke", "--yes"}) > 1 or (flags & {"--list", "--revoke"} and "--below" in flags):
        raise UsageError(f"{' and '.join(sorted(flags))} cannot be given together", see=SEE)
    if "--list" in flags and folders:
        raise UsageError("--list shows all folders; it takes none", see=SEE)
    if len(folders) > 1:
        raise UsageError("one folder at a time: everturn trust [FOLDER]", see=SEE)
    folder = folders[0] if folders else None
    if folder is not None and not Path(folder).is_dir():
        raise UsageError(f"there is no folder {make_visible(folder)}")
    if "--list" in flags:
        write(render_book(str(find_grounds(os.environ).home)))
        return Exit.OK
    return run_revoke(folder) if "--revoke" in flags else run_grant(folder, flags)


def run_grant(folder: str | None, flags: set[str]) -> int:
    wishes = load_wishes(find_grounds(os.environ, folder), os.environ, Asked())
    below = "--below" in flags
    write(f"{make_visible(wishes.grounds.root)}\n{wishes.shown}")
    if below:
        write("Everything below it would be trusted, too, but for programs that repositories there define.\n")
    if "--yes" not in flags:
        sys.stdout.flush()
        if not can_ask():
            raise UsageError("nobody is here to say yes; --yes trusts what is shown")
        if not ask_yes_or_no("Trust it?"):
            write("Nothing was changed.\n")
            return Exit.ERROR
    path = append_wishes(wishes, below=below)
    write(f"It is trusted; this is kept in {path}\n")
    return Exit.OK


def run_revoke(folder: str | None) -> int:
    grounds = find_grounds(os.environ, folder)
    book = load_book(grounds.home)
    root = os.path.realpath(grounds.root)
    if root not in book and (above := find_trusted_above(book, root)):
        raise UsageError(
            f"{make_visible(root)} is trusted with everything below {make_visible(above)}; to take that back: "
            f"everturn trust --revoke {make_visible(above)}"
        )
    if root not in book:
        raise UsageError(f"{make_visible(root)} is not in the list of trusted folders")
    append_trust(grounds.home, {place: trusted for place, trusted in book.items() if place != root})
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
