"""What a person always allows is written down: nothing else changes, and nothing is written where a link leads."""

import fcntl
import json
import os
import stat
import subprocess
import threading

import pytest

from everturn.core.errors import OptionError
from everturn.settings.grants import append_allow_rules, append_allowed_hosts


@pytest.fixture
def path(tmp_path):
    return tmp_path / ".everturn" / "settings.local.json"


def test_a_new_file_is_its_owners_alone(tmp_path, path):
    written = append_allow_rules(str(tmp_path), ["Bash(npm test *)"])
    assert (written.path, written.content) == (str(path), path.read_bytes())

    assert path.read_text() == '{\n  "permissions": {\n    "allow": [\n      "Bash(npm test *)"\n    ]\n  }\n}\n'
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_what_is_in_the_file_stays_in_its_order_and_so_does_its_mode(tmp_path, path):
    path.parent.mkdir()
    before = {"model": "opus", "permissions": {"deny": ["Bash(rm *)"], "allow": ["Read"]}, "later": {"unknown": [1]}}
    path.write_text(json.dumps(before))
    path.chmod(0o640)

    append_allow_rules(str(tmp_path), ["Bash(make)", "Read", "Bash(make)"])

    wanted = {**before, "permissions": {"deny": ["Bash(rm *)"], "allow": ["Read", "Bash(make)"]}}
    assert json.loads(path.read_text()) == wanted
    assert list(json.loads(path.read_text())) == ["model", "permissions", "later"]
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert sorted(each.name for each in path.parent.iterdir()) == [".gitignore", "settings.local.json"]


def test_git_does_not_see_it(tmp_path):
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)

    append_allow_rules(str(tmp_path), ["Bash(make)"])

    done = subprocess.run(
        ["git", "-C", str(tmp_path), "status", "--porcelain"], check=True, capture_output=True, text=True
    )
    assert done.stdout == ""


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ('{"permissions": {"allow": "Bash"}}', "something else than a list"),
        ('{"permissions": []}', "something else than a list"),
        ('{"permissions": {', "is not valid JSON"),
        ("[1]", "must hold one JSON object"),
        (b"\xff", "is not UTF-8"),
    ],
)
def test_a_file_that_is_not_understood_is_not_touched(tmp_path, path, content, problem):
    path.parent.mkdir()
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    before = path.read_bytes()

    with pytest.raises(OptionError, match=problem):
        append_allow_rules(str(tmp_path), ["Bash(make)"])

    assert path.read_bytes() == before
    assert [each.name for each in path.parent.iterdir()] == ["settings.local.json"]


def test_links_are_not_followed(tmp_path):
    project, elsewhere = tmp_path / "project", tmp_path / "elsewhere"
    project.mkdir()
    elsewhere.mkdir()
    (project / ".everturn").symlink_to(elsewhere)
    with pytest.raises(OptionError, match="is a link"):
        append_allow_rules(str(project), ["Bash(make)"])
    assert list(elsewhere.iterdir()) == []

    (project / ".everturn").unlink()
    (project / ".everturn").mkdir()
    (project / ".everturn/settings.local.json").symlink_to(elsewhere / "victim")
    (elsewhere / "victim").write_text("{}")
    with pytest.raises(OptionError, match="cannot be written"):
        append_allow_rules(str(project), ["Bash(make)"])
    assert (elsewhere / "victim").read_text() == "{}"


def test_a_folder_that_cannot_be_written_is_told(tmp_path):
    (tmp_path / ".everturn").write_text("a file")
    with pytest.raises(OptionError, match="cannot be written: Not a directory"):
        append_allow_rules(str(tmp_path), ["Bash(make)"])


def test_sessions_that_write_at_once_lose_nothing(tmp_path, path):
    writers = [
        threading.Thread(target=append_allow_rules, args=(str(tmp_path), [f"Bash(make {number})"]))
        for number in range(20)
    ]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()

    assert sorted(json.loads(path.read_text())["permissions"]["allow"]) == sorted(f"Bash(make {n})" for n in range(20))


def test_hosts_are_added_beside_what_the_file_says_of_the_sandbox(tmp_path, path):
    path.parent.mkdir()
    path.write_text('{"sandbox": {"enabled": true, "network": {"allowedDomains": ["a.example"]}}, "model": "opus"}')

    append_allowed_hosts(str(tmp_path), ["a.example", "b.example:443"])

    network = {"allowedDomains": ["a.example", "b.example:443"]}
    assert json.loads(path.read_text()) == {"sandbox": {"enabled": True, "network": network}, "model": "opus"}


@pytest.mark.parametrize("content", ['{"sandbox": true}', '{"sandbox": {"network": {"allowedDomains": "a"}}}'])
def test_hosts_are_not_added_to_what_is_no_list(tmp_path, path, content):
    path.parent.mkdir()
    path.write_text(content)

    with pytest.raises(OptionError, match="something else than a list in sandbox"):
        append_allowed_hosts(str(tmp_path), ["a.example"])
    assert path.read_text() == content


def test_a_folder_that_a_session_holds_for_a_sandbox_is_no_hindrance(tmp_path, path):
    """As a placeholder is held, by us or by another session, while a command runs."""
    path.parent.mkdir()
    held = os.open(path.parent, os.O_RDONLY)
    fcntl.flock(held, fcntl.LOCK_SH)
    try:
        append_allow_rules(str(tmp_path), ["Bash(make)"])
    finally:
        os.close(held)

    assert json.loads(path.read_text()) == {"permissions": {"allow": ["Bash(make)"]}}
