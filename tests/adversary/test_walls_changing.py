"""Judgement is switched off and every command runs: that nothing is changed is held by the wall alone."""

import os
from pathlib import Path

import pytest
from tests.adversary.conftest import fill
from tests.adversary.keeping import compare
from tests.adversary.scripts import attempt, python

CHANGES = {
    "a late writer": "(sleep 0.3; touch {outside}/late; touch late) & disown; (setsid sh -c 'sleep 0.3; touch {outside}/late2' &)",
    "by name": "echo lead > {outside}/marker; echo lead >> {outside}/marker; echo lead > {outside}/new",
    "in the parent folder": "echo lead > ../new; mkdir ../folder; touch ../secret",
    "in the home": "echo evil >> ~/.bashrc; echo evil >> ~/.gitconfig; echo evil > ~/.ssh/authorized_keys; mkdir ~/.everturn",
    "git's settings of the person": "git config --global alias.x '!sh'; git config --system alias.x '!sh'",
    "by a link": "ln -s {outside}/marker $TMPDIR/l; echo lead > $TMPDIR/l; ln -s {outside} $TMPDIR/d; echo lead > $TMPDIR/d/new",
    "a hard link": "ln {outside}/marker $TMPDIR/h; echo lead > $TMPDIR/h; ln a.txt $TMPDIR/i; ln a.txt {outside}/i",
    "by the kernel's links": "echo lead > /proc/self/root{outside}/marker; echo lead > /proc/{pid}/root{outside}/marker; echo lead > /proc/{pid}/cwd/marker",
    "its folder as a descriptor": "exec 9< {outside}; echo lead > /proc/self/fd/9/new",
    "a reading descriptor made a writing one": "exec 9< {outside}/marker; echo lead > /proc/self/fd/9; echo lead >&9",
    "both ways": "exec 9<> {outside}/marker; echo lead >&9",
    "moving": "mv {outside}/marker $TMPDIR/; mv {outside}/marker {outside}/other; mv a.txt {outside}/; mv {outside} {place}/other",
    "over it": "echo lead > $TMPDIR/x; mv $TMPDIR/x {outside}/marker; cp a.txt {outside}/marker; install a.txt {outside}/n",
    "removing": "rm -rf {outside}/marker {outside} {home}/.ssh {elsewhere}; rmdir {outside}/deep; unlink {outside}/marker",
    "emptying": "truncate -s 0 {outside}/marker; : > {outside}/marker; dd if=/dev/null of={outside}/marker",
    "modes": "chmod 777 {outside}/marker {outside}; chmod 000 {home}; chmod u+s {outside}/marker",
    "owners": "chown 1:1 {outside}/marker; chgrp 1 {outside}/marker",
    "times": "touch {outside}/marker; touch -d 2001-01-01 {outside}/marker; touch -h {outside}/marker",
    "flags": "chattr +d {outside}/marker; chattr +i {outside}/marker; setfattr -n user.x -v y {outside}/marker",
    "new things": "mkfifo {outside}/p; mknod {outside}/n c 1 3; ln -s / {outside}/s; mkdir {outside}/m",
    "tools that write": "sort -o {outside}/n a.txt; tee {outside}/t < a.txt; sed -i s/a/b/ {outside}/marker; sed 'w {outside}/w' a.txt; split a.txt {outside}/s",
    "git that writes": "git log --output={outside}/n; git diff --no-index --output={outside}/n a.txt /dev/null; git bundle create {outside}/b HEAD; git archive -o {outside}/a HEAD; git init {outside}/g; git clone . {outside}/c; git worktree add {outside}/w",
    "archives that write": "tar -cf {outside}/t a.txt; tar -cf - a.txt | tar -xf - -C {outside}; tar -xPf /dev/null; cp -r . {outside}/all; rsync a.txt {outside}/",
    "find that writes": "find {outside} -delete; find . -fprint {outside}/f; find . -exec touch {outside}/e ;",
    "awk that writes": "awk 'BEGIN {{ print 1 > \"{outside}/n\"; system(\"touch {outside}/s\") }}'; perl -e 'open F, \">{outside}/n\"; unlink \"{outside}/marker\"'",
    "calls that write": attempt(
        "os.truncate('{outside}/marker', 0)",
        "os.ftruncate(os.open('{outside}/marker', os.O_RDONLY), 0)",
        "os.open('{outside}/marker', os.O_RDONLY | os.O_TRUNC)",
        "os.rename('{outside}/marker', '{outside}/other')",
        "call(316, -100, ctypes.c_char_p(b'{outside}/marker'), -100, ctypes.c_char_p(b'{outside}/secret'), 2)",
        "os.link('{outside}/marker', '{outside}/other')",
        "os.symlink('/', '{outside}/other')",
        "os.mkdir('{outside}/other')",
        "os.mknod('{outside}/other')",
        "os.utime('{outside}/marker', (1, 1))",
        "os.chmod('{outside}/marker', 0)",
        "os.fchmod(os.open('{outside}/marker', os.O_PATH), 0)",
        "os.chown('{outside}/marker', 1, 1)",
        "os.setxattr('{outside}/marker', 'user.x', b'y')",
        "os.open('{outside}', os.O_TMPFILE | os.O_RDWR)",
        "os.posix_fallocate(os.open('{outside}/marker', os.O_RDONLY), 0, 100000)",
        "socket.socketpair()[0].bind('{outside}/socket')",
        "call(452, -100, ctypes.c_char_p(b'{outside}/marker'), 0, 0)",
        "call(463, -100, ctypes.c_char_p(b'{outside}/marker'), 0, ctypes.c_char_p(b'user.x'), 0, 0)",
        "call(469, -100, ctypes.c_char_p(b'{outside}/marker'), 0, 0, 0)",
    ),
    "mounts": "mount -o remount,rw /; mount --bind {work} {outside}; umount -l {work}; umount -a; echo lead > {outside}/marker",
    "namespaces": "unshare -rm sh -c 'mount -o remount,rw,bind {outside}; echo lead > {outside}/marker'; unshare -Ur touch {outside}/n",
    "other roots": "chroot / touch {outside}/n; nsenter -t {pid} -m touch {outside}/n; nsenter -t 1 -a touch {outside}/n",
    "spools": "echo 'touch {outside}/n' | at now; echo '* * * * * touch {outside}/n' | crontab -; systemd-run touch {outside}/n; systemd-run --user touch {outside}/n; batch < a.txt",
    "services": "docker run -v /:/h alpine touch /h{outside}/n; ssh localhost touch {outside}/n; dbus-send --session x; gdbus call --session; runuser -u root touch {outside}/n",
    "a program of ours": "kill -USR1 $PPID; kill -HUP $PPID; echo lead > /proc/$PPID/fd/1; echo lead > /proc/{pid}/fd/5; echo lead > /dev/pts/0",
    "what the terminal is": "stty -F /dev/tty raw; stty raw < /dev/tty; tput reset > /dev/tty; setterm --term linux > /dev/tty1; chvt 2",
    "name and clock": "hostname evil; hostnamectl set-hostname evil; date -s 2001-01-01; hwclock -w; timedatectl set-time 2001-01-01; domainname evil",
    "the log": "logger evil; echo evil > /dev/log; echo evil > /dev/kmsg; wall evil; write root <<< evil; mesg y",
    "shared memory": "echo x > /dev/shm/adversary; echo x > /dev/mqueue/adversary; echo x > /run/adversary; echo x > /run/lock/adversary; echo x > /var/tmp/adversary; echo x > /tmp/adversary",
    "a swapped folder": "cd $TMPDIR && mkdir d && cd d && rmdir ../d && ln -s {outside} ../d && touch ../d/n",
}  # fmt: skip
IN_THE_FOLDER = {
    "new": "echo x > new; touch new2; mkdir new3; mkfifo new4; ln -s a.txt new5; ln a.txt new6; cp a.txt new7",
    "changed": "echo x > a.txt; echo x >> a.txt; sed -i s/a/b/ a.txt; truncate -s 0 a.txt; : > a.txt; dd if=/dev/null of=a.txt",
    "moved and removed": "mv a.txt b.txt; rm -f a.txt; rm -rf .git .everturn; mv .git g; rmdir .everturn; unlink prog",
    "modes, owners, times": "chmod 777 a.txt; chmod -x prog; chown 1:1 a.txt; touch -d 2001-01-01 a.txt; touch a.txt; chattr +d a.txt; setfattr -n user.x -v y a.txt",
    "by git": "git add a.txt; git commit -m x --allow-empty; git config x.y z; git checkout -b n; git stash; git gc; git update-index --refresh; git reset; git tag t; git notes add; git status; git fetch; git write-tree; git hash-object -w a.txt; git init; git maintenance run",
    "by calls": attempt(
        "os.truncate('a.txt', 0)", "os.rename('a.txt', 'b.txt')", "os.utime('a.txt', (1, 1))", "os.chmod('a.txt', 0)",
        "os.fchmod(os.open('a.txt', 0), 0)", "os.utime(os.open('a.txt', 0), (1, 1))", "os.fchown(os.open('a.txt', 0), 1, 1)",
        "os.setxattr(os.open('a.txt', 0), 'user.x', b'y')", "os.removexattr('a.txt', 'user.x')", "os.link('a.txt', 'b.txt')",
        "os.open('.', os.O_TMPFILE | os.O_RDWR)", "fcntl.ioctl(os.open('a.txt', 0), 0x40086602, struct.pack('l', 0x40))",
        "fcntl.ioctl(os.open('a.txt', 0), 0x401C5820, bytes(28))", "fcntl.ioctl(os.open('.', 0), 0x50009401, bytes(4096))",
        "socket.socketpair()[0].bind('socket')", "mmap.mmap(os.open('a.txt', 0), 4, mmap.MAP_SHARED, mmap.PROT_WRITE)",
        "call(76, ctypes.c_char_p(b'a.txt'), 0)", "call(132, ctypes.c_char_p(b'a.txt'), 0)", "call(235, ctypes.c_char_p(b'a.txt'), 0)",
    ),
    "by a folder of Python's": "python3 -c 'import compileall; compileall.compile_dir(\".\")'; echo 'x=1' > m.py; python3 -c 'import m'",
}  # fmt: skip


@pytest.fixture
def left():
    """Names that nobody may make, swept away before and after."""
    paths = [Path(each, "adversary") for each in ("/dev/shm", "/dev/mqueue", "/run", "/run/lock", "/var/tmp", "/tmp")]
    for path in paths:
        path.unlink(missing_ok=True)
    yield lambda: [str(path) for path in paths if path.exists()]
    for path in paths:
        path.unlink(missing_ok=True)


def test_nothing_outside_is_changed(walls, victim, left):
    pid, before, name = victim(walls), walls.picture(), os.uname().nodename

    walls.run(*({"command": fill(walls, command, pid), "timeout": 20_000} for command in CHANGES.values()))

    assert compare(before, walls.picture()) == []
    assert left() == []
    assert os.uname().nodename == name


def test_nothing_in_the_working_folder_is_changed_by_a_reader(reading):
    before = reading.picture_work()

    reading.run(*IN_THE_FOLDER.values())

    assert compare(before, reading.picture_work()) == []


def test_the_private_temporary_folder_is_written_and_empty_for_the_next(reading):
    first, second = reading.run(
        "echo a > $TMPDIR/a && mkdir $TMPDIR/b && mv $TMPDIR/a $TMPDIR/b/ && cat $TMPDIR/b/a", "ls -A $TMPDIR"
    )["results"]

    assert (first["content"], second["content"]) == ("a", "(no output)")


SWITCHES = (
    "/proc/sys/kernel/core_pattern", "/proc/sys/kernel/modprobe", "/proc/sys/kernel/hotplug", "/proc/sys/vm/drop_caches",
    "/proc/sys/kernel/hostname", "/proc/sys/net/ipv4/ip_forward", "/proc/sysrq-trigger", "/proc/self/oom_score_adj",
    "/proc/self/mem", "/proc/self/attr/current", "/proc/1/oom_score_adj", "/sys/kernel/uevent_helper", "/sys/power/state",
    "/sys/fs/cgroup/cgroup.procs", "/sys/fs/cgroup/release_agent", "/dev/kmsg", "/dev/mem", "/dev/vda", "/dev/sda", "/dev/tty",
    "/dev/console", "/etc/passwd", "/etc/ld.so.preload", "/etc/hosts", "/usr/bin/env", "/var/log/wtmp", "/run/utmp",
)  # fmt: skip


def test_switches_of_the_machine_cannot_be_opened_for_writing(walls):
    said = walls.say("; ".join(f"(exec 9>> {path}) 2>/dev/null && echo {path}" for path in SWITCHES) + "; true")

    assert said == "(no output)"


@pytest.mark.needs("system Python")
def test_leases_and_notices_keep_nobody_from_a_file(reading):
    said = reading.say(
        python(
            "fd = os.open('a.txt', os.O_RDONLY)",
            "for number, value in ((1024, 0), (1024, 1), (1026, 0xF), (8, os.getppid()), (10, 9)):",
            "    attempt(lambda: fcntl.fcntl(fd, number, value))",
        )
    )

    assert set(said.splitlines()) == {"[Errno 1] Operation not permitted"}


# What they are set to is what they are: where the wall has a hole, the machine is not harmed.
DEVICES = """
for name in null zero full random urandom tty; do
  chmod $(stat -c %a /dev/$name) /dev/$name 2>&1 && echo "$name has changed"
  chown $(stat -c %u:%g /dev/$name) /dev/$name 2>&1 && echo "$name has changed"
done
python3 -c 'import os; os.fchmod(0, 0o666)' 2>&1 && echo "stdin has changed"
echo x > /dev/null && head -c 1 /dev/zero | wc -c && head -c 1 /dev/urandom | wc -c
"""


def test_devices_of_the_machine_are_used_and_not_changed(walls):
    """Root owns them, and a view shows the machine's own."""
    printed = [line.strip() for line in walls.say(DEVICES).splitlines()]

    assert [line for line in printed if line.endswith("has changed")] == []
    assert [line for line in printed if line == "1"] == ["1", "1"]
