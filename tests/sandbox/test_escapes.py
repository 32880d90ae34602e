"""Attempts to get out, by real commands, judged by what is outside afterwards."""

import ctypes
import os
import pty
import stat
import tty
from pathlib import Path

import pytest
from tests.sandbox.conftest import USERS


def python(*lines):
    text = "\n".join(lines)
    return f"python3 - <<'END'\n{text}\nEND"


CALL = (
    "import ctypes, os",
    "libc = ctypes.CDLL(None, use_errno=True)",
    "def call(*words):",
    "    answer = libc.syscall(*(ctypes.c_long(w) for w in words))",
    "    return 'done' if answer >= 0 else os.strerror(ctypes.get_errno())",
)

WRITES = {
    "by name": "echo lead > {outside}/treasure",
    "a new file": "echo lead > {outside}/new",
    "a link to a file": "ln -s {outside}/treasure link; echo lead > link",
    "a link to a folder": "ln -s {outside} folder; echo lead > folder/new; rm folder/treasure",
    "dots": "cd ..; echo lead > outside/treasure",
    "a hard link": "ln {outside}/treasure hard && echo lead > hard",
    "a hard link made by a link": "ln -s {outside}/treasure s; ln -L s hard && echo lead > hard",
    "the process's root": "echo lead > /proc/self/root{outside}/treasure",
    "the first process's root": "echo lead > /proc/1/root{outside}/treasure",
    "the parent's root": "echo lead > /proc/$PPID/root{outside}/treasure",
    "the parent's folder": "echo lead > /proc/$PPID/cwd/../outside/treasure",
    "another process's root": "echo lead > /proc/{pid}/root{outside}/treasure",
    "its folder as a descriptor": "cd {outside}; exec 9< .; echo lead > /proc/self/fd/9/new",
    "a reading descriptor made a writing one": "exec 9< {outside}/treasure; echo lead > /proc/self/fd/9",
    "moving it in": "mv {outside}/treasure .",
    "moving something over it": "echo lead > mine; mv mine {outside}/treasure",
    "removing it": "rm -rf {outside}/treasure {outside}",
    "emptying it": "truncate -s 0 {outside}/treasure",
    "emptying it by a call": python("import os", "os.truncate('{outside}/treasure', 0)"),
    "copying over it": "cp /etc/hostname {outside}/treasure",
    "a mount made writable": "mount -o remount,rw / ; mount -o remount,rw,bind {outside}; echo lead > {outside}/treasure",
    "a mount laid over": "mkdir m; mount --bind {outside} m; echo lead > m/treasure",
    "a mount taken off": "umount -l {workspace}; umount -l /; echo lead > {outside}/treasure",
    "new namespaces": "unshare -rm sh -c 'mount -o remount,rw,bind {outside}; echo lead > {outside}/treasure'",
    "a new root": "chroot / sh -c 'echo lead > {outside}/treasure'",
    "another's namespaces": "nsenter -t {pid} -m sh -c 'echo lead > {outside}/treasure'",
    "a device": "mknod disk b 8 0 && echo lead > disk; mknod null c 1 3",
    "the workspace's folder replaced": "cd /; mv {workspace} {workspace}2; ln -s {outside} {workspace}; "
    "echo lead > {workspace}/treasure",
    "a daemon": "(setsid sh -c 'echo lead > {outside}/treasure; touch gone' &); until [ -e gone ]; do :; done",
    "a socket's name": python("import socket", "s = socket.socketpair()[0]", "s.bind('{outside}/new')"),
}  # fmt: skip


@pytest.fixture
def victim(world):
    process = world.start_program("sleep", "1000")
    yield process
    process.kill()
    process.wait()


@pytest.mark.parametrize("way", WRITES)
def test_nothing_outside_is_written(world, victim, way):
    before = sorted(path.name for path in world.place.rglob("*") if world.workspace not in path.parents)
    names = {"outside": world.outside, "workspace": world.workspace, "pid": victim.pid}
    command = WRITES[way]
    for name, value in names.items():
        command = command.replace(f"{{{name}}}", str(value))

    world.run(command)

    assert world.treasure.read_text() == "gold"
    assert sorted(path.name for path in world.place.rglob("*") if world.workspace not in path.parents) == before


def test_the_workspace_and_the_temporary_folder_are_written(world):
    assert world.say("echo a > a && mkdir b && mv a b/ && ln -s b/a c && cat c && t=$(mktemp) && echo $t > d") == "a"

    kept = (world.workspace / "d").read_text()
    assert "everturn-sandbox-" in kept


def test_signals_do_not_reach_processes_outside(world, victim):
    world.run(f"kill -9 {victim.pid}", f"kill -STOP {victim.pid}; kill -9 -- -{victim.pid}")

    assert victim.poll() is None


@pytest.mark.parametrize("version", [None, 5, 3])
def test_neither_signals_nor_limits_reach_the_program_that_started_it_nor_its_threads(world, version):
    """Nor with an older Landlock, whose rules know nothing of signals."""
    older = {"landlock": version} if version is not None else {}
    said = world.say(
        python(
            *CALL,
            "import signal",
            "parent = os.getppid()",
            "while open(f'/proc/{parent}/comm').read().strip() in ('bash', 'sh') and os.path.exists(f'/proc/{parent}/stat'):",
            "    parent = int(open(f'/proc/{parent}/stat').read().rpartition(')')[2].split()[1])",
            "try: threads = [int(name) for name in os.listdir(f'/proc/{parent}/task')]",
            "except OSError: threads = []",
            "for thread in (parent, *threads):",
            "    for words in ((62, thread, 9), (200, thread, 9), (234, parent, thread, 9), (234, thread, thread, 9)):",
            "        if thread > 1: print(call(*words))",
            "    try:",
            "        descriptor = os.pidfd_open(thread)",
            "        signal.pidfd_send_signal(descriptor, 9)",
            "        print('done' if thread > 1 else 'refused')",
            "    except OSError as error: print('refused')",
            "limits = ctypes.create_string_buffer(16)",
            "print(call(302, parent, 7, ctypes.addressof(limits), 0) if parent > 1 else 'refused')",
            "if parent > 1: print(call(62, -os.getpgid(parent), 0))",
            f"if parent > 1 and {bool(older)}: print(call(62, -1, 0))",
        ),
        **older,
    )

    assert "done" not in said.split()
    # It still works, with all its descriptors.
    assert world.say('sleep 100 & kill $!; wait $!; timeout 9 bash -c "kill -0 $$" && echo on', **older).startswith(
        "on"
    )


def test_processes_outside_cannot_be_traced_or_read(world, victim):
    said = world.say(
        python(
            *CALL,
            f"print('attach', libc.ptrace(16, {victim.pid}, 0, 0))",
            f"print('seize', libc.ptrace(0x4206, {victim.pid}, 0, 0))",
            "def read(name):",
            "    try:",
            f"        open(f'/proc/{victim.pid}/{{name}}', 'rb').read(1)",
            "        return 'read'",
            "    except OSError:",
            "        return 'refused'",
            "print(read('environ'), read('mem'))",
        )
    )

    assert said == "attach -1\nseize -1\nrefused refused"


@pytest.fixture
def terminal(world):
    """The person's: what is typed there, and what is shown."""
    typed, shown = pty.openpty()
    os.chown(os.ttyname(shown), USERS[world.user], -1)
    os.set_blocking(typed, False)
    tty.setcbreak(shown)
    yield typed, os.ttyname(shown)
    os.close(typed)
    os.close(shown)


def test_a_terminal_of_the_person_is_neither_read_nor_written(world, terminal):
    typed, name = terminal
    os.write(typed, b"a secret\n")

    (said,) = world.run(
        f"timeout 2 head -n 1 {name}; echo 'Allow this? yes' > {name}; exec 9<> {name} && stty -F {name} raw"
    )

    assert "secret" not in said["content"]
    with pytest.raises(BlockingIOError):
        os.read(typed, 100)


def test_what_is_no_terminal_is_read_as_before(world):
    assert (
        world.say(
            "ls / > /dev/null && ls /dev > /dev/null && head -c 1 /dev/zero | wc -c && cat /etc/hostname > /dev/null"
        )
        == "1"
    )


def test_other_processes_are_neither_slowed_nor_limited_and_the_own_are(world, victim):
    before = os.getpriority(os.PRIO_PROCESS, victim.pid), os.sched_getaffinity(victim.pid)
    ours = os.getpriority(os.PRIO_PROCESS, 0)

    world.run(
        f"renice -n 19 -p {victim.pid}; chrt -i -p 0 {victim.pid}; taskset -pc 0 {victim.pid}; ionice -c 3 -p {victim.pid}; "
        f"prlimit --nofile=1 -p {victim.pid}",
        python("import os", f"os.setpriority(os.PRIO_USER, {USERS[world.user]}, 19)"),
        python("import os", f"os.setpriority(os.PRIO_PGRP, os.getpgid({victim.pid}), 19)"),
    )

    assert (os.getpriority(os.PRIO_PROCESS, victim.pid), os.sched_getaffinity(victim.pid)) == before
    assert os.sched_getscheduler(victim.pid) == os.SCHED_OTHER
    limits = Path(f"/proc/{victim.pid}/limits").read_text()
    assert int(next(line.split()[3] for line in limits.splitlines() if line.startswith("Max open files"))) > 1
    assert os.getpriority(os.PRIO_PROCESS, 0) == ours
    said = world.say("nice -n 5 nice; ionice -c 3 true; taskset -c 0 true; (ulimit -n 100; ulimit -n)")
    assert said == f"{min(19, ours + 5)}\n100"


def test_queues_and_memory_that_processes_share_by_number_are_out_of_reach(world):
    libc = ctypes.CDLL(None, use_errno=True)
    key = 0x4556_0000 | os.getpid() & 0xFFFF
    queue, memory = libc.msgget(key, 0o1666), libc.shmget(key, 4096, 0o1666)
    try:
        world.run(
            f"ipcrm -Q {key}; ipcrm -M {key}",
            python(*CALL, f"libc.msgctl({queue}, 0, 0)", f"libc.shmctl({memory}, 0, 0)"),
        )

        assert (libc.msgget(key, 0), libc.shmget(key, 0, 0)) == (queue, memory)
    finally:
        libc.msgctl(queue, 0, None)
        libc.shmctl(memory, 0, None)


def test_nobody_outside_hears_of_it(world, ears):
    tries = {
        "tcp": f"socket.create_connection(('127.0.0.1', {ears['tcp'].port}), 1)",
        "tcp6": f"socket.create_connection(('::1', {ears['tcp6'].port}), 1)",
        "udp": f"socket.socket(2, 2).sendto(b'x', ('127.0.0.1', {ears['udp'].port}))",
        "unix": f"socket.socket(1).connect('{world.outside}/ear.sock')",
        "abstract": f"socket.socket(1).connect('\\0everturn-{os.getpid()}')",
    }
    world.run(*(python("import socket", line) for line in tries.values()))

    assert {name: ear.heard() for name, ear in ears.items()} == dict.fromkeys(tries, False)


def test_calls_that_reach_around_the_filter_are_refused(world):
    if os.uname().machine != "x86_64":
        pytest.fail("write the numbers of this machine's calls into the test")
    said = world.say(
        python(
            *CALL,
            "buffer = ctypes.create_string_buffer(256)",
            "at = ctypes.addressof(buffer)",
            "print('io_uring', call(425, 8, at))",
            "print('keyctl', call(250, 0, -3, 0))",
            "print('bpf', call(321, 0, at, 128))",
            "print('userfaultfd', call(323, 0))",
            "print('open_by_handle_at', call(304, 0, at, 0))",
            "print('clone3', call(435, at, 88))",
            "print('unshare', call(272, 0x10000000))",
            "print('clone', call(56, 0x10000000 | 17, 0, 0, 0, 0))",
            "print('x32', call(0x40000000 | 39))",
            "print('vsock', call(41, 40, 1, 0))",
            "print('packet', call(41, 17, 3, 0))",
            "print('raw', call(41, 2, 3, 255))",
            "print('kexec', call(246, 0, 0, 0, 0))",
            "print('reboot', call(169, 0, 0, 0, 0))",
            "print('pair', call(53, 1, 1, 0, at))",
        )
    )

    refused = "Operation not permitted"
    missing = "Function not implemented"
    assert dict(line.split(" ", 1) for line in said.splitlines()) == {
        "io_uring": refused, "keyctl": refused, "bpf": refused, "userfaultfd": refused, "open_by_handle_at": refused,
        "clone3": missing, "unshare": refused, "clone": refused, "x32": missing, "vsock": refused, "packet": refused,
        "raw": refused, "kexec": refused, "reboot": refused, "pair": "done",
    }  # fmt: skip


def test_nothing_can_be_typed_into_a_terminal(world):
    said = world.say(
        python(
            "import fcntl, os, termios",
            "try:",
            "    outer, inner = os.openpty()",
            "    for request in (0x5412, 0x541C, 0x5412 | (1 << 32)):",
            "        try:",
            "            fcntl.ioctl(inner, request & 0xFFFFFFFF, b'x')",
            "            print('typed')",
            "        except OSError as error:",
            "            print(error.strerror)",
            "except OSError:",
            "    print('Operation not permitted\\n' * 3)",
        )
    )

    assert set(said.split("\n")) - {""} == {"Operation not permitted"}


def test_rights_cannot_be_regained(world):
    said = world.say("grep -E '^(NoNewPrivs|Seccomp|CapEff|CapBnd):' /proc/self/status | tr '\\t' ' '")

    state = dict(line.split(": ") for line in said.splitlines())
    assert (state["NoNewPrivs"], state["Seccomp"]) == ("1", "2")
    dangerous = sum(1 << number for number in (2, 8, 12, 13, 16, 17, 18, 19, 21, 22, 24, 25, 27, 38, 39, 40))
    assert int(state["CapEff"], 16) & dangerous == 0


def test_a_command_is_given_no_descriptor_but_its_own(world):
    said = world.say("ls /proc/self/fd")

    # 3 is the folder that ls itself reads.
    assert set(said.split()) <= {"0", "1", "2", "3"}


@pytest.mark.parametrize(
    "closing", ["chmod 000 .", "chmod 600 .", "cd ..; chmod 000 sub; cd sub", "rmdir ../sub; touch ../sub"]
)
def test_a_folder_that_was_closed_does_not_keep_later_commands_from_running(world, closing):
    *_, last = world.run(f"mkdir sub; cd sub; {closing}", "echo A", "echo B; pwd")

    assert last["content"].splitlines()[0] == "B"


def test_shared_memory_is_the_commands_own(viewed):
    name = f"everturn-test-{os.getpid()}"
    viewed.say(f"echo x > /dev/shm/{name}")

    assert not Path(f"/dev/shm/{name}").exists()


def test_a_mode_outside_is_not_changed(viewed):
    before = stat.S_IMODE(viewed.treasure.stat().st_mode)

    viewed.run(f"chmod 777 {viewed.treasure}; chown 1:1 {viewed.treasure}; touch {viewed.treasure}")

    assert stat.S_IMODE(viewed.treasure.stat().st_mode) == before


# What they are set to is what they are: where the wall has a hole, the machine is not harmed.
DEVICES = """
for name in null zero full random urandom tty; do
  chmod $(stat -c %a /dev/$name) /dev/$name 2>&1 && echo "$name has changed"
  chown $(stat -c %u:%g /dev/$name) /dev/$name 2>&1 && echo "$name has changed"
done
python3 -c 'import os; os.fchmod(0, 0o666)' 2>&1 && echo "stdin has changed"
echo x > /dev/null && head -c 1 /dev/zero | wc -c && head -c 1 /dev/urandom | wc -c
"""


def test_devices_of_the_machine_are_used_and_not_changed(viewed):
    printed = [line.strip() for line in viewed.say(DEVICES).splitlines()]

    assert [line for line in printed if line.endswith("has changed")] == []
    assert [line for line in printed if line == "1"] == ["1", "1"]


SWITCHES = (
    "/proc/sys/kernel/core_pattern",
    "/proc/sysrq-trigger",
    "/sys/kernel/uevent_helper",
    "/sys/fs/cgroup/release_agent",
    "/dev/kmsg",
    "/dev/mem",
    "/proc/1/oom_score_adj",
    "/etc/passwd",
)


def test_switches_of_the_machine_cannot_be_opened_for_writing(world):
    # The first process and the devices are the command's own where it has a view of its own.
    own = ("/dev/", "/proc/1/") if world.kind == "bubblewrap" else ()
    paths = [path for path in SWITCHES if Path(path).exists() and not path.startswith(own)]

    said = world.say("; ".join(f"(exec 9<> {path}) 2>/dev/null && echo {path}" for path in paths) + "; true")

    assert said == "(no output)"
