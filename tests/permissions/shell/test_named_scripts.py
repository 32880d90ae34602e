"""What a line runs by a name that stands in a file is held against deny and ask rules: aliases of git, scripts of packages, programs by other names."""

import json
import shutil
import subprocess

import pytest
from tests.permissions.shell.test_doubts import EVERY_WAY, rule

from everturn.ports.policy import Ruling

PROGRAM = "shred"
DENIED = [f"Bash({PROGRAM}:*)"]
RUNS_IT = [
    "git wipe", "git -C . wipe x", "git -C sub wipe", "cd sub && git wipe", "git chain", "git func", "git own", "git included", "git WIPE",
    "GIT_CONFIG_GLOBAL=other git anything", "git -c include.path=other anything", "git --git-dir=x anything",
    "npm run wipe", "npm run-script wipe", "npm --silent run wipe", "npm test", "npm t", "npm run before", "npm start", "cd sub && npm run wipe", "npm --prefix . run wipe",
    "pnpm wipe", "yarn wipe", "yarn run wipe", "bun run wipe", "npm run again", "npm run unseen",
    "./link x", "./hard x", "./copy x", "$PWD/link x", "sub/../link", "cd sub && ../link x", "./twice x",
]  # fmt: skip
RUNS_OTHERS = [
    "git st", "git -C sub st", "git nothing", "git status", "npm run build", "npm run nothing", "npm install", "yarn build", "./other x", "./link-to-other x", "./gradlew build", "ls link",
    "git commit -m wipe", "GIT_CONFIG_GLOBAL=/dev/null git st",
]  # fmt: skip


@pytest.fixture
def folder(tmp_path):
    home = tmp_path.resolve()
    place = home / "project"
    (place / "sub").mkdir(parents=True)
    subprocess.run(["git", "init", "-q", place], check=True)
    with (place / ".git" / "config").open("a") as config:
        config.write(
            f'[alias]\n\twipe = !{PROGRAM} x\n\tchain = -c a.b=c wipe y\n\tfunc = "!f() {{ {PROGRAM} $1; }}; f"\n\tst = status -sb\n'
        )
    (home / ".gitconfig").write_text(f"[alias]\n\town = !env {PROGRAM} x\n[include]\n\tpath = more\n")
    (home / "more").write_text(f"[alias]\n\tincluded = !{PROGRAM}\n")
    scripts = {
        "wipe": f"{PROGRAM} x", "test": f"jest && {PROGRAM} x", "prebefore": PROGRAM, "before": "true", "start": f"cross-env A=1 {PROGRAM} x", "again": "npm run wipe", "unseen": "$TOOL x",
        "build": "tsc -p . && vite build", "postinstall": "husky", "prepare": "true",
    }  # fmt: skip
    (place / "package.json").write_text(json.dumps({"scripts": scripts}))
    found = shutil.which(PROGRAM)
    (place / "link").symlink_to(found)
    (place / "twice").symlink_to("link")
    shutil.copy(found, place / "copy")
    (place / "other").write_text("#!/bin/sh\n")
    (place / "link-to-other").symlink_to("other")
    (place / "gradlew").write_text("#!/bin/sh\n")
    try:
        (place / "hard").hardlink_to(found)
    except OSError:
        shutil.copy(found, place / "hard")
    return place


@EVERY_WAY
@pytest.mark.parametrize("command", RUNS_IT)
def test_what_a_name_stands_for_is_held_against_the_rules(folder, way, command):
    assert rule(folder, way, command, DENIED).ruling is not Ruling.ALLOW
    assert rule(folder, way, command, ask=DENIED).ruling is not Ruling.ALLOW


@EVERY_WAY
@pytest.mark.parametrize("command", RUNS_OTHERS)
def test_names_of_other_things_are_let_through(folder, way, command):
    verdict = rule(folder, way, command, DENIED)

    assert (verdict.ruling, command) == (Ruling.ALLOW, command), verdict.reason


@pytest.mark.parametrize("command", RUNS_IT)
def test_without_a_rule_about_commands_nobody_looks_there(folder, command):
    assert rule(folder, "bypassPermissions", command).ruling is Ruling.ALLOW


def test_what_an_installation_runs_counts(folder):
    (folder / "package.json").write_text(json.dumps({"scripts": {"postinstall": f"{PROGRAM} x"}}))

    assert [
        str(rule(folder, "bypassPermissions", f"npm {word}", DENIED).ruling) for word in ("ci", "install", "i")
    ] == ["deny"] * 3


@pytest.mark.parametrize("text", ["", "{", "[]", '{"scripts": []}', '{"scripts": {"wipe": 1}}', "\0"])
def test_a_package_that_is_none_has_no_scripts(folder, text):
    (folder / "package.json").write_text(text)

    assert rule(folder, "bypassPermissions", "npm run wipe", DENIED).ruling is Ruling.ALLOW


def test_an_alias_that_stands_for_itself_ends(folder):
    with (folder / ".git" / "config").open("a") as config:
        config.write("[alias]\n\tround = about\n\tabout = round\n")

    assert rule(folder, "bypassPermissions", "git round", DENIED).ruling is Ruling.ALLOW
