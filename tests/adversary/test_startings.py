"""Whatever way a denied program is started, what is let through beside the rule does not start it: held against the real programs.

`strike`, or only `strike x`, is denied and `wink` is not. Both leave marks. What is let through runs for real, in a copy of a throw-away home.
"""

import json
import os
import shutil
import subprocess
import tarfile
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from random import Random, SystemRandom

import pytest
from tests.adversary.startings import PROGRAMS, Startings
from tests.permissions.shell.test_doubts import WAYS, rule

from everturn.ports.policy import Ruling

COUNT = int(os.environ.get("EVERTURN_STARTINGS", "1000"))
"""Lines, in all ways together; `make fuzz` takes more, with new seeds."""
IS_REPEATED = os.environ.get("EVERTURN_EXAMPLES", "test") == "test"
DENIED, FREE = "strike", "wink"
ALLOWED = dict.fromkeys(WAYS, ()) | {
    "rules for programs": tuple(f"Bash({name} *)" for name in (*PROGRAMS, "bash", "echo", "printf"))
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The working folder of a home that has both programs, by several names."""
    home = tmp_path_factory.mktemp("startings").resolve() / "home"
    place = home / "project"
    (place / "sub").mkdir(parents=True)
    (home / "bin").mkdir()
    scripts, aliases, own = {"plain": "true"}, "", ""
    for name in (DENIED, FREE):
        program = home / "bin" / name
        program.write_text(f'#!/bin/sh\n: > {home}/{name}.ran\n[ "$1" = x ] && : > "{home}/{name} x.ran"\n')
        program.chmod(0o755)
        (place / f"link-{name}").symlink_to(f"../bin/{name}")
        (place / f"hard-{name}").hardlink_to(program)
        shutil.copy(program, place / f"copy-{name}")
        scripts |= {f"start-{name}": f"{name} x", f"before-{name}": "true", f"prebefore-{name}": f"true && {name} x"}
        aliases += f"\tstart-{name} = !{name} x\n"
        own += f"\town-{name} = start-{name}\n"
    (place / "link-folder").symlink_to("../bin")
    for name, text in {
        "README.md": "old\nword\n",
        "big": "".join(f"{number * 7919 % 10007}\n" for number in range(60_000)),
        "page.1": ".TH PAGE 1\n.SH NAME\npage \\- old\n",
        "a.c": "int a;\n",
        "Makefile": "plain:\n\t@true\ntold:\n\t$(WHAT)\n",
        "package.json": json.dumps({"name": "a", "version": "1.0.0", "scripts": scripts}),
    }.items():
        (place / name).write_text(text)
    with tarfile.open(place / "a.tar", "w") as archive:
        archive.add(place / "README.md", "README.md")
    (home / ".gitconfig").write_text(f"[user]\n\tname = a\n\temail = a@example.com\n[alias]\n{own}")
    git = ["git", "-C", str(place)]
    environment = os.environ | {"HOME": str(home)}
    for given in (["init", "-q"], *([["add", "README.md", "a.c"], ["commit", "-qm", "one"]])):
        subprocess.run([*git, *given], check=True, env=environment)
    for text in ("old\nwords\n", "old\nword\n"):
        (place / "README.md").write_text(text)
        subprocess.run([*git, "commit", "-qam", "more"], check=True, env=environment)
    with (place / ".git" / "config").open("a") as config:
        config.write(f"[alias]\n{aliases}")
    return place


def run(folder, room, number, line):
    """The programs that left a mark. In a copy that stands where the home is, without a network, and with nothing else to write."""
    home = folder.parent
    copy = room / str(number) / "home"
    shutil.copytree(home, copy, symlinks=True)
    confined = [
        "bwrap", "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--tmpfs", "/tmp", "--bind", str(copy), str(home), "--unshare-all", "--die-with-parent",
        "--chdir", str(folder), "--setenv", "HOME", str(home), "--setenv", "PATH", os.environ["PATH"], "--setenv", "TERM", "dumb", "--setenv", "npm_config_offline", "true",
        "--setenv", "npm_config_update_notifier", "false", "--setenv", "FILTER_BRANCH_SQUELCH_WARNING", "1", "bash", "-c", line,
    ]  # fmt: skip
    with suppress(subprocess.TimeoutExpired):
        subprocess.run(confined, stdin=subprocess.DEVNULL, capture_output=True, timeout=10, check=False)
    return {path.name.removesuffix(".ran") for path in copy.glob("*.ran")}


@pytest.mark.needs("bubblewrap")
@pytest.mark.parametrize("way", ALLOWED)
def test_whatever_way_it_is_started_what_is_let_through_starts_no_denied_program(folder, tmp_path, monkeypatch, way):
    monkeypatch.setenv("PATH", f"{folder.parent}/bin:{os.environ['PATH']}")
    random = Random(way if IS_REPEATED else SystemRandom().random())  # noqa: S311 (a seed that can be played again)
    make = Startings(random, str(folder)).make
    named = {make(name): name for name in random.choices([DENIED, FREE], [6, 1], k=COUNT // len(ALLOWED))}
    denied = {line: random.choice([DENIED, DENIED, f"{DENIED} x"]) for line in named}

    judged = {line: rule(folder, way, line, [f"Bash({denied[line]}:*)"], allow=ALLOWED[way]).ruling for line in named}
    allowed = [line for line, ruling in judged.items() if ruling is Ruling.ALLOW]
    with ThreadPoolExecutor(2) as pool:
        started = dict(
            zip(allowed, pool.map(partial(run, folder, tmp_path), range(len(allowed)), allowed), strict=True)
        )

    assert [(line, denied[line]) for line, programs in started.items() if denied[line] in programs] == []
    told = [bool(programs) for line, programs in started.items() if named[line] == FREE]
    figures = f"{len(named)} lines, {len(allowed)} let through; {sum(told)} of {len(told)} started the other program"
    print(f"\n{way}: {figures}")  # noqa: T201 (the figure)
    assert sum(told) > len(told) / 2, "too few ways really start a program for the test to mean something"
