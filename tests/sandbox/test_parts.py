"""The parts by themselves: what is planned, without a sandbox around it."""

import errno
import os
import re
import shutil
import stat
import struct
import tempfile
import threading
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from everturn.core.errors import OptionError, ToolFault
from everturn.ports.sandbox import Start
from everturn.ports.tool import Confinement
from everturn.sandbox.aside import Aside
from everturn.sandbox.beneath import open_straight
from everturn.sandbox.calls import MACHINES
from everturn.sandbox.command_sandbox import CommandSandbox, SandboxSurroundings
from everturn.sandbox.denials import ConfinedRun, explain_denials
from everturn.sandbox.excluded import find_exclusion
from everturn.sandbox.filter import (
    AF_INET,
    AF_NETLINK,
    AF_UNIX,
    FORBIDDEN,
    INTERNET,
    LOCAL,
    OF_HELD,
    OF_READERS,
    SIGNALS,
    encode_filter,
    encode_sparing,
)
from everturn.sandbox.held.walls import MachineWalls
from everturn.sandbox.kept import Keeper
from everturn.sandbox.placeholders import MODE, Placeholders
from everturn.sandbox.places import Places, find_nested, find_places, lies_in_protected
from everturn.sandbox.probe import Means, find_means, try_bubblewrap
from everturn.sandbox.remembered import MAX_BYTES
from everturn.sandbox.remove import remove_tree
from everturn.sandbox.settings import SandboxSettings, parse_sandbox_settings
from everturn.sandbox.survivors import has_scope
from everturn.sandbox.temporary import Temporary

ALLOW = 0x7FFF_0000
START = Start(arguments=["/bin/sh", "-c", ":"], environment={})


def play(program, number, first=0, second=0, fourth=0, *, audit=None, machine="x86_64"):
    """What a filter says of a call: None where it may be made, else the error. A small machine of our own, for the test."""
    seen = struct.pack("=IIQQQQQ", number, audit or MACHINES[machine].audit, 0, first, second, 0, fourth)
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
        elif code == 0x54:
            value &= operand
        else:
            assert code == 0x06
            return None if operand == ALLOW else operand & 0xFFFF


@pytest.mark.parametrize("machine", MACHINES)
def test_the_filter_refuses_what_it_names_and_nothing_else(machine):
    program = encode_filter(MACHINES[machine], LOCAL | INTERNET)
    numbers = MACHINES[machine].numbers
    asks_more = {"socket", "socketpair", "clone", "ioctl"}

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
        ("ioctl", 0, 0x4008_6602, None),
        # A stream, and packets in order; with flags. Datagrams can be sent to whoever listens on this machine.
        ("socketpair", AF_UNIX, 1, None),
        ("socketpair", AF_UNIX, 0x80801, None),
        ("socketpair", AF_UNIX, 5, None),
        ("socketpair", AF_UNIX, 2, errno.EPERM),
        ("socketpair", AF_UNIX, 0x80802, errno.EPERM),
        ("socketpair", AF_UNIX, 3, errno.EPERM),
        ("socketpair", 30, 1, errno.EPERM),
    ],
)
def test_the_filter_looks_at_arguments_as_the_kernel_does(name, first, second, error):
    program = encode_filter(MACHINES["x86_64"], LOCAL | INTERNET)

    assert play(program, MACHINES["x86_64"].numbers[name], first, second) == error


def test_where_local_sockets_are_wanted_pairs_of_all_kinds_are_fine():
    program = encode_filter(MACHINES["x86_64"], frozenset({AF_UNIX}))

    assert play(program, MACHINES["x86_64"].numbers["socketpair"], AF_UNIX, 2) is None


@pytest.mark.parametrize(
    ("name", "first", "second", "error"),
    [
        ("ioctl", 0, 0x5401, None),
        ("ioctl", 0, 0x5412, errno.EPERM),
        ("ioctl", 0, 0x8008_6601, None),
        # FS_IOC_SETFLAGS, FS_IOC_FSSETXATTR, FS_IOC_ENABLE_VERITY, BTRFS_IOC_SNAP_CREATE, FIOSETOWN
        ("ioctl", 0, 0x4008_6602, errno.ENOTTY),
        ("ioctl", 0, 0x401C_5820, errno.ENOTTY),
        ("ioctl", 0, 0x4080_6685, errno.ENOTTY),
        ("ioctl", 0, 0x5000_9401, errno.ENOTTY),
        ("ioctl", 0, 0x8901, errno.ENOTTY),
        ("fcntl", 0, 3, None),
        ("fcntl", 0, 8, errno.EPERM),
        ("fcntl", 0, 1024, errno.EPERM),
        ("fcntl", 0, 1026, errno.EPERM),
        ("setpriority", 0, 0, None),
        ("setpriority", 0, 4711, errno.EPERM),
        ("setpriority", 2, 0, errno.EPERM),
        ("prlimit64", 0, 0, None),
        ("prlimit64", 4711, 0, errno.EPERM),
        ("kill", 4711, 9, None),
        ("socketpair", AF_UNIX, 1, None),
        ("socketpair", AF_UNIX, 2, errno.EPERM),
    ],
)
def test_the_filter_for_readers_looks_at_arguments_as_the_kernel_does(name, first, second, error):
    program = encode_filter(MACHINES["x86_64"], frozenset(), reads=True)

    assert play(program, MACHINES["x86_64"].numbers[name], first, second) == error


@pytest.mark.parametrize("machine", MACHINES)
def test_the_filter_for_readers_refuses_what_it_names_and_sockets_of_all_kinds(machine):
    program = encode_filter(MACHINES[machine], frozenset(), reads=True, version=1)
    numbers = MACHINES[machine].numbers
    named = {*FORBIDDEN, *OF_HELD, *OF_READERS, *SIGNALS} & numbers.keys()

    refused = {name for name in named if play(program, numbers[name], machine=machine) != errno.EPERM}

    assert refused == set()
    assert {play(program, numbers["socket"], family, machine=machine) for family in range(64)} == {errno.EPERM}


@pytest.mark.parametrize("machine", MACHINES)
def test_the_filter_for_held_edits_refuses_what_leads_to_others_or_cannot_be_counted(machine):
    program, numbers = encode_filter(MACHINES[machine], frozenset(), held=True), MACHINES[machine].numbers

    def judge(name, *words):
        return play(program, numbers[name], *words, machine=machine)

    assert {judge(name) for name in (*FORBIDDEN, *OF_HELD) if name in numbers} == {errno.EPERM}
    assert judge("fchmod") is None
    # Threads of ordinary programs share all; children share nothing; a thread that shares no descriptors is refused.
    assert [judge("clone", flags) for flags in (0x3D0F00, 17, 0x10900)] == [None, None, errno.EPERM]
    # Memory of one's own, files that are shared, and nameless memory that is shared.
    assert [judge("mmap", 0, 0, flags) for flags in (0x22, 0x1, 0x3, 0x21, 0x23)] == [None] * 3 + [errno.EPERM] * 2
    assert [judge("prctl", option) for option in (15, 38, 4)] == [None, None, errno.EPERM]


@pytest.mark.parametrize("machine", MACHINES)
def test_the_thread_that_starts_commands_is_out_of_their_reach(machine):
    numbers, thread, other = MACHINES[machine].numbers, 4711, 4712
    program = encode_sparing(MACHINES[machine], thread)

    def judge(name, first, second=0):
        return play(program, numbers[name], first, second, machine=machine)

    for name in ("kill", "tkill", "rt_sigqueueinfo"):
        assert (judge(name, thread), judge(name, other), judge(name, thread | 1 << 32)) == (
            errno.EPERM,
            None,
            errno.EPERM,
        )
    for name in ("tgkill", "rt_tgsigqueueinfo"):
        assert (judge(name, other, thread), judge(name, thread, other)) == (errno.EPERM, None)
    assert judge("pidfd_send_signal", 3) == errno.EPERM
    assert judge("kill", -1 & 0xFFFFFFFF) is None


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
    wishes = SandboxSettings(enabled=True, allowed_hosts=("a.example",), allow_write=("/home/me/c", "/project/x"))

    assert (
        parse_sandbox_settings(nested, "/project", "/home/me")
        == parse_sandbox_settings(dotted, "/project", "/home/me")
        == wishes
    )


@pytest.mark.parametrize("entry", ["*.log", "a/*/b", "a?", "a\0b"])
def test_a_path_with_wildcards_is_refused(entry):
    with pytest.raises(OptionError, match="wildcards do not work here"):
        parse_sandbox_settings({"filesystem.denyRead": [entry]}, "/project", "/home/me")


def test_both_names_of_required_count():
    assert parse_sandbox_settings({"failIfUnavailable": True}, "/", "/").required
    assert parse_sandbox_settings({"required": True}, "/", "/").required


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

    places = find_places(SandboxSettings(), folders=[str(root)], temporary=str(root))

    assert str(left) in places.missing
    heir = Placeholders()
    heir.remove(heir.put([str(left)]))
    heir.sweep()
    assert not left.exists()


def test_temporary_files_of_killed_sessions_go_with_the_next_however_many_others_live(tmp_path):
    living = [Temporary(str(tmp_path), sweeps=False) for _ in range(40)]
    for number in range(20):
        kind = "sandbox" if number % 2 else "scratch"
        (tmp_path / f"everturn-{kind}-old-{number}" / "deep").mkdir(parents=True)

    another = Temporary(str(tmp_path))
    another.sweeping.join()

    assert sorted(map(str, tmp_path.iterdir())) == sorted(each.path for each in (*living, another))
    another.close()
    for each in living:
        each.close()
    assert list(tmp_path.iterdir()) == []


def test_a_new_temporary_folder_is_taken_by_nobody_for_one_that_was_left(tmp_path):
    """However many sessions begin at once, each of which sweeps."""
    made = []

    def make():
        made.extend(Temporary(str(tmp_path)) for _ in range(20))

    makers = [threading.Thread(target=make) for _ in range(8)]
    for thread in makers:
        thread.start()
    for thread in makers:
        thread.join()
    for each in made:
        each.sweeping.join()

    assert sorted(map(str, tmp_path.iterdir())) == sorted(each.path for each in made)
    assert len(made) == 160
    for each in made:
        each.close()


def test_what_was_changed_is_put_back_and_the_change_kept_aside(tmp_path):
    folder, file, link, missing = (tmp_path / name for name in ("folder", "file", "link", "missing"))
    folder.mkdir()
    (folder / "inner").write_text("old")
    (folder / "inner").chmod(0o750)
    file.write_text("old")
    link.symlink_to("file")
    keeper = Keeper()
    keeper.begin(map(str, (folder, file, link, missing)), [str(tmp_path)])
    (folder / "inner").write_text("new")
    (folder / "more").write_text("new")
    file.unlink()
    link.unlink()
    link.mkdir()
    missing.mkdir()
    (missing / "new").write_text("new")

    aside = Aside()
    done = keeper.end(aside)

    assert (set(done.changed), done.lost) == ({str(folder), str(file), str(link), str(missing)}, ())
    assert [path.name for path in folder.iterdir()] == ["inner"]
    assert ((folder / "inner").read_text(), (folder / "inner").stat().st_mode & 0o777) == ("old", 0o750)
    assert (file.read_text(), str(link.readlink()), missing.exists()) == ("old", "file", False)
    # Of the folder what was changed in it, and no more.
    assert len(list(Path(aside.place).iterdir())) == 4
    shutil.rmtree(aside.place)
    aside.close()


LANDLOCK = Means(kind="landlock", why="", machine=MACHINES["x86_64"], version=5)


def test_where_what_runs_on_cannot_be_found_commands_are_asked_about(tmp_path):
    """Before Linux 6.12 signals know no rules."""
    around = SandboxSurroundings(folders=(str(tmp_path),), home="/nonexistent")

    sandbox = CommandSandbox(SandboxSettings(enabled=True, auto_allow=True), LANDLOCK, around)

    assert sandbox.judge("true", leave=False) is Confinement.INSIDE


@pytest.mark.needs("Landlock")
async def test_where_something_protected_is_too_large_to_be_put_back_commands_are_asked_about(tmp_path):
    large = tmp_path / ".vscode"
    large.mkdir()
    around = SandboxSurroundings(folders=(str(tmp_path),), home="/nonexistent")
    sandbox = CommandSandbox(SandboxSettings(enabled=True, auto_allow=True), find_means(without="bubblewrap"), around)
    assert sandbox.judge("true", leave=False) is Confinement.ENOUGH

    with (large / "huge").open("wb") as file:
        file.truncate(1 << 30)
    with pytest.raises(ToolFault, match="Run it again"):
        await sandbox.confine("true", START, str(tmp_path))

    assert sandbox.judge("true", leave=False) is Confinement.INSIDE
    cell = await sandbox.confine("true", START, str(tmp_path))
    cell.close()
    assert sandbox.judge("true", leave=False) is Confinement.INSIDE
    await sandbox.aclose()


@pytest.mark.parametrize("size", [MAX_BYTES + 1, MAX_BYTES * 2 // 3])
def test_what_is_made_later_and_too_large_takes_nothing_from_what_could_be_put_back(tmp_path, size):
    """Whatever its name: names are looked at in an order."""
    kept = tmp_path / "kept"
    kept.write_text("old")
    paths = [str(tmp_path / name) for name in ("a", "b", "kept", "x", "y")]
    keeper, aside = Keeper(), Aside()
    keeper.begin(paths, [str(tmp_path)])
    keeper.end(aside)
    for name in ("a", "b", "x", "y"):
        with (tmp_path / name).open("wb") as file:
            file.truncate(size)

    keeper.begin(paths, [str(tmp_path)])
    kept.write_text("evil")
    keeper.end(aside)

    assert kept.read_text() == "old"
    assert len(keeper.unheld) >= 3
    aside.close()
    keeper.close()
    shutil.rmtree(aside.place)


@pytest.mark.needs("Landlock")
def test_signals_stay_among_those_under_the_same_rules():
    assert has_scope(find_means(without="bubblewrap").version) is (find_means(without="bubblewrap").version >= 6)
    assert not has_scope(5)


def test_a_keeper_leaves_no_descriptor_open(tmp_path):
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / "a" / "b" / "file").write_text("old")
    keeper = Keeper()

    def work():
        keeper.begin([str(tmp_path / "a" / "b" / "file"), str(tmp_path / "a" / "missing")], [str(tmp_path)])
        shutil.rmtree(tmp_path / "a")
        aside = Aside()
        keeper.end(aside)
        aside.close()
        shutil.rmtree(aside.place, ignore_errors=True)

    work()
    before = len(list(Path("/proc/self/fd").iterdir()))
    work()

    assert len(list(Path("/proc/self/fd").iterdir())) == before
    assert (tmp_path / "a" / "b" / "file").read_text() == "old"


NAMES = st.text(alphabet="ab\n\udcff", min_size=1, max_size=3)
TREES = st.recursive(
    st.binary(max_size=8) | NAMES.map(Path), lambda inner: st.dictionaries(NAMES, inner, max_size=4), max_leaves=12
)


def plant(path, tree):
    if isinstance(tree, dict):
        path.mkdir()
        for name, inner in tree.items():
            plant(path / name, inner)
    elif isinstance(tree, bytes):
        path.write_bytes(tree)
    else:
        path.symlink_to(tree)


def gather(path):
    if path.is_symlink():
        return path.readlink()
    if path.is_dir():
        return {inner.name: gather(inner) for inner in path.iterdir()}
    return path.read_bytes()


@given(TREES, TREES)
def test_whatever_a_command_makes_of_it_it_is_as_it_was(before, after):
    with tempfile.TemporaryDirectory() as made:
        kept = Path(made).resolve() / "kept"
        plant(kept, before)
        keeper, aside = Keeper(), Aside()
        keeper.begin([str(kept)], [str(kept.parent)])
        shutil.rmtree(kept) if kept.is_dir() and not kept.is_symlink() else kept.unlink()
        plant(kept, after)

        done = keeper.end(aside)

        assert gather(kept) == before
        assert done.lost == ()
        keeper.close()
        aside.close()
        shutil.rmtree(aside.place, ignore_errors=True)


@given(TREES)
def test_a_tree_is_removed_whatever_is_in_it(tree):
    with tempfile.TemporaryDirectory() as made:
        plant(Path(made) / "tree", {"inner": tree})
        folder = open_straight(str(Path(made).resolve()))

        assert remove_tree(folder, "tree")
        os.close(folder)
        assert list(Path(made).iterdir()) == []


def test_temporary_files_go_however_deep_they_lie_and_nothing_behind_a_link_does(tmp_path):
    theirs = tmp_path / "theirs"
    theirs.mkdir()
    (theirs / "file").write_text("kept")
    temporary = Temporary(str(tmp_path))
    (Path(temporary.path) / "link").symlink_to(theirs)
    folder = os.open(temporary.path, os.O_RDONLY)
    for _ in range(3_000):
        os.mkdir("d", dir_fd=folder)
        inner = os.open("d", os.O_RDONLY, dir_fd=folder)
        os.close(folder)
        folder = inner
    os.close(folder)

    temporary.close()

    assert [path.name for path in tmp_path.iterdir()] == ["theirs"]
    assert (theirs / "file").read_text() == "kept"


def test_a_link_in_place_of_the_temporary_folder_takes_nothing_with_it(tmp_path):
    theirs = tmp_path / "theirs"
    theirs.mkdir()
    (theirs / "file").write_text("kept")
    temporary = Temporary(str(tmp_path))
    Path(temporary.path).rename(tmp_path / "moved")
    Path(temporary.path).symlink_to(theirs)

    temporary.close()

    assert (theirs / "file").read_text() == "kept"


async def test_a_placeholder_is_removed_where_it_was_made_and_nowhere_else(tmp_path):
    folder, theirs = tmp_path / "folder", tmp_path / "theirs"
    folder.mkdir()
    (theirs / ".claude").mkdir(parents=True)
    placeholders = Placeholders()
    placeholders.put([str(folder.resolve() / ".claude")])
    folder.rename(tmp_path / "moved")
    folder.symlink_to(theirs)

    placeholders.remove([str(folder.resolve().parent / "folder" / ".claude")])
    placeholders.remove([str(tmp_path.resolve() / "folder" / ".claude")])
    placeholders.sweep()

    assert stat.S_IMODE((theirs / ".claude").stat().st_mode) != MODE
    assert (theirs / ".claude").is_dir()
    assert list((tmp_path / "moved").iterdir()) == []


async def test_no_placeholder_is_made_behind_a_link(tmp_path):
    theirs = tmp_path / "theirs"
    theirs.mkdir()
    (tmp_path / "link").symlink_to(theirs)

    assert Placeholders().put([str(tmp_path.resolve() / "link" / ".claude")]) == ()
    assert list(theirs.iterdir()) == []


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


AROUND = SandboxSurroundings(folders=(), home="/nonexistent")


async def test_without_a_sandbox_commands_run_with_a_warning(tmp_path):
    none = find_means("/nonexistent", without="landlock")
    sandbox = CommandSandbox(SandboxSettings(enabled=True), none, AROUND)

    cell = await sandbox.confine("true", START, str(tmp_path))

    assert (cell.start, sandbox.judge("true", leave=False)) == (START, Confinement.NONE)
    [warning] = cell.explain("", 0)
    assert warning.startswith(
        "The command ran without a sandbox, although one is wanted: bubblewrap does not work here"
    )


async def test_where_one_is_required_no_command_runs_without(tmp_path):
    none = find_means("/nonexistent", without="landlock")
    sandbox = CommandSandbox(SandboxSettings(enabled=True, required=True), none, AROUND)

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
    notices = explain_denials(ConfinedRun(output=output, folder="/w", places=PLACES))

    assert told in " ".join(notices)
    assert bool(notices) is bool(told)


@given(st.text(max_size=300))
def test_no_output_confuses_the_explanation(output):
    assert all(
        isinstance(line, str) for line in explain_denials(ConfinedRun(output=output, folder="/w", places=PLACES))
    )


EXPOSED = {
    "/h/.config": False,
    "/h/.config/app": False,
    "/h/.config/autostart": True,
    "/h/.config/nvim/lua": True,
    "/h/.local/bin": True,
    "/h/project": False,
    "/h": False,
    "/other/.config/nvim": False,
    "/other/.config/git": True,
    "/work/.git/hooks": True,
    "/work/.claude": True,
    "/work/.claude/worktrees/a": False,
    "/work/.claude/worktrees/a/.vscode": True,
}


@pytest.mark.parametrize("folder", EXPOSED)
def test_a_folder_that_lies_in_a_protected_place(folder):
    assert lies_in_protected(folder, "/h") is EXPOSED[folder]


@pytest.mark.needs("bubblewrap")
async def test_where_the_workspace_is_a_protected_place_commands_and_edits_are_asked_about(tmp_path):
    home = tmp_path.resolve()
    for name in (".local/bin", "project"):
        (home / name).mkdir(parents=True)
    said, edits = {}, {}
    for name in (".local/bin", "project"):
        around = SandboxSurroundings(folders=(str(home / name),), home=str(home))
        sandbox = CommandSandbox(SandboxSettings(enabled=True), find_means(), around)
        said[name] = sandbox.judge("true", leave=False)
        edits[name] = MachineWalls((str(home / name),), str(home)).edits
        await sandbox.aclose()

    assert said == {".local/bin": Confinement.INSIDE, "project": Confinement.ENOUGH}
    assert edits == {".local/bin": False, "project": True}


def test_memory_files_between_two_working_folders_are_held_too(tmp_path):
    root = tmp_path.resolve()
    (root / "a" / "b").mkdir(parents=True)

    found = find_places(SandboxSettings(), folders=[str(root), str(root / "a" / "b")], temporary=str(root))

    assert {f"{root}{below}/AGENTS.md" for below in ("", "/a", "/a/b")} <= set(found.traps)
