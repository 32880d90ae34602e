"""The repository that the demo repairs: a little program with one honest bug, its history, its diff and its tests."""

import difflib
import os
import re
import subprocess
import sys
import time
from pathlib import Path

import msgspec

from everturn.workspace.programs import find_program

MONTHS = '''\
"""Months are not equally long."""

from calendar import monthrange
from datetime import date


def add_months(day: date, months: int) -> date:
    """The same day so many months later, or the last one of a month that is too short for it."""
    year, month = divmod(day.year * 12 + day.month - 1 + months, 12)
    return date(year, month + 1, min(day.day, monthrange(year, month + 1)[1]))
'''

FAULTY = """\
    dates = [first]
    while len(dates) < count:
        dates.append(add_months(dates[-1], 1))
    return dates
"""

HASTY = """\
    # Counted from the first date, so that a short month cuts only itself.
    return [add_months(first, months) for months in range(1, count + 1)]
"""

MENDED = """\
    # Counted from the first date, so that a short month cuts only itself.
    return [add_months(first, months) for months in range(count)]
"""

PLAN = f'''\
"""When a subscription falls due."""

from datetime import date

from renewals.months import add_months


def due_dates(first: date, count: int) -> list[date]:
    """The first so many dates, a month apart."""
{FAULTY}'''

MAIN = '''\
"""python -m renewals 2025-01-31 4"""

import sys
from datetime import date

from renewals.plan import due_dates

first, count = sys.argv[1:]
print(*due_dates(date.fromisoformat(first), int(count)), sep="\\n")
'''

TESTS = """\
import unittest
from datetime import date

from renewals.plan import due_dates


def days(first, count):
    return ", ".join(f"{day:%d %b}" for day in due_dates(date.fromisoformat(first), count))


class DueDates(unittest.TestCase):
    def test_a_plan_is_due_on_the_same_day_of_each_month(self):
        self.assertEqual(days("2025-01-15", 3), "15 Jan, 15 Feb, 15 Mar")

    def test_a_year_ends_and_another_begins(self):
        self.assertEqual(days("2025-11-05", 3), "05 Nov, 05 Dec, 05 Jan")

    def test_a_leap_year_has_a_longer_february(self):
        self.assertEqual(days("2024-01-30", 2), "30 Jan, 29 Feb")

    def test_a_short_month_does_not_cut_the_months_after_it(self):
        self.assertEqual(days("2025-01-31", 4), "31 Jan, 28 Feb, 31 Mar, 30 Apr")
"""

FILES = {
    ".gitignore": "__pycache__/\n",
    "README.md": "# renewals\n\nSays when a subscription falls due.\n\n    python -m renewals 2025-01-31 4\n",
    "renewals/__init__.py": '"""Says when a subscription falls due."""\n',
    "renewals/__main__.py": MAIN,
    "renewals/months.py": MONTHS,
    "renewals/plan.py": PLAN,
    "test_renewals.py": TESTS,
}

_TESTS_S = 60
_IDENTITY = {
    "GIT_AUTHOR_NAME": "Demo",
    "GIT_AUTHOR_EMAIL": "demo@localhost",
    "GIT_COMMITTER_NAME": "Demo",
    "GIT_COMMITTER_EMAIL": "demo@localhost",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
}


class DemoTests(msgspec.Struct, frozen=True, kw_only=True):
    passed: bool
    count: int
    duration_s: float
    output: str


class DemoRepository(msgspec.Struct, frozen=True, kw_only=True):
    folder: Path
    git: str | None
    """The program; None where there is none that works."""

    def diff(self) -> str:
        if self.git is not None:
            return run_git(self.git, self.folder, "diff", "--no-color", "--no-ext-diff").stdout
        return "".join(render_diff(name, before, self.folder / name) for name, before in FILES.items())

    def run_tests(self) -> DemoTests:
        began_s = time.monotonic()
        try:
            ended = subprocess.run(
                [python(), "-m", "unittest"],
                cwd=self.folder,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                encoding="utf-8",
                errors="replace",
                timeout=_TESTS_S,
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            return DemoTests(passed=False, count=0, duration_s=time.monotonic() - began_s, output=str(error))
        ran = re.search(r"Ran (\d+) test", ended.stdout)
        count = int(ran[1]) if ran else 0
        return DemoTests(
            passed=ended.returncode == 0 and count > 0,
            count=count,
            duration_s=time.monotonic() - began_s,
            output=ended.stdout,
        )


def python() -> str:
    """The interpreter that runs us runs the tests too: nothing has to be found or installed."""
    return sys.executable or "python3"


def make_repository(folder: Path, git: str | None = None) -> DemoRepository:
    """`git`: the program to use; None looks for it on the path. Raises OSError where the folder cannot be written."""
    for name, text in FILES.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    found = git or find_program("git", (os.curdir,))
    return DemoRepository(folder=folder, git=found if found and commit_all(found, folder) else None)


def commit_all(git: str, folder: Path) -> bool:
    steps = (
        ("init", "--quiet"),
        ("add", "--all"),
        ("commit", "--quiet", "--no-verify", "--message", "Say when a subscription falls due"),
    )
    try:
        return all(run_git(git, folder, *step).returncode == 0 for step in steps)
    except OSError:
        return False


def run_git(git: str, folder: Path, *arguments: str) -> "subprocess.CompletedProcess[str]":
    """Without the person's configuration: no signing, no hooks, no pager, and never their repository."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    return subprocess.run(
        [git, *arguments],
        cwd=folder,
        env=environment | _IDENTITY,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        errors="replace",
        check=False,
    )


def render_diff(name: str, before: str, path: Path) -> str:
    """As git would show it; empty where nothing changed."""
    after = path.read_text(encoding="utf-8") if path.exists() else ""
    lines = difflib.unified_diff(
        before.splitlines(keepends=True), after.splitlines(keepends=True), f"a/{name}", f"b/{name}"
    )
    return "".join(lines)
