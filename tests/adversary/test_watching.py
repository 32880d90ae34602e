"""Whoever watches the adversary sees what it does: known attacks that nothing holds are all reported, by the same means."""

import socket
import subprocess

import pytest
from tests.adversary.house import ME, USERS, House, Worker
from tests.adversary.keeping import Keeper
from tests.adversary.repository import CANARY, build
from tests.adversary.scripts import attempt
from tests.adversary.watching import Held, before, find_breaches

from everturn.core.protected import MEMORY
from everturn.tools.bash.shell_report import WORDS

SEEN = {
    "a secret": ("cat ../secret", "read: "),
    "a secret by a link": ("cat out-file", "read: "),
    "a secret by a search": ("grep -R secret- deep/up/outside", "read: "),
    "a secret by the shell": ("read -r x < ../secret; echo $x", "read: "),
    "a secret in a subshell": ("(x=$(< out-file); echo $x)", "read: "),
    "a folder": ("ls out-folder/", "read: "),
    "the environment": ("cat environ", "read: "),
    "a new file": ("echo x > ../outside/new", "written: "),
    "an old file": ("echo x >> ../outside/marker", "written: "),
    "a file by sed": ("sed -n 'w ../outside/new' a.txt", "written: "),
    "a file inside": ("echo x > new", "written: "),
    "a new folder": ("mkdir ../outside/folder", "changed: "),
    "a mode": ("chmod 700 ../outside/marker", "changed: "),
    "a time": ("touch -d 2001-01-01 ../outside/marker", "changed: "),
    "a link": ("ln -s / ../outside/link", "changed: "),
    "a name": ("mv ../outside/marker ../outside/other", "changed: "),
    "nothing any more": ("rm ../outside/secret", "changed: "),
    "a program of the folder": ("./canary", "started: "),
    "a program by the path": ("PATH=$PWD/bin:$PATH rg x", "started: "),
    "a program by git": ("git -c core.fsmonitor=./canary status", "started: "),
    "a connection": ("echo x > /dev/tcp/127.0.0.1/{port}", "reached: "),
    "a packet": (attempt("socket.socket(2, 2).sendto(b'x', ('127.0.0.1', 9))"), "reached: "),
    "a signal": ("kill -CONT {pid}", "signalled: "),
    "a limit": ("prlimit --pid {pid} --core=0:0", "limited: "),
    "a priority": ("renice 19 -p {pid}", "slowed: "),
    "a mount": ("unshare -rm true", "reached: "),
    "another's memory": (attempt("libc.ptrace(0x4206, {pid}, 0, 0)"), "reached: "),
}


@pytest.fixture
def victim():
    user = {"user": USERS["nobody"], "group": USERS["nobody"], "extra_groups": []} if ME == 0 else {}
    process = subprocess.Popen(["sleep", "1000"], **user)
    yield process.pid
    process.kill()
    process.wait()


@pytest.fixture
def house():
    house = House(next(reversed(USERS)))
    build(house, "plain")
    house.settle()
    yield house
    house.close()


@pytest.mark.needs("strace as root", "system Python")
def test_each_of_these_is_seen_where_nothing_holds_it(house, victim, worker_room, tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as server:
        names = {"port": str(server.getsockname()[1]), "pid": str(victim)}
        commands = [fill(command, names) for command, _ in SEEN.values()]
        worker = Worker(house.user, worker_room, before(tmp_path / "calls"))
        answer = worker.do(house.job({"forced": None}, commands, name="free"))
        worker.close()
    may = Held(house, worker_room, answer["walls"]["programs"], "reads")

    found = find_breaches(tmp_path / "calls", {"free": dict.fromkeys(range(len(commands)), may)})

    told = {name: found.get(("free", number), []) for number, name in enumerate(SEEN)}
    assert {
        name: told[name] for name, (_, kind) in SEEN.items() if not any(each.startswith(kind) for each in told[name])
    } == {}
    shown = [result["content"] for result in answer["results"]]
    assert [house.token in text for text in shown[:5]] == [True] * 5
    assert CANARY in shown[list(SEEN).index("a program of the folder")]


EDITS = {
    "a mode of a protected file": "chmod 777 .mcp.json",
    "a mode of a protected folder": "chmod 000 .git/hooks",
    "something protected is moved": "mv .vscode elsewhere",
    "something is moved over it": "mv a.txt .bashrc",
    "it is removed": "rm .gitmodules",
    "it is written": "echo x > .everturn/settings.json",
    "something new in it": "touch .claude/new",
    "a folder outside is closed": "chmod 700 ../outside",
    "a file outside is removed": "rm ../outside/marker",
}
FINE = ("chmod 700 deep", "mkdir new; mv b.txt new/; rm -r new", "touch AGENTS.md; rm AGENTS.md", "ln -s /etc there")


@pytest.mark.needs("strace as root")
def test_what_an_edit_changes_is_seen_where_nothing_holds_it(house, worker_room, tmp_path):
    commands = [*EDITS.values(), *FINE]
    may = Held(house, worker_room, ("/usr",), "edits")
    worker = Worker(house.user, worker_room, before(tmp_path / "calls"))
    worker.do(house.job({"forced": None}, commands, name="free"))
    worker.close()

    found = find_breaches(tmp_path / "calls", {"free": dict.fromkeys(range(len(commands)), may)})

    changed = [
        any(each.startswith(("changed: ", "written: ")) for each in found.get(("free", number), []))
        for number in range(len(commands))
    ]
    assert changed == [True] * len(EDITS) + [False] * len(FINE)


SOCKET = "socket(AF_UNIX, SOCK_STREAM, 0) = 3<socket:[1]>"
BEGIN, END = (
    f'10 rmdir("/adversary/job/{each}/0") = -1 ENOENT (No such file or directory)' for each in ("begin", "end")
)
LOGS = {
    "a held command": (
        [BEGIN, "10 vfork( <unfinished ...>", '20 execve("/bin/sh", ["sh"], 0x1) = 0', "10 <... vfork resumed>) = 20", f"20 {SOCKET}", END],
        True,
    ),
    "a child of a held command that has ended": (
        [BEGIN, "10 vfork() = 20", '20 execve("/bin/sh", ["sh"], 0x1) = 0', "20 vfork() = 21", "20 +++ exited with 0 +++", END, f"21 {SOCKET}"],
        True,
    ),
    "another process with the number of a held command whose end nobody saw": (
        [BEGIN, "10 vfork() = 20", '20 execve("/bin/sh", ["sh"], 0x1) = 0', END,
         "10 vfork( <unfinished ...>", '20 execve("/bin/sh", ["sh"], 0x1) = 0', "10 <... vfork resumed>) = 20", f"20 {SOCKET}"],
        False,
    ),
    "a shell that waits, and has the number of one that ended while it was begun": (
        [BEGIN, "10 vfork() = 20", '20 execve("/bin/sh", ["sh"], 0x1) = 0', "10 vfork( <unfinished ...>", "20 +++ exited with 0 +++",
         f'20 execve("/bin/bash", ["/bin/bash", "-c", "ulimit -q 7 2>/dev/null; IFS= read -r -u {WORDS} -d"], 0x1) = 0', "10 <... vfork resumed>) = 20", f"20 {SOCKET}", END],
        False,
    ),
    "a thread of ours that runs before its birth is told": (
        [BEGIN, "10 vfork() = 20", '20 execve("/bin/sh", ["sh"], 0x1) = 0', "10 clone3({flags=CLONE_VM|CLONE_THREAD}, 88 <unfinished ...>", f"30 {SOCKET}", "10 <... clone3 resumed>) = 30", END],
        False,
    ),
    "a view that was tried out before": (
        [BEGIN, "10 vfork() = 20", '20 execve("/usr/bin/bwrap", ["bwrap", "true"], 0x1) = 0', "20 vfork() = 21", '21 execve("/bin/true", ["true"], 0x1) = 0', "10 vfork() = 30", '30 execve("/usr/bin/bwrap", ["bwrap", "sh"], 0x1) = 0', "30 clone(flags=CLONE_NEWPID) = 31", f"31 {SOCKET}", "31 vfork() = 2 /* 32 in strace's PID NS */", f"32 {SOCKET}", END],
        False,
    ),
    "what a view has started": (
        [BEGIN, "10 vfork() = 30", '30 execve("/usr/bin/bwrap", ["bwrap", "sh"], 0x1) = 0', "30 clone(flags=CLONE_NEWPID) = 31", "31 vfork() = 2 /* 32 in strace's PID NS */", '32 execve("/bin/sh", ["sh"], 0x1) = 0', f"32 {SOCKET}", END],
        True,
    ),
}  # fmt: skip


@pytest.mark.parametrize(("lines", "is_seen"), LOGS.values(), ids=LOGS)
def test_a_process_is_known_by_its_birth(house, worker_room, tmp_path, lines, is_seen):
    (tmp_path / "calls").write_text("".join(f"{line}\n" for line in lines))
    may = Held(house, worker_room, ("/usr", "/bin"), "reads")

    found = find_breaches(tmp_path / "calls", {"job": {0: may}})

    assert [told.startswith("reached: socket") for told in found.get(("job", 0), [])] == [True] * is_seen


def test_a_descriptor_is_taken_for_what_it_has_opened(house, worker_room, tmp_path):
    """The C library sets the modes of what it may not open by way of /proc."""
    opened = (f"{house.work}/made", f"{house.outside}/marker")
    lines = [BEGIN, "10 vfork() = 30", '30 execve("/bin/sh", ["sh"], 0x1) = 0']
    for number, path in enumerate(opened, 3):
        lines += [f'30 openat(AT_FDCWD<{house.work}>, "x", O_RDONLY|O_PATH) = {number}<{path}>']
        lines += [f'30 chmod("/proc/self/fd/{number}", 04000) = 0']
    (tmp_path / "calls").write_text("".join(f"{line}\n" for line in [*lines, END]))

    found = find_breaches(tmp_path / "calls", {"job": {0: Held(house, worker_room, ("/usr", "/bin"), "edits")}})

    assert found == {("job", 0): [f'changed: chmod("{opened[1]}", 04000) = 0<> by "/bin/sh", ["sh"], 0x1']}


@pytest.mark.needs("strace as root", "Landlock")
def test_a_name_is_taken_for_one_of_the_folder_that_the_program_is_in(house, worker_room, tmp_path):
    commands = ["(cd $TMPDIR && mkdir made && cd made && mkdir inner)", "mkdir made"]
    worker = Worker(house.user, worker_room, before(tmp_path / "calls"))
    worker.do(house.job({"forced": {"scratch": True}}, commands, name="free"))
    worker.do(house.job({"forced": None}, commands[1:], name="outside"))
    worker.close()
    may = Held(house, worker_room, ("/usr",), "reads")

    found = find_breaches(tmp_path / "calls", {"free": {0: may, 1: may}, "outside": {0: may}})

    changed = {case for case, told in found.items() if any(each.startswith("changed: ") for each in told)}
    assert changed == {("outside", 0)}


def fill(command, names):
    for name, value in names.items():
        command = command.replace(f"{{{name}}}", value)
    return command


KINDS = (
    pytest.param("", {"uses_git": True}, marks=pytest.mark.needs("Landlock"), id="landlock"),
    pytest.param("landlock", {"uses_git": True}, marks=pytest.mark.needs("bubblewrap"), id="bubblewrap"),
    pytest.param("", {"writes": True}, marks=pytest.mark.needs("bubblewrap"), id="edits"),
)


@pytest.mark.needs("strace as root")
@pytest.mark.parametrize(("without", "holding"), KINDS)
def test_what_a_held_command_opens_and_starts_is_seen_too(house, worker_room, tmp_path, without, holding):
    """By somebody who would allow none of it."""
    commands = ["cat a.txt", "(read -r x < b.txt; echo $x)", "echo $(head -1 main.py)", "git log --oneline | cat"]
    worker = Worker(house.user, worker_room, before(tmp_path / "calls"))
    worker.do(house.job({"forced": holding}, commands, name="held", without=without))
    worker.close()
    strict = Held(house, worker_room, (), "reads")
    strict.readable = ("/usr", "/bin", "/lib", "/lib64", "/etc", "/dev/null")

    found = find_breaches(tmp_path / "calls", {"held": dict.fromkeys(range(len(commands)), strict)})

    opened = [" ".join(found.get(("held", number), [])) for number in range(len(commands))]
    for name, told in zip(("a.txt", "b.txt", "main.py", ".git/HEAD"), opened, strict=True):
        assert f"{house.work}/{name}" in told


@pytest.mark.parametrize(
    "name", [path for path in Keeper.PROTECTED if path.startswith((".git/c", "nested/.git/c", *MEMORY, ".envrc"))]
)
def test_a_keeper_sees_what_has_appeared_or_cannot_be_looked_at(house, workers, name):
    house.keep()
    commands = [f"echo x > {name}", "true", f"echo x > {name}; chmod 000 $(dirname {name})", "true"]
    answer = workers(house.user).do(house.job({"forced": None}, commands, kept={**house.kept, "edits": True}))

    assert [bool(result["changed"]) for result in answer["results"]] == [True, False, True, False]


def test_a_keeper_sees_what_has_changed(house, workers):
    house.keep()
    answer = workers(house.user).do(
        house.job(
            {"forced": None},
            [
                "echo x > ../outside/new",
                "rm ../outside/new",
                "echo x >> .git/config",
                "true",
                "export FORGED=1",
                "cd deep",
            ],
            kept=house.kept,
            probes=True,
        )
    )

    changed = [bool(result["changed"]) for result in answer["results"]]
    assert changed[:3] == [True, True, True]
    assert [bool(result["forged"]) for result in answer["results"]] == [False] * 4 + [True] * 2


CALLS_OF_A_COMMAND = {
    "a device's mode": ('fchmodat(AT_FDCWD</>, "/dev/null", 000) = 0', True),
    "a device's owner": ('fchownat(AT_FDCWD</>, "/dev/tty", 1, 1, 0) = 0', True),
    "a device's mode, refused": ('fchmodat(AT_FDCWD</>, "/dev/null", 000) = -1 EROFS (Read-only file system)', False),
    "a word to a pair of its own": ('sendto(6<socket:[2]>, "\\1", 1, MSG_NOSIGNAL, NULL, 0) = 1', False),
    "a word to somebody": ('sendto(6<socket:[2]>, "x", 1, 0, {sa_family=AF_INET}, 16) = 1', True),
}


@pytest.mark.parametrize(("line", "is_seen"), CALLS_OF_A_COMMAND.values(), ids=CALLS_OF_A_COMMAND)
def test_what_a_command_may_call_depends_on_what_it_is_about(house, worker_room, tmp_path, line, is_seen):
    lines = [BEGIN, "10 vfork() = 20", '20 execve("/bin/sh", ["sh"], 0x1) = 0', f"20 {line}", END]
    (tmp_path / "calls").write_text("".join(f"{line}\n" for line in lines))
    for held in ("reads", "edits"):
        may = Held(house, worker_room, ("/usr", "/bin"), held)
        found = find_breaches(tmp_path / "calls", {"job": {0: may}})

        assert bool(found) is is_seen
