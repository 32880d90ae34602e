"""What commands did, told by their system calls: each that opened, started, sent, signalled or changed something it may not."""

import os
import re
from collections import defaultdict
from pathlib import Path
from typing import NamedTuple

from everturn.sandbox.held.places import DEVICES, SYSTEM
from everturn.tools.bash.shell_report import WORDS

CALLS = (
    "execve,execveat,open,openat,openat2,creat,open_by_handle_at,mkdir,mkdirat,rmdir,rename,renameat,renameat2,unlink,unlinkat,link,linkat,"
    "symlink,symlinkat,truncate,mknod,mknodat,chmod,fchmod,fchmodat,?fchmodat2,chown,fchown,lchown,fchownat,utimensat,setxattr,lsetxattr,fsetxattr,"
    "socket,connect,bind,sendto,sendmsg,sendmmsg,kill,tkill,tgkill,pidfd_send_signal,ptrace,process_vm_readv,process_vm_writev,prlimit64,"
    "setpriority,mount,unshare,setns,io_uring_setup,bpf,clone,clone3,fork,vfork,chdir,fchdir"
)
WRITES = re.compile(r"O_WRONLY|O_RDWR|O_CREAT|O_TRUNC|O_APPEND|O_TMPFILE")
_LINE = re.compile(r"(\d+) +(.*)", re.DOTALL)
_CALL = re.compile(r"(\w+)\((.*)\) += (-?\d+|\?|0x[0-9a-f]+)(?:<((?:[^>\\]|\\.)*)>)?(?: .*)?$", re.DOTALL)
_UNFINISHED = " <unfinished ...>"
_RESUMED = re.compile(r"<\.\.\. (\w+) resumed>(.*)", re.DOTALL)
_MARK = re.compile(r'"/adversary/(\w+)/(begin|end)/(\d+)"')
_CHILD = re.compile(r"(?:(\w+)\(|<\.\.\. (\w+) resumed>).* = (\d+)(?: /\* (\d+) in strace's PID NS \*/)?$", re.DOTALL)
_HERE = re.compile(r"AT_FDCWD<((?:[^>\\]|\\.)*)>")
_BASE = re.compile(r"(?:AT_FDCWD|\b\d+)<((?:[^>\\]|\\.)*)>")
_TEXT = re.compile(r'"((?:[^"\\]|\\.)*)"')
_BY_DESCRIPTOR = re.compile(r'(?<=")/proc/self/fd/(\d+)(?=")')
_NAMED = re.compile(r'(?:(?:AT_FDCWD|\b\d+)<((?:[^>\\]|\\.)*)>, )?"((?:[^"\\]|\\.)*)"')
_MOVES = frozenset({"rename", "renameat", "renameat2"})
_BIRTHS = frozenset({"clone", "clone3", "fork", "vfork"})
_SIGNALS = frozenset({"kill", "tkill", "tgkill", "pidfd_send_signal"})
_FORBIDDEN = frozenset({
    "connect", "bind", "sendto", "sendmsg", "sendmmsg", "ptrace", "process_vm_readv", "process_vm_writev", "mount", "unshare", "setns",
    "io_uring_setup", "bpf", "open_by_handle_at",
})  # fmt: skip
_CHANGES = frozenset({
    "mkdir", "mkdirat", "rmdir", "rename", "renameat", "renameat2", "unlink", "unlinkat", "link", "linkat", "symlink", "symlinkat", "truncate",
    "mknod", "mknodat", "chmod", "fchmod", "fchmodat", "fchmodat2", "chown", "fchown", "lchown", "fchownat", "utimensat", "setxattr", "lsetxattr", "fsetxattr",
})  # fmt: skip
READ_ONLY = (
    ".git/config", ".git/hooks", "nested/.git/config", ".everturn", ".claude", ".mcp.json", ".vscode", ".bashrc", ".gitmodules",
)  # fmt: skip
"""What the wall of edits takes out of the working folder. What else is protected is put back behind the command."""
MACHINE_DEVICES = frozenset(f"/dev/{name}" for name in ("null", "zero", "full", "random", "urandom", "tty"))
_SHOWN = 80
OURS, STARTING, WAITING, WRAPPER, COMMAND, IGNORED = "ours", "starting", "waiting", "wrapper", "command", "ignored"
_WAITS = re.compile(rf'"[^"]*/bash", \["[^"]*/bash", "-c", "(?:ulimit -q \d+ 2>/dev/null; )?IFS= read -r -u {WORDS} ')
"""A shell that waits for its command. What is told to it, it begins with a change of folder."""


def before(log):
    """What is put in front of a worker, so that all its calls are written down."""
    return (
        "strace",
        "-f",
        "-q",
        "-y",
        "--seccomp-bpf",
        "--pidns-translation",
        "-s",
        "4096",
        "-o",
        str(log),
        "-e",
        f"trace={CALLS}",
        "-e",
        "signal=none",
    )


class Held:
    """What a command of one kind may open, start and write."""

    def __init__(self, house, room, programs, held):
        """`held`: reads, edits, or empty for one that nothing holds: of those only what belongs to the house is looked at."""
        self.held, self.house = held, house
        real = {os.path.realpath(path) for path in SYSTEM} | {*SYSTEM}
        self.programs = tuple(programs)
        self.readable = (
            *programs, "/bin", "/sbin", "/lib", "/lib64", *real, *DEVICES, str(house.work), str(room),
            f"{house.home}/.gitconfig", f"{house.home}/.config/git",
        )  # fmt: skip
        self.scratch = str(room)
        self.hidden = ()
        """Inside, and not to be read: a rule says so."""
        self.protected = (
            tuple(f"{house.work}/{name}" for name in READ_ONLY if os.path.lexists(house.work / name))
            if held == "edits"
            else ()
        )
        """Inside, and not to be written or moved, not even for a moment."""
        self.lists = False
        """A rule allows it: then what its globs become is the person's business."""
        self.starts = False
        """It may start programs of the working folder, too."""

    def may_read(self, path, *, is_wrapped, is_folder):
        if is_below(path, self.hidden):
            return False
        if is_below(path, self.readable) or not path.startswith("/") or (self.lists and is_folder):
            return True
        if not self.held:
            # Nothing holds it: then what it may not show is what lies around the working folder, and what root alone may.
            return not is_below(path, (str(self.house.place), str(self.house.elsewhere), "/etc/shadow", "/root"))
        # A view has folders of its own on the way to what it shows, and processes of its own.
        on_the_way = is_folder or is_below(str(self.house.work), (path,))
        return is_wrapped and (on_the_way or path.startswith(("/proc/", "/dev/")))

    def may_write(self, path):
        if not path.startswith("/") or path in {"/dev/null", "/dev/zero", "/dev/full", "/dev/tty"}:
            return True
        if not self.held and path in {f"{self.house.work}/.git/index{end}" for end in ("", ".lock")}:
            # Git in a trusted folder notes what it has seen.
            return True
        if is_below(path, self.protected):
            return False
        own = (f"{self.scratch}/everturn-sandbox-", f"{self.scratch}/everturn-scratch-")
        return is_below(path, own, joined=True) or (
            self.held == "edits" and is_below(path, (str(self.house.work), "/dev"))
        )

    def may_start(self, path):
        return self.starts or (
            path.startswith("/") and is_below(os.path.realpath(path), (*self.programs, "/usr", "/bin"))
        )


def is_below(path, roots, *, joined=False):
    return any(path == root or path.startswith(root if joined else root.rstrip("/") + "/") for root in roots)


def find_breaches(log, jobs):
    """By job and number of its case. `jobs`: by name, each with what its cases may do (`Held`)."""
    found = defaultdict(list)
    watch = Watch(Births(log))
    for number, pid, text in join_lines(Path(log)):
        watch.see(number, pid, text, jobs, found)
    return dict(found)


def read_lines(log):
    """Number of the line, process and text."""
    with log.open(encoding="utf-8", errors="replace") as lines:
        for number, line in enumerate(lines):
            if match := _LINE.match(line.rstrip("\n")):
                yield number, int(match[1]), match[2]


def join_lines(log):
    """Each call once, where it has ended; and where one has begun that ends later, that as well."""
    begun = {}
    for number, pid, text in read_lines(log):
        if text.endswith(_UNFINISHED):
            begun[pid] = text.removesuffix(_UNFINISHED)
            yield number, pid, f"began {begun[pid]}"
        elif resumed := _RESUMED.match(text):
            yield number, pid, begun.pop(pid, f"{resumed[1]}(") + resumed[2]
        else:
            yield number, pid, text


class Birth(NamedTuple):
    number: int
    """Of the line where the call began: whatever the child does stands further down, maybe before the call has ended."""
    parent: int
    is_thread: bool


class Births:
    """Who has started whom. Not every end of a process is written down, and numbers of processes come again."""

    def __init__(self, log):
        self.by_child = defaultdict(list)
        begun = {}
        for number, pid, text in read_lines(Path(log)):
            if text.partition("(")[0] in _BIRTHS:
                begun[pid] = number, "CLONE_THREAD" in text
            if pid in begun and not text.endswith(_UNFINISHED):
                began, is_thread = begun.pop(pid)
                if (made := _CHILD.match(text)) and (made[1] or made[2]) in _BIRTHS:
                    self.by_child[int(made[4] or made[3])].append(Birth(began, pid, is_thread))

    def find(self, pid, number):
        """The last one of it before this line; None where nobody has seen it."""
        return next((birth for birth in reversed(self.by_child.get(pid, ())) if birth.number < number), None)


class Watch:
    def __init__(self, births):
        self.births = births
        self.lives = {}
        """By process, the birth of the one that has this number now."""
        self.kinds = {}
        self.ended = {}
        """What those were whose children may be seen only now."""
        self.folders = {}
        """Where each is, as far as it is told."""
        self.programs = {}
        """What each was started as, itself or its parent."""
        self.opened = {}
        """By process and descriptor, what it has opened: the C library sets modes by way of /proc/self/fd."""
        self.case = None
        """Job and number."""
        self.running = False
        """Between its beginning and its end; what starts behind it is another matter."""
        self.is_wrapped = False
        self.has_started = False
        self.members = set()

    def see(self, number, pid, text, jobs, found):
        if not self.kinds:
            self.kinds[pid] = OURS
        if text.startswith("+++"):
            # Of the one that had this number before, where another has begun to be born meanwhile.
            self.ended[pid] = self.kinds.pop(pid, None)
            return
        self.note_birth(pid, self.births.find(pid, number))
        began, text = text.startswith("began "), text.removeprefix("began ")
        kind = self.kinds.get(pid) or self.place(pid)
        if kind == OURS:
            self.see_ours(text)
        elif not began and (call := _CALL.match(text)):
            self.see_theirs(pid, kind, call, jobs, found)

    def note_birth(self, pid, birth):
        if birth is None or self.lives.get(pid) == birth:
            return
        self.lives[pid] = birth
        parent = self.kinds.get(birth.parent) or self.ended.get(birth.parent)
        self.folders[pid] = self.folders.get(birth.parent, "")
        self.programs[pid] = self.programs.get(birth.parent, "")
        self.kinds.pop(pid, None)
        if parent == OURS and not birth.is_thread:
            self.kinds[pid] = STARTING if self.running else IGNORED
        elif parent is not None:
            self.kinds[pid] = parent
        self.members.add(pid)

    def place(self, pid):
        """One whose birth nobody has seen: its parent was ended meanwhile."""
        kind = IGNORED
        if self.is_wrapped and not self.has_started:
            kind = WRAPPER
        elif self.case is not None and self.has_started:
            kind = COMMAND
        self.kinds[pid] = kind
        self.members.add(pid)
        return kind

    def see_ours(self, text):
        if mark := _MARK.search(text):
            if mark[2] == "begin":
                self.case, self.running = (mark[1], int(mark[3])), True
                self.is_wrapped = self.has_started = False
                self.members = set()
            else:
                self.running = False

    def see_theirs(self, pid, kind, call, jobs, found):
        name, given, answer, path = call[1], call[2], call[3], unescape(call[4] or "")
        if here := _HERE.search(given):
            self.folders[pid] = unescape(here[1])
        if name in {"chdir", "fchdir"}:
            if kind == WAITING:
                self.kinds[pid] = COMMAND if self.running else IGNORED
                self.has_started = self.has_started or self.running
            # The next call that begins there tells where that is.
            self.folders[pid] = "" if answer == "0" else self.folders.get(pid, "")
            return
        if name in {"execve", "execveat"}:
            if answer == "0":
                self.see_start(pid, kind, given, jobs, found)
            return
        if name.startswith("open") and answer.isdecimal():
            self.opened[pid, answer] = call[4] or ""
        if kind != COMMAND or answer.startswith(("-", "?")) or self.case is None:
            return
        given = _BY_DESCRIPTOR.sub(lambda found: self.opened.get((pid, found[1]), found[0]), given)
        may = jobs.get(self.case[0], {}).get(self.case[1])
        if may is not None and (trouble := self.judge(may, name, given, path, self.folders.get(pid, ""))):
            found[self.case].append(f"{trouble}: {name}({given[:300]}) = {answer}<{path}>{self.tell_origin(pid)}")

    def tell_origin(self, pid):
        """So that a failure that does not come again can be understood from what it told."""
        born = "" if pid in self.lives else ", whose birth nobody has seen"
        return f" by {self.programs.get(pid) or 'what was not seen to start'}{born}"

    def see_start(self, pid, kind, given, jobs, found):
        program = unescape(_TEXT.search(given)[1])
        self.programs[pid] = given[:_SHOWN]
        if kind in {STARTING, IGNORED} and _WAITS.match(given):
            # Whatever runs meanwhile, this is no part of it, unless it is told to be.
            self.kinds[pid] = WAITING
        elif kind == STARTING and program.endswith("/bwrap"):
            # It may be tried out first: what that has started is over.
            self.kinds[pid], self.is_wrapped, self.has_started = WRAPPER, True, False
        elif kind == STARTING and "everturn-watcher" in given:
            self.kinds[pid] = IGNORED
        elif kind in {STARTING, WRAPPER, COMMAND}:
            self.kinds[pid], self.has_started = COMMAND, True
            may = jobs.get(self.case[0], {}).get(self.case[1]) if self.case is not None else None
            if may is not None and not may.may_start(program):
                found[self.case].append(f"started: {given[:300]}")

    def judge(self, may, name, given, path, here):
        if name in {"open", "openat", "openat2", "creat"}:
            if name == "creat" or WRITES.search(given):
                return "" if may.may_write(path) else "written"
            if "O_PATH" in given or may.may_read(path, is_wrapped=self.is_wrapped, is_folder="O_DIRECTORY" in given):
                return ""
            return "read"
        if name in _CHANGES:
            return self.judge_change(may, name, given, here)
        if name in _SIGNALS:
            return self.judge_signal(name, given)
        if name == "socket":
            return "reached" if may.held else ""
        if name == "prlimit64":
            return "limited" if not given.startswith("0,") and re.search(r"RLIMIT_\w+, \{", given) else ""
        if name == "sendto" and given.endswith("NULL, 0"):
            # To whom it is connected: that would have been seen, but for a pair of its own.
            return ""
        if name == "setpriority":
            return "slowed" if not re.match(r"PRIO_(PROCESS|PGRP), 0,", given) else ""
        return "reached" if name in _FORBIDDEN else ""

    def judge_change(self, may, name, given, here):
        """The last name is what is made, and the first what is moved or removed."""
        places = list_places(given, here)
        places = places if name in _MOVES else places[-1:]
        if name != "utimensat" and not MACHINE_DEVICES.isdisjoint(places):
            # To be written they are there; what they are is everybody's.
            return "changed"
        if may.held == "edits":
            # Where a relative name begins is not always told: what has changed is looked at afterwards, too.
            places = [place for place in places if place.startswith("/")]
            return "" if all(may.may_write(place) for place in places) else "changed"
        return "" if places and all(place.startswith("/") and may.may_write(place) for place in places) else "changed"

    def judge_signal(self, name, given):
        if self.is_wrapped:
            return ""
        target = re.search(r"-?\d+", given.split(",")[1 if name == "tgkill" else 0])
        number = abs(int(target[0])) if target else 0
        return (
            ""
            if number == 0 or number in self.members or (number in self.kinds and self.kinds[number] == COMMAND)
            else "signalled"
        )


def list_places(given, here):
    """What a call names, each below the folder that is told with it or else `here`; or the folders and files that it is given open."""
    named = [
        os.path.normpath(os.path.join(unescape(base) or here, unescape(text)))  # noqa: PTH118 - as text
        for base, text in _NAMED.findall(given)
    ]
    return named or [unescape(text) for text in _BASE.findall(given)]


def unescape(text):
    """As strace writes what is no plain letter."""
    return (
        text.encode("latin-1", "replace")
        .decode("unicode_escape")
        .encode("latin-1", "replace")
        .decode("utf-8", "replace")
        .removesuffix(" (deleted)")
    )
