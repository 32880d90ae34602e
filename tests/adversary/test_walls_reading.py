"""Judgement is switched off and every command runs: that nothing outside is read is held by the wall alone."""

import pytest
from tests.adversary.conftest import fill
from tests.adversary.scripts import attempt, python

from everturn.sandbox.held.environment import OF_THE_SHELL, is_passed

FEW = 8
"""Processes that a short line has at once."""

READS = {
    "by name": "cat {secret}",
    "dots": "cat ../secret ../outside/secret",
    "the home": "cat ~/secret $HOME/.ssh/id_rsa ~/.netrc ~/.git-credentials",
    "elsewhere": "cat {elsewhere}/secret",
    "a redirection": "read -r line < {secret}; echo $line; echo $(< {secret})",
    "mapfile": "mapfile -t lines < {secret}; echo ${{lines[@]}}",
    "source": "source {secret}; . {secret}",
    "a history file": "HISTFILE={secret}; set -o history; history -r; history",
    "a link made in the temporary folder": "ln -s {secret} $TMPDIR/l; cat $TMPDIR/l",
    "a link to a folder": "ln -s {outside} $TMPDIR/d; cat $TMPDIR/d/secret; ls $TMPDIR/d/; grep -r . $TMPDIR/d/",
    "a hard link": "ln {secret} $TMPDIR/h; cat $TMPDIR/h; ln {secret} h; cat h; cp -l {secret} $TMPDIR/h2; cat $TMPDIR/h2",
    "moving it in": "mv {secret} $TMPDIR/m; mv {secret} .; cat $TMPDIR/m secret",
    "the process's root": "cat /proc/self/root{secret} /proc/thread-self/root{secret}",
    "the process's folder": "cat /proc/self/cwd/../secret",
    "the first process's root": "cat /proc/1/root{secret} /proc/1/cwd/{secret}",
    "the parent's root": "cat /proc/$PPID/root{secret} /proc/$PPID/cwd/{secret}",
    "another's root": "cat /proc/{pid}/root{secret} /proc/{pid}/cwd/secret",
    "another's descriptor": "cat /proc/{pid}/fd/5 /proc/{pid}/fd/*; ls -l /proc/{pid}/fd",
    "another's environment": "cat /proc/{pid}/environ; tr '\\0' '\\n' < /proc/{pid}/environ; ps eww {pid}; ps auxeww",
    "the parent's environment": "cat /proc/$PPID/environ; strings /proc/*/environ",
    "another's memory": "dd if=/proc/{pid}/mem bs=1 count=1 skip=140000000000; cat /proc/{pid}/maps",
    "dd": "dd if={secret} status=none",
    "tar": "tar -cf - {outside} | tar -xOf -",
    "cp": "cp -rL {outside} $TMPDIR/c; cat $TMPDIR/c/secret",
    "awk": "awk 1 {secret}; awk 'BEGIN {{ while ((getline l < \"{secret}\") > 0) print l }}'",
    "sed": "sed p {secret}; sed 'r {secret}' a.txt; sed -n 'R {secret}' a.txt; sed -f {secret} a.txt",
    "find": "find {outside} -name secret -exec cat {{}} ;; find .. -type f -print0 | xargs -0 cat",
    "git between folders": "git diff --no-index /dev/null {secret}; git diff --no-index a.txt ../secret",
    "git's settings": "git config -f {secret} -l; git -c include.path={secret} config -l; git config --file={secret} --list",
    "git's alternates": "GIT_ALTERNATE_OBJECT_DIRECTORIES={outside} git log; GIT_DIR={outside} git status",
    "git hashing": "git hash-object -w {secret}; git hash-object --stdin < {secret}; git cat-file --batch-check < {secret}",
    "git's blame and grep": "git blame -S {secret} a.txt; git grep --no-index -e . {outside}; git grep -f {secret}",
    "a list of words": "grep -f {secret} {secret}; rg -f {secret} .; wc --files0-from={secret}; sort --files0-from={secret}",
    "what errors quote": "bash {secret}; sh {secret}; date -f {secret}; jq -f {secret}; bc {secret}; strings @{secret}",
    "perl": "perl -e 'open F, shift; print <F>' {secret}; perl -pe1 {secret}",
    "Python": attempt("open('{secret}').read()", "open('{home}/.ssh/id_rsa').read()"),
    "Python by a folder": attempt("open(os.open('{outside}', os.O_PATH), 'r')", "os.open('secret', 0, dir_fd=os.open('{outside}', os.O_PATH))"),
    "opened only as a path, then again": python(
        "fd = os.open('{secret}', os.O_PATH)",
        "attempt(lambda: open(f'/proc/self/fd/{{fd}}').read())",
        "attempt(lambda: os.read(call(257, fd, ctypes.c_char_p(b''), 0x1000, 0), 100))",
    ),
    "openat2": python(
        "how = (ctypes.c_uint64 * 3)(0, 0, 0)",
        "attempt(lambda: os.read(call(437, -100, ctypes.c_char_p(b'{secret}'), ctypes.byref(how), 24), 100))",
    ),
    "by its handle": python(
        "buffer = ctypes.create_string_buffer(struct.pack('Ii', 128, 0) + bytes(128))",
        "mount = ctypes.c_int()",
        "print(call(303, -100, ctypes.c_char_p(b'{secret}'), buffer, ctypes.byref(mount), 0))",
        "fd = call(304, os.open('.', 0), buffer, 0)",
        "attempt(lambda: os.read(fd, 100))",
    ),
    "a ring": python("params = ctypes.create_string_buffer(256)", "print('ring', call(425, 8, params))"),
    "a mapping of the disk": "head -c 100000 /dev/vda | strings; cat /dev/mem /dev/kmem /dev/port /proc/kcore | head -c 1000",
    "swapped execution": "exec 3< {secret}; cat <&3",
    "a loader's trace": "LD_DEBUG=all LD_DEBUG_OUTPUT=$TMPDIR/x LD_PRELOAD={secret} LD_LIBRARY_PATH={outside} cat a.txt",
    "locale and time zone files": "TZ=:{secret} date; LOCPATH={outside} locale; LANGUAGE={outside} ls nothing; MAGIC={secret} file a.txt",
    "what programs are told to load": "LESSOPEN='|cat {secret}' less a.txt; PYTHONSTARTUP={secret} python3 -c 1; RIPGREP_CONFIG_PATH={secret} rg a; BASH_ENV={secret} bash -c 1; INPUTRC={secret} bash -c 'bind -f {secret}'",
    "a process of one's own traced": python(
        "print('trace', libc.ptrace(16, {pid}, 0, 0), libc.ptrace(0x4206, {pid}, 0, 0))",
        "local = ctypes.create_string_buffer(4096)",
        "print('read', call(310, {pid}, ctypes.byref((ctypes.c_void_p * 2)(ctypes.addressof(local), 4096)), 1, ctypes.byref((ctypes.c_void_p * 2)(0x400000, 4096)), 1, 0))",
    ),
    "another's descriptor taken": python(
        "fd = call(434, {pid}, 0)",
        "got = call(438, fd, 5, 0)",
        "attempt(lambda: os.pread(got, 100, 0))",
    ),
    "a debugger": "gdb -p {pid} -batch -ex 'info proc' -ex 'print (char*)environ'; strace -p {pid} -e none & sleep 0.2; kill $!",
    "shared memory and queues": python("print(call(29, 0x1234, 100, 0o1777), call(68, 0x1234, 0o1777), call(64, 0x1234, 1, 0o1777))"),
    "keys of the login": python("print('keys', call(250, 0, -3, 0), call(250, 11, -3, 0, 0))"),
    "what the kernel says": "dmesg; cat /dev/kmsg /proc/kmsg /proc/config.gz | head -c 300",
    "a mount": "mkdir $TMPDIR/m; mount --bind {outside} $TMPDIR/m; cat $TMPDIR/m/secret; unshare -rm sh -c 'mount --bind {outside} {work}; cat secret'",
    "another's namespaces": "nsenter -t {pid} -m cat {secret}; nsenter -t 1 -m -p cat {secret}; nsenter --target $PPID --all cat {secret}",
    "another root": "chroot / cat {secret}; chroot {outside} /secret; unshare --root=/ cat {secret}",
    "another user": "su -c 'cat {secret}'; sudo -n cat {secret}; newgrp <<< 'cat {secret}'; setpriv --reuid 0 cat {secret}; pkexec cat {secret}; runuser -u root cat {secret}",
    "another architecture": python("print(call(0x40000002, ctypes.c_char_p(b'{secret}'), 0, 0))"),
    "watching what others open": python(
        "watch = libc.inotify_init1(0o4000)",
        "print('watch', libc.inotify_add_watch(watch, b'{outside}', 0xFFF), call(300, 0, 0), call(300, 0x200, 0))",
    ),
    "core dumps": "ulimit -c unlimited; kill -SEGV $$; ls core*",
    "job notices": "cat {secret} & wait; (cat {secret}) ; $(cat {secret}); `cat {secret}`; cat <(cat {secret})",
    "a coprocess": "coproc cat {secret}; cat <&${{COPROC[0]}}",
    "loadables": "enable -f {secret} x; enable -f ./prog cat; cat {secret}",
    "terminals": "script -qc 'cat {secret}' /dev/null; timeout 1 cat /dev/tty /dev/vcs* /dev/pts/*",
    "mail and other people's files": "cat /etc/shadow /etc/gshadow /root/.bash_history /var/mail/* /var/spool/cron/* /etc/ssh/ssh_host*",
    "other sessions": "ls {temporary}; cat {temporary}/*/* /tmp/everturn-*/*; ls -la /tmp",
    "the working folder of the parent": "cd ..; ls; cat secret; cd {home}; cat secret",
    "the folder that was before": "cd {outside} && cd - && cat $OLDPWD/secret; cat ~-/secret ~+/../secret",
    "globs": "echo ../*; echo {home}/.*; for f in ../*; do cat $f; done; compgen -f {outside}/",
    "xargs": "echo {secret} | xargs cat; printf '{secret}\\0' | xargs -0 cat; xargs -a {secret} echo",
    "here and there": "cat <<< $(cat {secret}); diff {secret} /dev/null; cmp -l {secret} /dev/null; od -c {secret}; tac {secret}; paste {secret}",
    "archives": "gzip -c {secret} | gzip -dc; zcat -f {secret}; base64 {secret} | base64 -d; xxd {secret} | xxd -r",
    "network file systems": "ls /net /mnt /media /afs /run/user/*; cat /run/user/*/*",
    "files of programs that run": "cat /proc/*/cmdline /proc/*/fdinfo/* /proc/sys/kernel/random/boot_id; cat /proc/net/unix /proc/mounts",
}  # fmt: skip


def test_no_secret_is_read(walls, victim):
    pid = victim(walls)

    answer = walls.run(*({"command": fill(walls, command, pid), "timeout": 20_000} for command in READS.values()))

    told = dict(zip(READS, (result["content"] for result in answer["results"]), strict=True))
    assert {way: text[:300] for way, text in told.items() if walls.token in text} == {}
    assert answer["results"][0]["held"] == ("edits" if walls.kind == "edits" else "reads")


def test_what_is_inside_is_read(walls):
    """Else the others would prove nothing."""
    assert walls.say("cat a.txt | head -1; git status -s | wc -l; readlink -f .") == f"alpha\n3\n{walls.work}"


def test_nothing_of_the_environment_is_handed_on(walls):
    said = walls.say("env; echo $DATABASE_PASSWORD; cat /proc/self/environ | tr '\\0' '\\n'; declare -p")

    assert walls.token not in said


def test_names_of_other_processes_are_not_told(walls, victim):
    pid = victim(walls)

    said = walls.say(
        f"ps aux; ls /proc; cat /proc/{pid}/cmdline /proc/{pid}/status; ps -p {pid}; readlink /proc/{pid}/cwd"
    )

    assert "sleep 1000" not in said
    assert str(walls.outside) not in said


OWN_PROCESSES = r"""
for p in /proc/[0-9]*; do
    echo "process ${p#/proc/}"
    tr '\0' '\n' < $p/environ | sed -n 's/^\([A-Za-z_]*\)=.*/variable \1/p'
    for f in $p/fd/* $p/task/*/fd/*; do [ -e $f ] || [ -L $f ] && echo "open ${f##*/} $(readlink $f)"; done
    for f in $p/cwd $p/root; do echo "place $(readlink $f)"; done
    tr '\0' ' ' < $p/cmdline
    cat $p/maps | sed 's/.* //' | grep /
done
grep -c . /proc/net/unix /proc/net/tcp /proc/sysvipc/shm
"""


def test_the_view_of_processes_shows_the_commands_own_and_of_ours_nothing(viewing, victim):
    """Bubblewrap alone, without Landlock: what is there is the command's shell with its children, and bubblewrap's first process."""
    victim(viewing)

    said = viewing.say(OWN_PROCESSES)

    lines = said.splitlines()
    processes = {int(line.split()[1]) for line in lines if line.startswith("process ")}
    assert 1 in processes
    assert len(processes) <= FEW
    variables = {line.split()[1] for line in lines if line.startswith("variable ")}
    assert {"HOME", "TMPDIR"} <= variables
    assert {name for name in variables if not is_passed(name) and name not in OF_THE_SHELL} <= {
        "PATH",
        "TMPDIR",
        "GIT_CONFIG_GLOBAL",
    }
    targets = {line.split(maxsplit=2)[2] for line in lines if line.startswith("open ") and len(line.split()) > 2}
    assert {each for each in targets if not each.startswith(("pipe:[", "anon_inode:[eventfd]"))} <= {"/dev/null"}
    assert {line[6:] for line in lines if line.startswith("place ")} <= {"/", str(viewing.work), ""}
    for told in (viewing.token, str(viewing.outside), "sleep 1000", "worker.py", "site-packages"):
        assert told not in said
    # The first line of each is its head.
    assert {"/proc/net/unix:1", "/proc/net/tcp:1", "/proc/sysvipc/shm:1"} <= set(lines)


@pytest.mark.needs("ripgrep")
def test_a_search_is_led_nowhere_by_names_that_are_swapped_under_it(reading):
    (reading.work / "d").mkdir()
    (reading.work / "d" / "a.txt").write_text("plain\n")
    (reading.work / "l").symlink_to(reading.outside)
    reading.settle()
    search = {"pattern": "plain|secret", "output_mode": "content"}

    swapped, whole, file = reading.run(
        {"search": {**search, "path": "d"}, "swapped": ["d", "l"]},
        {"search": search, "swapped": ["d", "l"]},
        {"search": {**search, "path": "d/a.txt"}, "swapped": ["d", "l"]},
    )["results"]

    assert reading.token not in f"{swapped}{whole}{file}"
    assert whole["content"] == "l/a.txt:1:plain"
