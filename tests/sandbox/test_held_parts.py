"""What a held command may open, start and know, as plain values."""

import asyncio
import fcntl
import os

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.permissions.rules_of import rules_of

from everturn.permissions.policy import RulePolicy
from everturn.ports.holding import Bounds
from everturn.sandbox.held.environment import clean_path, plan_environment
from everturn.sandbox.held.hidden import HiddenFiles
from everturn.sandbox.held.places import find_programs, is_below, list_around
from everturn.sandbox.held.room import HeldRoom
from everturn.sandbox.held.turns import FolderTurns
from everturn.sandbox.held.walls import MachineWalls


def hides_of(folder, *denied):
    return RulePolicy("default", str(folder), rules=rules_of(deny=denied)).find_hides()


def test_where_a_working_folder_holds_the_system_nothing_can_be_held():
    for folder in ("/", "/usr"):
        walls = MachineWalls((folder,), "/nonexistent")
        assert (walls.reads, walls.edits) == (False, False)
        assert "holds the system's own programs" in walls.why


def test_a_working_folder_below_the_systems_programs_is_left_out(tmp_path):
    inside = os.path.realpath("/usr/share")

    programs = find_programs((inside,), "/nonexistent", "")

    assert programs
    assert not any(is_below(inside, place) or is_below(place, inside) for place in programs)


def test_version_managers_of_the_home_count_only_where_the_path_leads_there(tmp_path):
    (tmp_path / ".pyenv" / "shims").mkdir(parents=True)
    (tmp_path / ".ssh").mkdir()
    home = str(tmp_path.resolve())

    assert f"{home}/.pyenv/shims" not in find_programs(("/nonexistent",), home, "/usr/bin")
    assert f"{home}/.pyenv/shims" in find_programs(("/nonexistent",), home, f"{home}/.pyenv/shims:/usr/bin")
    assert not any(is_below(place, f"{home}/.ssh") for place in find_programs(("/x",), home, f"{home}/.ssh:{home}"))


@pytest.mark.parametrize(
    ("entry", "shown", "kept"),
    [
        (
            ".nvm/versions/node/v20/bin",
            ".nvm/versions/node/v20/lib/node_modules/npm",
            ".nvm/versions/node/v20/etc/npmrc",
        ),
        ("miniconda3/bin", "miniconda3/lib/libz.so", "miniconda3/.condarc"),
        (".pyenv/shims", ".pyenv/versions/3.12.1/lib/python3.12/os.py", ".pyenv/versions/3.12.1/etc/pip.conf"),
        (".cargo/bin", ".rustup/toolchains/stable/lib/librustc.so", ".cargo/credentials.toml"),
        (".asdf/shims", ".asdf/installs/ruby/3.3/bin/ruby", ".asdf/installs/ruby/3.3/.gem/credentials"),
        ("go/bin", "go/bin/tool", "go/pkg/mod/x"),
    ],
)
def test_of_what_a_person_has_installed_programs_are_shown_and_no_settings(tmp_path, entry, shown, kept):
    home = str(tmp_path.resolve())
    for name in (f"{entry}/program", shown, kept):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("x")

    programs = find_programs(("/nonexistent",), home, f"{home}/{entry}:/usr/bin")

    assert any(is_below(f"{home}/{shown}", place) for place in programs)
    assert any(is_below(f"{home}/{entry}/program", place) for place in programs)
    assert not any(is_below(f"{home}/{kept}", place) for place in programs)


@pytest.mark.parametrize("entry", [".venv/bin", "tools", "."])
def test_a_folder_around_the_working_folder_is_not_opened_because_the_path_leads_there(tmp_path, entry):
    app = tmp_path.resolve()
    for name in (f"{entry}/program", "service/a", ".env", "tools/key.txt"):
        (app / name).parent.mkdir(parents=True, exist_ok=True)
        (app / name).write_text("x")
    (app / entry / "program").chmod(0o755)

    programs = find_programs((str(app / "service"),), "/nonexistent", f"{app}/{entry}", prefixes=(str(app.parent),))

    assert not any(is_below(f"{app}/{name}", place) for name in (".env", "tools/key.txt") for place in programs)
    assert any(is_below(str((app / entry / "program").resolve()), place) for place in programs)


@given(
    st.lists(
        st.sampled_from(["/project", "/project/bin", "", ".", "bin", "/usr/bin", "/project2", "/opt/../project/x"])
    )
)
def test_no_entry_of_the_path_is_relative_or_inside(entries):
    cleaned = clean_path(os.pathsep.join(entries), ("/project",)).split(os.pathsep)

    assert all(entry.startswith("/") and not is_below(os.path.normpath(entry), "/project") for entry in cleaned)


def test_the_environment_is_a_short_list():
    given = dict.fromkeys(("HOME", "LANG", "LC_TIME", "AWS_SECRET", "LD_PRELOAD", "BASH_ENV", "GIT_DIR", "PATH"), "x")

    planned = plan_environment(given, path="/usr/bin", temporary="/tmp/t")

    assert {"AWS_SECRET", "LD_PRELOAD", "BASH_ENV", "GIT_DIR"}.isdisjoint(planned)
    assert (planned["PATH"], planned["TMPDIR"], planned["HOME"], planned["LC_TIME"]) == ("/usr/bin", "/tmp/t", "x", "x")


def test_what_is_hidden_is_found_at_any_depth_and_left_out(tmp_path):
    root = tmp_path.resolve()
    for name in (".env", "a/b/.env", "a/c", "keys/one"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text("")

    hidden = HiddenFiles().find((str(root),), hides_of(root, "Read(.env)", "Read(/keys/)"))

    assert hidden == (f"{root}/.env", f"{root}/a/b/.env", f"{root}/keys")
    assert sorted(list_around(str(root), hidden)) == [f"{root}/a/c"]


def is_kept(folder):
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(descriptor)
    return False


def test_a_copy_of_the_program_gives_no_turn_away(tmp_path):
    folder, turns = str(tmp_path.resolve()), FolderTurns()
    asyncio.run(turns.take((folder,)))
    (told, tell), (waiting, going) = os.pipe(), os.pipe()
    child = os.fork()
    if not child:
        os.close(going)
        turns.leave()
        os.write(tell, b"1" if is_kept(folder) else b"0")
        os.read(waiting, 1)
        os._exit(0)
    said = os.read(told, 1)
    turns.leave()
    os.close(going)
    os.waitpid(child, 0)

    assert said == b"1"


def test_a_copy_that_was_made_meanwhile_does_not_keep_the_turn(tmp_path):
    folder, turns = str(tmp_path.resolve()), FolderTurns()
    asyncio.run(turns.take((folder,)))
    waiting, going = os.pipe()
    child = os.fork()
    if not child:
        os.close(going)
        os.read(waiting, 1)
        os._exit(0)
    turns.leave()
    is_still_kept = is_kept(folder)
    os.close(going)
    os.waitpid(child, 0)

    assert not is_still_kept


def test_files_that_are_only_held_open_take_room_too(tmp_path):
    room = HeldRoom(str(tmp_path.resolve()), Bounds(temporary=1_000_000))
    with (tmp_path / "gone").open("wb") as file:
        file.write(bytes(range(256)) * 8_000)
        file.flush()
        (tmp_path / "gone").unlink()

        assert "temporary files" in room.find_excess([os.getpid()])
    assert room.find_excess([os.getpid()]) == ""
