"""Judgement is switched off and every command runs: what is started, reached and disturbed is held by the wall alone."""

import os
import select
import signal
import socket
from contextlib import suppress
from pathlib import Path

import pytest
from tests.adversary.conftest import fill
from tests.adversary.house import USERS
from tests.adversary.scripts import attempt, python
from tests.tools.processes import list_processes

MOMENT_S = 2.0
RIGHTS = {"edits": "27", "bubblewrap": "2", "landlock": "194"}

SHELL = "#!/bin/sh\necho ran$((40 + 2))\n"
"""Printed only by one that runs: its text has other letters."""
STARTS = {
    "by name": "./canary; ./deep/canary; {work}/canary",
    "by the path": "PATH=$PWD:$PATH canary; PATH=:$PATH canary; PATH=.:$PATH canary; PATH=$PWD/deep:$PATH; canary",
    "by exec": "(exec ./canary); (exec -a ls ./canary); env ./canary; nice ./canary; timeout 5 ./canary; setsid ./canary",
    "by a link": "ln -s {work}/canary $TMPDIR/c; $TMPDIR/c; PATH=$TMPDIR:$PATH c",
    "copied to the temporary folder": "cp canary $TMPDIR/c; chmod +x $TMPDIR/c; $TMPDIR/c; install -m 755 canary $TMPDIR/d; $TMPDIR/d",
    "by find and xargs": "find . -name canary -exec {{}} ;; echo ./canary | xargs env; find . -name canary -execdir ./canary ;",
    "by git": "git -c core.fsmonitor=./canary status; git -c core.pager=./canary log; GIT_EXTERNAL_DIFF=./canary git diff; git -c alias.x='!./canary' x; git -c core.hooksPath=. status; GIT_SSH_COMMAND=./canary git ls-remote ssh://x/y; git -c core.sshCommand=./canary fetch ssh://x/y; git -c diff.external=./canary diff --ext-diff",
    "by git's folder of programs": "git --exec-path=$PWD canary; GIT_EXEC_PATH=$PWD git canary; PATH=$PWD:$PATH git canary",
    "by other programs": "rg --pre ./canary a; sort --compress-program=./canary a.txt; tar --use-compress-program=./canary -cf - a.txt; awk 'BEGIN {{ system(\"./canary\") }}'; sed '1e ./canary' a.txt; man -P ./canary ls; less '+!./canary' a.txt; xargs -a a.txt ./canary",
    "by variables": "PAGER=./canary man ls; EDITOR=./canary git commit; BASH_ENV=./canary.sh bash -c :; ENV=./canary.sh sh -i < /dev/null; PROMPT_COMMAND=./canary bash -i < /dev/null; PERL5OPT=-Mcanary perl -e 1; LESSOPEN='|./canary' less a.txt",
    "by a file that has no name": python(
        "code = open('canary', 'rb').read()",
        "fd = call(319, ctypes.c_char_p(b'x'), 0)",
        "attempt(lambda: os.write(fd, code))",
        "attempt(lambda: os.execve(fd, ['x'], {}) if fd >= 0 else 'none')",
    ),
    "by an unnamed file of the temporary folder": python(
        "fd = os.open(os.environ['TMPDIR'], os.O_TMPFILE | os.O_RDWR, 0o755)",
        "os.write(fd, open('canary', 'rb').read())",
        "reading = os.open(f'/proc/self/fd/{{fd}}', os.O_RDONLY) if os.path.exists('/proc/self/fd') else fd",
        "attempt(lambda: os.execve(reading, ['x'], {}))",
    ),
    "by a descriptor": python("fd = os.open('canary', os.O_RDONLY)", "attempt(lambda: os.execve(fd, ['x'], {}))"),
    "by an interpreter's line": "printf '#!{work}/canary\\n' > $TMPDIR/s; chmod +x $TMPDIR/s; $TMPDIR/s; ./crlf",
    "by the kernel's helpers": "echo '|{work}/canary' > /proc/sys/kernel/core_pattern; echo {work}/canary > /proc/sys/kernel/modprobe; echo ':x:E::txt::{work}/canary:' > /proc/sys/fs/binfmt_misc/register",
}  # fmt: skip


def place_canaries(walls):
    (walls.work / "deep").mkdir()
    for path in ("canary", "deep/canary", "git-canary", "canary.sh"):
        (walls.work / path).write_text(SHELL)
        (walls.work / path).chmod(0o755)
    (walls.work / "crlf").write_text("#!./canary\n")
    (walls.work / "crlf").chmod(0o755)
    walls.settle()


def test_nothing_from_the_working_folder_is_started(ruled):
    place_canaries(ruled)

    answer = ruled.run(*({"command": fill(ruled, each, 1), "timeout": 20_000} for each in STARTS.values()))

    told = dict(zip(STARTS, (result["content"] for result in answer["results"]), strict=True))
    # What an interpreter of the system reads is no program of the folder: it stays behind the wall, as any command does.
    assert {way for way, text in told.items() if "ran42" in text} <= {"by variables"}


def test_a_canary_that_runs_is_seen(editing):
    """Else the test above would prove nothing: edits may start what the folder holds, and stay in it."""
    place_canaries(editing)

    assert editing.say("./canary; cat canary | wc -l") == "ran42\n2"


INSIDE = {
    "the loader": "/lib64/ld-linux-x86-64.so.2 ./cat ../secret",
    "a library": "LD_PRELOAD=./cat cat ../secret; LD_LIBRARY_PATH=. cat ../secret",
    "a script of the shell": "sh ./reads.sh; bash ./reads.sh; . ./reads.sh",
    "a script of Python": "python3 ./reads.py; python3 -m reads; PYTHONPATH=. python3 -c 'import reads'; PYTHONSTARTUP=reads.py python3 -i < /dev/null",
    "a script of Perl": "perl -e 'exec \"cat\", \"../secret\"'; perl -MPOSIX -e 'system \"cat ../secret\"'",
    "a script of awk": "awk -f reads.awk; awk 'BEGIN {{ while ((\"cat ../secret\" | getline l) > 0) print l }}'",
    "a makefile": "make -f reads.mk; make -f - <<< 'all: ; cat ../secret'",
    "a script of git": "git -c alias.x='!cat ../secret' x; git bisect run cat ../secret; git submodule foreach cat ../secret",
}  # fmt: skip


def test_what_interpreters_and_the_loader_run_stays_behind_the_wall(walls):
    """They only read the folder's files, and no wall keeps them from doing what these say: but it holds them, too."""
    (walls.work / "cat").write_bytes(Path("/bin/cat").read_bytes())
    (walls.work / "reads.sh").write_text("cat ../secret ~/secret; touch ../outside/n\n")
    (walls.work / "reads.py").write_text("import os\nos.system('cat ../secret')\nopen('../outside/n', 'w')\n")
    (walls.work / "reads.awk").write_text(
        'BEGIN { while ((getline l < "../secret") > 0) print l; print 1 > "../outside/n" }\n'
    )
    (walls.work / "reads.mk").write_text("all:\n\tcat ../secret; touch ../outside/n\n")
    walls.settle()

    answer = walls.run(*({"command": each, "timeout": 20_000} for each in INSIDE.values()))

    assert [result["content"] for result in answer["results"] if walls.token in result["content"]] == []
    assert not (walls.outside / "n").exists()


class Ear:
    def __init__(self, family, kind, address):
        self.socket = socket.socket(family, kind)
        self.socket.bind(address)
        self.is_stream = kind == socket.SOCK_STREAM
        if self.is_stream:
            self.socket.listen()
        self.socket.setblocking(False)
        self.port = self.socket.getsockname()[1] if family in {socket.AF_INET, socket.AF_INET6} else 0

    def heard(self):
        try:
            self.socket.accept() if self.is_stream else self.socket.recv(1)
        except BlockingIOError:
            return False
        return True


@pytest.fixture
def ears(walls):
    made = {
        "tcp": Ear(socket.AF_INET, socket.SOCK_STREAM, ("127.0.0.1", 0)),
        "tcp6": Ear(socket.AF_INET6, socket.SOCK_STREAM, ("::1", 0)),
        "udp": Ear(socket.AF_INET, socket.SOCK_DGRAM, ("127.0.0.1", 0)),
        "local": Ear(socket.AF_UNIX, socket.SOCK_STREAM, str(walls.outside / "stream")),
        "local datagrams": Ear(socket.AF_UNIX, socket.SOCK_DGRAM, str(walls.outside / "datagrams")),
        # As some programs do it: in the folder itself.
        "local inside": Ear(socket.AF_UNIX, socket.SOCK_STREAM, str(walls.work / "stream")),
        "local datagrams inside": Ear(socket.AF_UNIX, socket.SOCK_DGRAM, str(walls.work / "datagrams")),
        "abstract": Ear(socket.AF_UNIX, socket.SOCK_STREAM, f"\0adversary-{os.getpid()}"),
        "abstract datagrams": Ear(socket.AF_UNIX, socket.SOCK_DGRAM, f"\0adversary-d-{os.getpid()}"),
    }
    for path in (walls.outside, walls.work):
        for name in ("stream", "datagrams"):
            (path / name).chmod(0o777)
    yield made
    for ear in made.values():
        ear.socket.close()


def test_nobody_hears_of_it(walls, ears):
    tcp, tcp6, udp = (ears[name].port for name in ("tcp", "tcp6", "udp"))
    local = [f"'{path / name}'" for path in (walls.outside, walls.work) for name in ("stream", "datagrams")]
    local += [f"'\\0adversary-{os.getpid()}'", f"'\\0adversary-d-{os.getpid()}'"]
    walls.run(
        f"echo x > /dev/tcp/127.0.0.1/{tcp}; echo x > /dev/udp/127.0.0.1/{udp}; exec 3<>/dev/tcp/localhost/{tcp}",
        f"curl -sm 2 http://127.0.0.1:{tcp}/; wget -qT 2 -t 1 -O- http://127.0.0.1:{tcp}/; curl -s telnet://127.0.0.1:{tcp}",
        f"ssh -o ConnectTimeout=2 -p {tcp} 127.0.0.1; git ls-remote git://127.0.0.1:{tcp}/x; git ls-remote http://127.0.0.1:{tcp}/x",
        f"getent hosts example.invalid; host example.invalid 127.0.0.1; perl -MIO::Socket -e 'IO::Socket::INET->new(\"127.0.0.1:{tcp}\")'",
        python("import socket", *(f"attempt(lambda: socket.create_connection(('{host}', {port}), 1))" for host, port in (("127.0.0.1", tcp), ("::1", tcp6)))),
        attempt(f"socket.socket(2, 2).sendto(b'x', ('127.0.0.1', {udp}))", "socket.socket(2, 3, 1)", "socket.socket(16, 3, 0)", "socket.socket(17, 3, 0)", "socket.socket(40, 1, 0)", "socket.socket(38, 5, 0)"),
        *(
            python(
                "for kind in (1, 2, 3, 5):",
                f"    attempt(lambda: socket.socket(1, kind).connect({name}))",
                f"    attempt(lambda: socket.socketpair(1, kind)[0].sendto(b'x', {name}))",
                f"    attempt(lambda: socket.socketpair(1, kind)[0].connect({name}))",
            )
            for name in local
        ),
        "echo x | nc -U {}; socat - UNIX:{}; python3 -c 'import asyncio'".replace("{}", str(walls.outside / "stream")),
    )  # fmt: skip

    assert {name for name, ear in ears.items() if ear.heard()} == set()


def test_no_other_process_is_disturbed(walls, victim):
    pid = victim(walls)
    mine = walls.worker.process.pid
    before = {each: read_state(each) for each in (pid, mine)}

    walls.run(
        *(
            f"kill -9 {each}; kill -STOP {each}; kill -9 -- -{each}; renice 19 -p {each}; renice 19 -g {each}; ionice -c 3 -p {each};"
            f" prlimit --pid {each} --nofile=1:1 --cpu=1; taskset -p 1 {each}; chrt -b -p 0 {each}"
            for each in (pid, mine)
        ),
        "kill -9 -1; kill -STOP -1",
        "renice 19 -u $(id -u); renice 19 -u nobody",
        # The thread that starts held commands is one of ours: a signal to it is one to all of us.
        f"for each in $(seq {mine} $(({mine} + 400))); do [ $each = $$ ] || kill -9 $each; done 2> /dev/null",
        python(
            f"for each in ({pid}, {mine}):",
            "    fd = call(434, each, 0)",
            "    print(call(424, fd, 9, 0, 0), call(234, each, each, 9), call(200, each, 9), call(129, each, 9, 0), call(297, each, each, 9, 0))",
            "    print(call(302, each, 7, ctypes.byref((ctypes.c_uint64 * 2)(3, 3)), 0), call(141, 0, each, 19), call(141, 1, each, 19))",
            "    print(call(144, each, 0, 0), call(203, each, 8, 0), call(251, 1, each, 3 << 13), call(440, fd, 0, 0, 21, 0), call(448, fd, 0))",
            "print(call(141, 2, 0, 19), call(141, 2, os.getuid(), 19))",
            f"for tid in range({mine}, {mine} + 200):",
            "    if tid != os.getpid(): call(62, tid, 9), call(200, tid, 9), call(234, tid, tid, 9), call(234, "
            f"{mine}, tid, 9), call(424, call(434, tid, 0o200), 9, 0, 4)",
            "read, write = os.pipe()",
            f"for each in ({pid}, {mine}):",
            "    attempt(lambda: fcntl.fcntl(read, 8, each)); attempt(lambda: fcntl.fcntl(read, 10, 9))",
            "    attempt(lambda: fcntl.ioctl(read, 0x8901, struct.pack('i', each)))",
            "    attempt(lambda: fcntl.fcntl(1, 8, each)); attempt(lambda: fcntl.fcntl(240, 8, each))",
            "attempt(lambda: fcntl.fcntl(read, 4, os.O_ASYNC)); os.write(write, b'x')",
        ),
    )  # fmt: skip

    assert {each: read_state(each) for each in (pid, mine)} == before
    assert walls.say("echo still here") == "still here"


def read_state(pid):
    """What another process could have done to it."""
    with open(f"/proc/{pid}/stat", encoding="utf-8") as file:  # noqa: PTH123 - the kernel's
        fields = file.read().rpartition(")")[2].split()
    with open(f"/proc/{pid}/limits", encoding="utf-8") as file:  # noqa: PTH123 - the kernel's
        limits = file.read()
    return (fields[0] not in "TtZX", fields[16], os.sched_getaffinity(pid), os.sched_getscheduler(pid), limits)


REFUSED = {
    "a ring": "call(425, 8, ctypes.create_string_buffer(256))",
    "keys": "call(250, 0, -3, 0)",
    "programs of the kernel": "call(321, 0, ctypes.create_string_buffer(128), 128)",
    "faults of memory": "call(323, 0)",
    "a file by its handle": "call(304, 0, ctypes.create_string_buffer(64), 0)",
    "other namespaces": "call(272, 0x10000000)",
    "a child in others": "call(56, 0x10000000 | 17, 0, 0, 0, 0)",
    "a child by the newer call": "call(435, ctypes.create_string_buffer(88), 88)",
    "the other set of calls": "call(0x40000000 | 39)",
    "a mount": "call(165, ctypes.c_char_p(b'x'), ctypes.c_char_p(b'.'), ctypes.c_char_p(b'tmpfs'), 0, 0)",
    "a root": "call(161, ctypes.c_char_p(b'/'))",
    "counters of performance": "call(298, ctypes.create_string_buffer(128), 0, -1, -1, 0)",
    "another kernel": "call(246, 0, 0, 0, 0)",
    "a module": "call(313, 0, ctypes.c_char_p(b''), 0)",
    "the end of the machine": "call(169, 0, 0, 0, 0)",
    "the clock": "call(227, 0, ctypes.create_string_buffer(16))",
}


@pytest.mark.needs("system Python")
def test_calls_that_reach_around_the_wall_are_refused(walls):
    if os.uname().machine != "x86_64":
        pytest.fail("write the numbers of this machine's calls into the test")
    said = walls.say(attempt(*REFUSED.values()))

    assert dict(zip(REFUSED, map(int, said.splitlines()), strict=True)) == {
        name: -38 if name in {"a child by the newer call", "the other set of calls"} else -1 for name in REFUSED
    }


NAME = "ctypes.c_char_p(b'\\1\\0\\0adversary'), 12"
"""Of a local socket, without a file."""
REFUSED_TO_HELD = {
    "a name": f"call(49, pair[0], {NAME})",
    "a name that the kernel chooses": "call(49, pair[0], ctypes.c_char_p(b'\\1\\0'), 2)",
    "listening": "call(50, pair[0], 1)",
    "connecting": f"call(42, pair[0], {NAME})",
    "accepting": "call(43, pair[0], 0, 0)",
    "accepting by the newer call": "call(288, pair[0], 0, 0, 0)",
    "more room for what nobody reads": "call(54, pair[0], 1, 7, ctypes.byref(ctypes.c_int(1 << 20)), 4)",
    "sending descriptors": "call(46, pair[0], ctypes.create_string_buffer(56), 0)",
    "sending many": "call(307, pair[0], ctypes.create_string_buffer(64), 1, 0)",
    "shared memory": "call(29, 0x1234, 100, 0o1777)",
    "a semaphore": "call(64, 0x1234, 1, 0o1777)",
    "a queue": "call(68, 0x1234, 0o1777)",
    "a file without a name": "call(319, ctypes.c_char_p(b'x'), 0)",
    "memory that is shared and has no name": "call(9, 0, 4096, 3, 0x21, -1, 0)",
    "the same, checked": "call(9, 0, 4096, 3, 0x23, -1, 0)",
    "not to be looked into": "call(157, 4, 0, 0, 0, 0)",
    "a thread with descriptors of its own": "call(56, 0x10900, 0, 0, 0, 0)",
}


@pytest.mark.needs("system Python")
def test_calls_that_lead_to_others_or_cannot_be_counted_are_refused(walls):
    said = walls.say(
        python(
            "pair = (ctypes.c_int * 2)()",
            "print(call(53, 1, 1, 0, pair))",
            *(f"attempt(lambda: {line})" for line in REFUSED_TO_HELD.values()),
        )
    )

    made, *refused = map(int, said.splitlines())
    assert made == 0
    assert dict(zip(REFUSED_TO_HELD, refused, strict=True)) == dict.fromkeys(REFUSED_TO_HELD, -1)


REFUSED_TO_READERS = {
    "a queue by name": "call(240, ctypes.c_char_p(b'adversary'), 0o102, 0o777, 0)",
    "a watch on files": "call(254, libc.inotify_init1(0), ctypes.c_char_p(b'.'), 0xFFF)",
    "a watch on a file system": "call(300, 0, 0)",
    "a trace": "call(101, 0, 0, 0, 0)",
    "a length by name": "call(76, ctypes.c_char_p(b'a.txt'), 1)",
    "a mode": "call(90, ctypes.c_char_p(b'a.txt'), 0o777)",
    "a mode by a descriptor": "call(91, os.open('a.txt', 0), 0o777)",
    "an owner": "call(92, ctypes.c_char_p(b'a.txt'), 1, 1)",
    "a time": "call(280, -100, ctypes.c_char_p(b'a.txt'), 0, 0)",
    "an attribute": "call(188, ctypes.c_char_p(b'a.txt'), ctypes.c_char_p(b'user.x'), ctypes.c_char_p(b'y'), 1, 0)",
    "the kernel's log": "call(103, 3, ctypes.create_string_buffer(64), 64)",
    "a pair for datagrams": "call(53, 1, 2, 0, ctypes.create_string_buffer(8))",
    "a user's priority": "call(141, 2, 0, 19)",
}


@pytest.mark.needs("system Python")
def test_calls_that_change_what_others_have_are_refused_to_readers(reading):
    said = reading.say(attempt(*REFUSED_TO_READERS.values()))

    assert dict(zip(REFUSED_TO_READERS, map(int, said.splitlines()), strict=True)) == dict.fromkeys(
        REFUSED_TO_READERS, -1
    )


@pytest.mark.needs("system Python")
def test_no_socket_of_any_kind_is_made(walls):
    said = walls.say(
        python(
            "made = [(family, kind) for family in range(48) for kind in (1, 2, 3, 4, 5, 10) if call(41, family, kind, 0) >= 0]",
            "print(made)",
        )
    )

    assert said == "[]"


@pytest.mark.needs("system Python")
def test_nothing_can_be_typed_into_a_terminal(walls):
    said = walls.say(
        python(
            "def type_into():",
            "    outer, inner = os.openpty()",
            "    return [fcntl.ioctl(inner, request, b'x') for request in (0x5412, 0x541C)]",
            "attempt(type_into)",
            "attempt(lambda: fcntl.ioctl(os.open('/dev/tty', os.O_RDWR), 0x5412, b'x'))",
        )
    )

    assert all(line.startswith("[Errno") or "out of pty devices" in line for line in said.splitlines()), said


@pytest.mark.needs("system Python")
def test_rights_cannot_be_regained(walls):
    said = walls.say(
        python(
            "print(call(157, 39, 0, 0, 0, 0))",
            "print(call(157, 21, 0, 0, 0, 0))",
            "head = ctypes.create_string_buffer(struct.pack('=Ii', 0x20080522, 0))",
            "data = (ctypes.c_uint32 * 6)()",
            "call(125, head, data)",
            "print(*(rights & ~ALLOWED for rights in data))".replace("ALLOWED", RIGHTS[walls.kind]),
        )
    )

    # No new privileges, a filter, and of root's rights only those to files of others, and to become somebody with fewer.
    assert said == "1\n2\n0 0 0 0 0 0"


def test_no_program_gains_rights_by_starting(walls):
    said = walls.say("su -c id < /dev/null; sudo -n id; newgrp root < /dev/null; mount -a; ping -c 1 127.0.0.1; id -u")

    assert said.splitlines()[-1] == str(USERS[walls.user])
    assert "uid=0" not in said or USERS[walls.user] == 0


@pytest.mark.needs("system Python")
def test_a_command_is_given_no_descriptor_but_its_own(walls):
    said = walls.say(
        python(
            "def is_open(number):",
            "    try:",
            "        return bool(fcntl.fcntl(number, 1)) or True",
            "    except OSError:",
            "        return False",
            "print([number for number in range(512) if is_open(number)])",
        )
    )

    assert set(eval(said)) <= {0, 1, 2}  # noqa: S307 - a list of numbers


def test_nothing_outlives_a_held_command(walls):
    """Not even what has left its group, its session, its parent and its environment."""
    mark = f"{os.getpid()}{len(walls.token)}77"
    walls.run(
        f"env -i setsid sh -c '(sleep {mark} < /dev/null > /dev/null 2>&1 &)'",
        f"(env -i sleep {mark} &) > /dev/null 2>&1; nohup sleep {mark} > /dev/null 2>&1 & disown",
        f"set -m; sleep {mark} > /dev/null 2>&1 & set +m; EVERTURN_MARK= setsid sleep {mark} > /dev/null 2>&1 &",
        "true",
    )

    alive = [each for each in find_processes(f"sleep\0{mark}\0") if not is_dying(each)]
    for each in alive:
        os.kill(each, signal.SIGKILL)
    assert alive == []


def is_dying(pid):
    """It was killed, and the kernel needs a moment more."""
    with suppress(ProcessLookupError):
        descriptor = os.pidfd_open(pid)
        try:
            return bool(select.select([descriptor], [], [], MOMENT_S)[0])
        finally:
            os.close(descriptor)
    return True


def find_processes(words):
    for pid in list_processes():
        with suppress(OSError):
            if words in Path(f"/proc/{pid}/cmdline").read_text("utf-8", "replace"):
                yield pid
