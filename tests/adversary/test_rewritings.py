"""Whatever way `cat .env` is written, what is let through beside a rule that denies `.env` does not print it: held against real bash."""

import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor
from random import Random

import pytest
from tests.adversary.rewritings import Rewritings
from tests.permissions.shell.test_doubts import WAYS, rule

from everturn.ports.policy import Ruling

SECRET = "gold"
DENIED = ["Read(.env)", "Read(/secret/**)"]
OTHERS = ("src/a.py", "README.md")


@pytest.fixture
def folder(tmp_path):
    place = tmp_path.resolve() / "project"
    for name, text in (
        (".env", f"FOO={SECRET}\n"),
        ("secret/k", f"FOO={SECRET}\n"),
        *((name, "old\n") for name in OTHERS),
    ):
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        (place / name).write_text(text)
    return place


def run(folder, number, line):
    """In a copy, without a network, and with nothing else to write."""
    copy = folder.parent / f"run{number}" / "project"
    shutil.copytree(folder, copy)
    confined = [
        "bwrap", "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--bind", str(copy.parent), str(copy.parent), "--unshare-all",
        "--die-with-parent", "--chdir", str(copy), "--setenv", "HOME", str(copy.parent), "bash", "-c", line,
    ]  # fmt: skip
    done = subprocess.run(
        confined, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace", timeout=30, check=False
    )
    return done.stdout + done.stderr


@pytest.mark.needs("bubblewrap")
@pytest.mark.parametrize("way", WAYS)
def test_whatever_way_it_is_written_what_is_let_through_prints_no_denied_file(folder, way):
    random = Random(way)  # noqa: S311 (a seed that can be played again)
    make = Rewritings(random).make
    lines = dict.fromkeys(make(random.choice([".env", ".env", "secret/k", *OTHERS])) for _ in range(500))

    allowed = [line for line in lines if rule(folder, way, line, DENIED).ruling is Ruling.ALLOW]
    with ThreadPoolExecutor(4) as pool:
        printed = list(pool.map(lambda each: run(folder, *each), enumerate(allowed)))

    assert [line for line, text in zip(allowed, printed, strict=True) if SECRET in text] == []
    assert len(allowed) > len(lines) / 40, "too few lines are allowed for the test to mean something"
