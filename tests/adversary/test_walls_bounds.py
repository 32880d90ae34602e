"""Judgement is switched off and every command runs: what it takes of the machine, and what it reports, is bounded all the same."""

import resource

import pytest
from tests.adversary.scripts import python

from everturn.compose.holder import SessionHolder
from everturn.ports.holding import Bounds
from everturn.sandbox.held.holder import Premises

MIB = 1024**2
GIB = 1024**3


def test_the_bounds_of_a_session_are_these():
    """The tests below set some of them lower."""
    assert Bounds() == Bounds(
        memory=4 * GIB,
        memory_together=4 * GIB,
        processor_s=600,
        processes=256,
        threads=2_048,
        open_files=512,
        file=256 * MIB,
        temporary=GIB,
        temporary_files=10_000,
        view=256 * MIB,
        shared=64 * MIB,
        printed=256 * MIB,
    )
    assert Premises(folders=tuple, home="/").bounds == Bounds()
    assert SessionHolder(None, {}, None, outputs=None, shell=None, tell=print).bounds == Bounds()


def test_no_file_grows_beyond_its_bound(reading):
    said = reading.say("head -c 300M /dev/zero > $TMPDIR/a; stat -c %s $TMPDIR/a")

    assert [int(line) for line in said.splitlines() if line.isdecimal()][-1] <= 256 * MIB


@pytest.mark.needs("system Python")
def test_the_temporary_folder_has_bounds(reading):
    """Also what is written to files without a name. By `fallocate` a disk would be full before anybody looks."""
    named, unnamed, many, at_once = reading.run(
        "for i in $(seq 8); do head -c 4M /dev/zero > $TMPDIR/$i || exit; done; sleep 20; echo BRIMFUL",
        python(
            "for number in range(8):",
            "    fd = os.open(os.environ['TMPDIR'], os.O_TMPFILE | os.O_RDWR)",
            "    for _ in range(4): os.write(fd, bytes(1 << 20))",
            "time.sleep(20)",
            "print('BRIMFUL')",
        ),
        "for i in $(seq 300); do : > $TMPDIR/$i; done; sleep 20; echo BRIMFUL"
        if reading.kind == "landlock"
        else "true",
        python(
            "for number in range(12):",
            "    fd = os.open(f\"{os.environ['TMPDIR']}/{number}\", os.O_CREAT | os.O_RDWR)",
            "    print(call(285, fd, 0, 0, 4 << 20))",
        ),
        bounds={"temporary": 16 * MIB, "view": 16 * MIB, "file": 8 * MIB, "temporary_files": 100},
    )["results"]

    assert "BRIMFUL" not in named["content"] + unnamed["content"] + many["content"]
    assert set(at_once["content"].splitlines()) <= {"-95", "-28"}


HIDING = {
    "below a path that is too long": (
        "for _ in range(25):",
        "    os.mkdir('d' * 200)",
        "    os.chdir('d' * 200)",
        "for number in range(8): fill(number)",
        "time.sleep(30)",
    ),
    "in a folder that only lets in": (
        "os.mkdir('closed', 0o300)",
        "os.chdir('closed')",
        "for number in range(8): fill(number)",
        "time.sleep(30)",
    ),
    "removed, and open": (
        "for number in range(8): fill(number), os.unlink(str(number))",
        "time.sleep(30)",
    ),
    "removed, open, and below a path that is too long": (
        "for _ in range(25):",
        "    os.mkdir('d' * 200)",
        "    os.chdir('d' * 200)",
        "for number in range(8): fill(number), os.unlink(str(number))",
        "for _ in range(25):",
        "    os.chdir('..')",
        "    os.rmdir('d' * 200)",
        "time.sleep(30)",
    ),
    "removed, and mapped": (
        "maps = []",
        "for number in range(8):",
        "    fd = fill(number)",
        "    maps.append(mmap.mmap(fd, 4096))",
        "    os.close(fd), os.unlink(str(number))",
        "for fd in range(3, 200):",
        "    attempt(lambda: os.close(fd))",
        "time.sleep(30)",
    ),
    "removed, and open in a process whose first thread has ended": (
        "import threading",
        "for number in range(8): fill(number), os.unlink(str(number))",
        "threading.Thread(target=time.sleep, args=(30,)).start()",
        "call(60, 0)",
    ),
}


@pytest.mark.needs("system Python")
@pytest.mark.parametrize("way", HIDING)
def test_temporary_files_are_counted_wherever_they_are(reading, way):
    (result,) = reading.run(
        {
            "command": python(
                "def fill(number):",
                "    fd = os.open(str(number), os.O_CREAT | os.O_RDWR)",
                "    for _ in range(4): os.write(fd, bytes(1 << 20))",
                "    return fd",
                "os.chdir(os.environ['TMPDIR'])",
                *HIDING[way],
            ),
            "timeout": 15_000,
        },
        bounds={"temporary": 16 * MIB, "view": 16 * MIB, "file": 8 * MIB},
    )["results"]

    said = "No space left" if reading.kind == "bubblewrap" else "was ended"
    assert said in result["content"], result["content"][-500:]
    assert "did not end within" not in result["content"]


def test_files_of_a_view_have_a_number_too(viewing):
    (result,) = viewing.run(
        {"command": "for i in $(seq 300); do : > $TMPDIR/$i; done; sleep 20; echo BRIMFUL", "timeout": 15_000},
        bounds={"temporary_files": 100},
    )["results"]

    assert "made more than 100 temporary files" in result["content"]


TAKING = {
    "shared by the device of zeros": (
        "fd = os.open('/dev/zero', os.O_RDWR)",
        "block = mmap.mmap(fd, 64 << 20)",
        "block[::4096] = bytes(len(block) // 4096)",
        "block.madvise(mmap.MADV_DONTNEED)",
        "time.sleep(30)",
    ),
    "by a process whose first thread has ended": (
        "import threading",
        "block = bytearray(300 << 20)",
        "block[::4096] = bytes(len(block) // 4096)",
        "threading.Thread(target=time.sleep, args=(30,)).start()",
        "call(60, 0)",
    ),
    "in sockets that nobody reads": (
        "for _ in range(3):",
        "    if not os.fork():",
        "        pairs = [socket.socketpair() for _ in range(250)]",
        "        time.sleep(30)",
        "        os._exit(0)",
        "time.sleep(30)",
    ),
}


@pytest.mark.needs("system Python")
@pytest.mark.parametrize("way", TAKING)
def test_memory_is_counted_however_it_is_taken(walls, way):
    (result,) = walls.run(
        {"command": python(*TAKING[way]), "timeout": 15_000},
        bounds={"memory": 512 * MIB, "memory_together": 256 * MIB},
    )["results"]

    # By rules the device cannot be opened so.
    assert "was ended" in result["content"] or "Permission denied: '/dev/zero'" in result["content"], result["content"]
    assert "did not end within" not in result["content"]


def test_endless_output_ends(walls):
    (result,) = walls.run({"command": "yes", "timeout": 60_000}, bounds={"printed": 8 * MIB})["results"]

    assert "printed more than it may" in result["content"]


def test_a_command_that_does_not_end_is_ended(walls):
    (result,) = walls.run({"command": "trap '' TERM INT HUP; while :; do sleep 0.05; done", "timeout": 1_000})[
        "results"
    ]

    assert "did not end within 1 s" in result["content"]


def test_many_processes_are_too_many(walls):
    """Not a bomb: this machine may have other work."""
    (result,) = walls.run({"command": "for i in $(seq 400); do sleep 60 & done; wait", "timeout": 30_000})["results"]

    assert "more than 256 processes" in result["content"]
    assert walls.say("echo still here") == "still here"


@pytest.mark.needs("system Python")
def test_many_threads_are_too_many(walls):
    """In one process, whose first thread may have ended: fewer than a machine with other work would feel."""
    threads = (
        "import threading, time",
        "[threading.Thread(target=time.sleep, args=(60,)).start() for _ in range(300)]",
        "print('started', flush=True)",
    )
    for end in ((), ("libc.pthread_exit(0)",)):
        (result,) = walls.run({"command": python(*threads, *end), "timeout": 30_000}, bounds={"threads": 200})[
            "results"
        ]

        assert "had more than 200 threads in all its processes (the limit command_threads)" in result["content"]
    assert walls.say("echo still here") == "still here"


@pytest.mark.needs("system Python")
def test_much_memory_is_too_much(walls):
    """What is only reserved counts, too: nobody need touch it."""
    # Without a promise that there is so much: a small machine would not give it.
    private = "mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | 0x4000"
    said = walls.say(
        python(
            f"blocks = [mmap.mmap(-1, 1 << 28, flags={private}) for _ in range(15)]",
            "print('much')",
            f"blocks = [mmap.mmap(-1, 1 << 28, flags={private}) for _ in range(16)]",
            "print('too much')",
        )
    )

    assert "much" in said.splitlines()
    assert "too much" not in said


@pytest.mark.needs("system Python")
def test_much_memory_in_many_processes_is_too_much(reading):
    """Each stays below its own bound."""
    (result,) = reading.run(
        {
            "command": python(
                "for _ in range(5):",
                "    if not os.fork():",
                "        block = bytearray(60 << 20)",
                "        block[::4096] = bytes(len(block) // 4096)",
                "        time.sleep(30)",
                "        os._exit(0)",
                "time.sleep(30)",
                "print('BRIMFUL')",
            ),
            "timeout": 20_000,
        },
        bounds={"memory": 256 * MIB, "memory_together": 256 * MIB},
    )["results"]

    assert "256 MiB of memory" in result["content"]


@pytest.mark.needs("system Python")
def test_folders_of_any_depth_are_no_trouble_for_who_tidies_up(reading):
    dug, after = reading.run(
        python(
            "os.chdir(os.environ['TMPDIR'])",
            "for _ in range(1100):",
            "    os.mkdir('d')",
            "    os.chdir('d')",
            "print('dug')",
        ),
        "ls -A $TMPDIR",
    )["results"]

    assert (dug["content"], after["content"]) == ("dug", "(no output)")


def test_limits_cannot_be_raised(walls):
    said = walls.say(
        "ulimit -f unlimited; ulimit -c unlimited; ulimit -t unlimited; ulimit -n 100000; ulimit -f -c -t -n"
    )

    limits = [int(line.split()[-1]) for line in said.splitlines() if "(" in line and line.split()[-1].isdecimal()]
    assert len(limits) == len("fctn"), said
    assert limits == [262_144, 0, 512, 600] or sorted(limits) == [0, 512, 600, 262_144]


FORGED = {
    "nothing": "exec 240>&-",
    "junk": "echo junk >&240",
    "NULs": "printf '\\0\\0\\0\\0\\0\\0' >&240",
    "a folder outside": "printf '{outside}\\n\\0{outside}\\0\\0' >&240; trap - EXIT",
    "a folder outside by a link": "cd $TMPDIR; ln -s {outside} l; cd l; true",
    "exports": "printf '{work}\\n\\0\\0declare -x BASH_ENV=\"{work}/evil.sh\"\\n\\0' >&240; trap - EXIT",
    "exports before the report": "printf 'declare -x PATH=\"{work}/bin\"\\n' >&240",
    "a real export": "export BASH_ENV={work}/evil.sh PATH={work}:$PATH LD_PRELOAD={work}/x.so GIT_DIR={outside} FOO=1",
    "endless": "trap - EXIT; yes x | head -c 50000000 >&240",
    "endless without an end": "trap - EXIT; yes >&240",
    "many NULs": "trap - EXIT; head -c 3000000 /dev/zero >&240",
    "a folder that is gone": "cd $TMPDIR; mkdir g; cd g; rmdir ../g",
    "a name with a newline": "mkdir -p $'{work}/a\\nb' && cd $'{work}/a\\nb'",
    "bytes that are no text": "printf '\\377\\376\\0\\377\\0\\0' >&240; trap - EXIT",
    "another trap": "trap 'cd {outside}; export FOO=2' EXIT",
    "another program": "exec sleep 0",
    "a child that reports later": "trap - EXIT; (sleep 0.2; printf '{outside}\\n\\0\\0\\0' >&240) & disown",
    "functions for others": "cd() {{ :; }}; echo() {{ :; }}; pwd() {{ builtin echo {outside}; }}; printf() {{ :; }}; export -f cd echo pwd",
    "aliases": "shopt -s expand_aliases; alias echo=false pwd=false",
    "other shells' options": "set -e; set -u; set -f; set -n; shopt -s extdebug; umask 777; ulimit -f 0",
    "read-only names": "readonly PWD OLDPWD; declare -r __command; set -o posix",
}  # fmt: skip


def test_no_report_changes_what_later_commands_find(walls):
    (walls.work / "evil.sh").write_text("echo EVIL\n")
    walls.settle()
    names = {"work": str(walls.work), "outside": str(walls.outside)}

    answer = walls.run(*({"command": each.format(**names), "timeout": 3_000} for each in FORGED.values()), probes=True)

    told = {way: result.get("forged", "?") for way, result in zip(FORGED, answer["results"], strict=True)}
    assert {way: text for way, text in told.items() if text} == {}


def test_what_is_reported_takes_no_memory_of_ours(reading):
    """The worker would grow by what is read."""
    before = read_memory(reading.worker.process.pid)

    reading.run({"command": "trap - EXIT; head -c 600000000 /dev/zero >&240", "timeout": 30_000})

    assert read_memory(reading.worker.process.pid) - before < 64 * MIB


def read_memory(pid):
    with open(f"/proc/{pid}/statm", encoding="ascii") as file:  # noqa: PTH123 - the kernel's
        return int(file.read().split()[1]) * resource.getpagesize()


def test_a_held_command_in_the_background_is_held_as_well(walls):
    answer = walls.run(
        {"command": "cat ../secret; touch ../outside/n; sleep 0.2; echo over", "run_in_background": True}, finishes=True
    )

    assert "over" in " ".join(answer["reports"])
    assert walls.token not in str(answer)
    assert not (walls.outside / "n").exists()
