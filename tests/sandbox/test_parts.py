"""The parts by themselves: what is planned, without a sandbox around it."""

import errno
import re
import shutil
import stat
import struct
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from everturn.core.errors import OptionError, ToolFault
from everturn.ports.sandbox import Start
from everturn.ports.tool import Confinement
from everturn.sandbox.calls import MACHINES
from everturn.sandbox.confining import CommandSandbox, Surroundings
from everturn.sandbox.denials import Held, explain_denials
from everturn.sandbox.excluded import find_exclusion
from everturn.sandbox.filter import AF_INET, AF_NETLINK, AF_UNIX, FORBIDDEN, INTERNET, LOCAL, encode_filter
from everturn.sandbox.kept import Kept
from everturn.sandbox.placeholders import MODE, Placeholders
from everturn.sandbox.places import Places, find_nested, find_places
from everturn.sandbox.probe import find_means, try_bubblewrap
from everturn.sandbox.settings import Wishes, parse_wishes
from everturn.sandbox.temporary import Temporary

ALLOW = 0x7FFF_0000


def play(program, number, first=0, second=0, *, audit=None, machine="x86_64"):
    """What a filter says of a call: None where it may be made, else the error. A small machine of our own, for the test."""
    seen = struct.pack("=IIQQQ", number, audit or MACHINES[machine].audit, 0, first, second)
    at, value = 0, 0
    while True:
        code, yes, no, operand = struct.unpack_from("=HBBI", program, at * 8)
        at += 1
        if code == 0x20:
            (value,) = struct.unpack_from("=I", seen, operand)
        elif code == 0x15:
            at += yes if value == operand else no
        elif code == 0x45:
            at += yes if value & operand else no
        else:
            assert code == 0x06
            return None if operand == ALLOW else operand & 0xFFFF


@pytest.mark.parametrize("machine", MACHINES)
def test_the_filter_refuses_what_it_names_and_nothing_else(machine):
    program = encode_filter(MACHINES[machine], LOCAL | INTERNET)
    numbers = MACHINES[machine].numbers
    asks_more = {"socket", "clone", "ioctl"}

    refused = {
        name: play(program, number, machine=machine) for name, number in numbers.items() if name not in asks_more
    }

    expected = {name: errno.EPERM if name in FORBIDDEN else None for name in numbers if name not in asks_more}
    assert refused == expected | {"clone3": errno.ENOSYS}
    assert play(program, 1000, machine=machine) is None
    assert play(program, 1, audit=0x4000_0003, machine=machine) == errno.ENOSYS


@pytest.mark.parametrize(
    ("name", "first", "second", "error"),
    [
        ("socket", AF_INET, 0, None),
        ("socket", AF_NETLINK, 0, None),
        ("socket", AF_UNIX, 0, errno.EPERM),
        ("socket", 40, 0, errno.EPERM),
        ("socket", (1 << 32) | AF_INET, 0, None),
        ("clone", 17, 0, None),
        ("clone", 0x10000011, 0, errno.EPERM),
        ("clone", 0x003D0F00, 0, None),
        ("ioctl", 0, 0x5401, None),
        ("ioctl", 0, 0x5412, errno.EPERM),
        ("ioctl", 0, (1 << 32) | 0x5412, errno.EPERM),
    ],
)
def test_the_filter_looks_at_arguments_as_the_kernel_does(name, first, second, error):
    program = encode_filter(MACHINES["x86_64"], LOCAL | INTERNET)

    assert play(program, MACHINES["x86_64"].numbers[name], first, second) == error


@pytest.mark.parametrize(
    ("command", "pattern", "is_outside"),
    [
        ("docker ps", "docker *", True),
        ("docker", "docker *", True),
        ("docker ps", "docker:*", True),
        ("dockerx ps", "docker *", False),
        ("make test", "make test", True),
        ("make test2", "make test", False),
        ("git push origin main", "git * main", True),
        ("docker ps; curl evil", "docker *", False),
        ("docker ps && curl evil", "docker *", False),
        ("docker ps | sh", "docker *", False),
        ("docker ps\ncurl evil", "docker *", False),
        ("docker $(curl evil)", "docker *", False),
        ("docker `curl evil`", "docker *", False),
        ("docker ps > ~/.bashrc", "docker *", False),
        ("", "*", False),
        ("aXbXc", "a*b*c", True),
        ("ab", "a*b*b", False),
    ],
)
def test_only_a_single_command_is_excluded(command, pattern, is_outside):
    assert (find_exclusion(command, [pattern]) is not None) is is_outside


@given(st.text(alphabet="ab*", max_size=12), st.text(alphabet="ab", max_size=12))
def test_stars_match_as_everywhere(pattern, command):
    text = command or "a"
    wanted = re.fullmatch(re.escape(pattern).replace(r"\*", ".*"), text)
    assert (find_exclusion(text, [pattern]) is not None) == bool(wanted)


def test_settings_may_be_nested_or_dotted():
    nested = {
        "enabled": True,
        "network": {"allowedDomains": ["a.example"]},
        "filesystem": {"allowWrite": ["~/c", "x/**"]},
    }
    dotted = {"enabled": True, "network.allowedDomains": ["a.example"], "filesystem.allowWrite": ["~/c", "./x/"]}
    wishes = Wishes(enabled=True, allowed_hosts=("a.example",), allow_write=("/home/me/c", "/project/x"))

    assert parse_wishes(nested, "/project", "/home/me") == parse_wishes(dotted, "/project", "/home/me") == wishes


@pytest.mark.parametrize("entry", ["*.log", "a/*/b", "a?", "a\0b"])
def test_a_path_with_wildcards_is_refused(entry):
    with pytest.raises(OptionError, match="wildcards do not work here"):
        parse_wishes({"filesystem.denyRead": [entry]}, "/project", "/home/me")


def test_both_names_of_required_count():
    assert parse_wishes({"failIfUnavailable": True}, "/", "/").required
    assert parse_wishes({"required": True}, "/", "/").required


async def test_a_placeholder_stays_while_another_session_needs_it(tmp_path):
    path = tmp_path / ".claude"
    first, second = Placeholders(), Placeholders()
    assert first.put([str(path)]) == second.put([str(path)]) == (str(path),)

    first.remove([str(path)])
    first.sweep()
    assert path.is_dir()
    second.remove([str(path)])
    second.sweep()
    assert not path.exists()


async def test_a_placeholder_that_somebody_filled_stays(tmp_path):
    path = tmp_path / ".claude"
    placeholders = Placeholders()
    placeholders.put([str(path)])
    (path / "settings.json").write_text("{}")

    placeholders.remove([str(path)])
    placeholders.sweep()

    assert (path / "settings.json").read_text() == "{}"
    assert stat.S_IMODE(path.stat().st_mode) == 0o755


async def test_what_is_really_there_is_held_but_never_removed(tmp_path):
    path = tmp_path / ".claude"
    path.mkdir()
    placeholders = Placeholders()

    assert placeholders.put([str(path)]) == (str(path),)
    placeholders.remove([str(path)])
    placeholders.sweep()

    assert path.is_dir()


async def test_the_placeholder_of_a_killed_session_is_as_good_as_missing(tmp_path):
    root = tmp_path.resolve()
    left = root / ".claude"
    left.mkdir()
    left.chmod(MODE)

    places = find_places(Wishes(), folders=[str(root)], temporary=str(root))

    assert str(left) in places.missing
    heir = Placeholders()
    heir.remove(heir.put([str(left)]))
    heir.sweep()
    assert not left.exists()


def test_temporary_files_of_a_killed_session_go_with_the_next(tmp_path):
    (tmp_path / "everturn-sandbox-old").mkdir()
    living = Temporary(str(tmp_path))

    another = Temporary(str(tmp_path))

    assert sorted(tmp_path.iterdir()) == sorted(map(type(tmp_path), (living.path, another.path)))
    another.close()
    living.close()
    assert list(tmp_path.iterdir()) == []


def test_what_was_changed_is_put_back_and_the_change_kept_aside(tmp_path):
    folder, file, link, missing = (tmp_path / name for name in ("folder", "file", "link", "missing"))
    folder.mkdir()
    (folder / "inner").write_text("old")
    (folder / "inner").chmod(0o750)
    file.write_text("old")
    link.symlink_to("file")
    kept = Kept(map(str, (folder, file, link, missing)))
    (folder / "inner").write_text("new")
    (folder / "more").write_text("new")
    file.unlink()
    link.unlink()
    link.mkdir()
    missing.mkdir()
    (missing / "new").write_text("new")

    assert set(kept.put_back()) == {str(folder), str(file), str(link), str(missing)}
    assert [path.name for path in folder.iterdir()] == ["inner"]
    assert ((folder / "inner").read_text(), (folder / "inner").stat().st_mode & 0o777) == ("old", 0o750)
    assert (file.read_text(), str(link.readlink()), missing.exists()) == ("old", "file", False)
    assert len(list(Path(kept.aside).iterdir())) == 3
    shutil.rmtree(kept.aside)


def test_nested_repositories_are_found(tmp_path):
    root = tmp_path.resolve()
    for name in ("a/.git", "b/c/.git", "node_modules/x/.git", "d/e/f/g/.git", "h/.claude"):
        (root / name).mkdir(parents=True)

    assert find_nested(str(root)) == [f"{root}/a", f"{root}/b/c", f"{root}/h"]


def test_a_program_that_is_not_bubblewrap_is_not_taken_for_it():
    machine = MACHINES["x86_64"]

    assert "does not work here" in try_bubblewrap("/bin/false", machine)
    assert "does not work here" in try_bubblewrap("/nonexistent", machine)
    assert find_means("/nonexistent", without="landlock").kind == "none"


START = Start(arguments=["/bin/sh", "-c", ":"], environment={})
AROUND = Surroundings(folders=(), home="/nonexistent")


async def test_without_a_sandbox_commands_run_with_a_warning(tmp_path):
    none = find_means("/nonexistent", without="landlock")
    sandbox = CommandSandbox(Wishes(enabled=True), none, AROUND)

    cell = await sandbox.confine("true", START, str(tmp_path))

    assert (cell.start, sandbox.judge("true", leave=False)) == (START, Confinement.NONE)
    [warning] = cell.explain("", 0)
    assert warning.startswith(
        "The command ran without a sandbox, although one is wanted: bubblewrap does not work here"
    )


async def test_where_one_is_required_no_command_runs_without(tmp_path):
    none = find_means("/nonexistent", without="landlock")
    sandbox = CommandSandbox(Wishes(enabled=True, required=True), none, AROUND)

    with pytest.raises(ToolFault, match="is set, and there is no sandbox here"):
        await sandbox.confine("true", START, str(tmp_path))


PLACES = Places(writable=("/w",), protected=("/w/.git/config",), missing=("/w/.claude",), hidden=("/secret",))


@pytest.mark.parametrize(
    ("output", "told"),
    [
        ("touch: cannot touch '/etc/x': Read-only file system", "/etc/x cannot be written; only /w can"),
        ("bash: line 1: /etc/x: Read-only file system", "/etc/x cannot be written"),
        ("OSError: [Errno 30] Read-only file system: '/etc/x'", "/etc/x cannot be written"),
        ("EROFS: read-only file system, open '/etc/x'", "/etc/x cannot be written"),
        (
            "error: could not write config file .git/config: Device or resource busy",
            "/w/.git/config may not be changed",
        ),
        ("bash: .claude/settings.json: Read-only file system", "/w/.claude/settings.json may not be changed"),
        ("cat: /secret/key: Permission denied", "/secret/key cannot be read"),
        (
            "/usr/bin/touch: cannot touch '/etc/x': Read-only file system",
            "held the command back: /etc/x cannot be written; only",
        ),
        ("/usr/bin/touch: cannot touch 'x': Read-only file system", "held the command back: only /w can be written"),
        ("touch: cannot touch 'x': Read-only file system", "held the command back: only /w can be written"),
        ("/bin/sh: 1: cannot create /etc/x: Read-only file system", "held the command back: /etc/x cannot be written;"),
        ("/w/run.sh: line 3: /etc/x: Read-only file system", "held the command back: /etc/x cannot be written;"),
        ("make[1]: /usr/bin/cp: cannot create '/etc/x': Read-only file system", "held the command back: /etc/x cannot"),
        ("/etc/x: Read-only file system", "held the command back: /etc/x cannot be written;"),
        (
            "/usr/bin/cp: cannot create regular file '.claude/a': Read-only file system",
            "held the command back: /w/.claude/a may not",
        ),
        ("curl: (6) Could not resolve host: example.com", "there is no network"),
        ("dial unix /run/docker.sock: socket: operation not permitted", "sockets in the file system are closed"),
        ("cat: /other: Permission denied", ""),
        ("make: *** [all] Error 1", ""),
    ],
)
def test_the_model_is_told_what_was_held_back(output, told):
    notices = explain_denials(Held(output=output, folder="/w", places=PLACES))

    assert told in " ".join(notices)
    assert bool(notices) is bool(told)


@given(st.text(max_size=300))
def test_no_output_confuses_the_explanation(output):
    assert all(isinstance(line, str) for line in explain_denials(Held(output=output, folder="/w", places=PLACES)))
