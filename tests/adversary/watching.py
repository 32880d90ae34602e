"""What commands did, told by their system calls: each that opened, started, sent, signalled or changed something it may not."""

import os
import re
from collections import defaultdict
from pathlib import Path

from everturn.sandbox.held.places import DEVICES, SYSTEM

CALLS = (
    "execve,execveat,open,openat,openat2,creat,open_by_handle_at,mkdir,mkdirat,rmdir,rename,renameat,renameat2,unlink,unlinkat,link,linkat,"
    "symlink,symlinkat,truncate,mknod,mknodat,chmod,fchmod,fchmodat,?fchmodat2,chown,fchown,lchown,fchownat,utimensat,setxattr,lsetxattr,fsetxattr,"
    "socket,connect,bind,sendto,sendmsg,sendmmsg,kill,tkill,tgkill,pidfd_send_signal,ptrace,process_vm_readv,process_vm_writev,prlimit64,"
    "setpriority,mount,unshare,setns,io_uring_setup,bpf,clone,clone3,fork,vfork"
)
WRITES = re.compile(r"O_WRONLY|O_RDWR|O_CREAT|O_TRUNC|O_APPEND|O_TMPFILE")
_LINE = re.compile(r"(\d+) +(.*)", re.DOTALL)
_CALL = re.compile(r"(\w+)\((.*)\) += (-?\d+|\?|0x[0-9a-f]+)(?:<((?:[^>\\]|\\.)*)>)?(?: .*)?$", re.DOTALL)
_UNFINISHED = " <unfinished ...>"
_RESUMED = re.compile(r"<\.\.\. (\w+) resumed>(.*)", re.DOTALL)
_MARK = re.compile(r'"/adversary/(\w+)/(begin|end)/(\d+)"')
_BASE = re.compile(r"(?:AT_FDCWD|\b\d+)<((?:[^>\\]|\\.)*)>")
_TEXT = re.compile(r'"((?:[^"\\]|\\.)*)"')
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
OURS, STARTING, WRAPPER, COMMAND, IGNORED = "ours", "starting", "wrapper", "command", "ignored"


def before(log):
    """What is put in front of a worker, so that all its calls are written down."""
    return (
        "strace",
        "-f",
        "-q",
        "-y",
        "--seccomp-bpf",
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
    watch = Watch()
    for pid, text in join_lines(Path(log)):
        watch.see(pid, text, jobs, found)
    return dict(found)


def join_lines(log):
    """Each call once, where it has ended; and where one has begun that ends later, that as well."""
    begun = {}
    with log.open(encoding="utf-8", errors="replace") as lines:
        for line in lines:
            if not (match := _LINE.match(line.rstrip("\n"))):
                continue
            pid, text = int(match[1]), match[2]
            if text.endswith(_UNFINISHED):
                begun[pid] = text.removesuffix(_UNFINISHED)
                yield pid, f"began {begun[pid]}"
            elif resumed := _RESUMED.match(text):
                yield pid, begun.pop(pid, f"{resumed[1]}(") + resumed[2]
            else:
                yield pid, text


class Watch:
    def __init__(self):
        self.kinds = {}
        self.case = None
        """Job and number."""
        self.running = False
        """Between its beginning and its end; what starts behind it is another matter."""
        self.is_wrapped = False
        self.has_started = False
        self.births = 0
        """Of ours, under way: whoever appears now is a child of ours."""
        self.members = set()

    def see(self, pid, text, jobs, found):
        if not self.kinds:
            self.kinds[pid] = OURS
        if text.startswith("+++"):
            self.kinds.pop(pid, None)
            return
        began, text = text.startswith("began "), text.removeprefix("began ")
        kind = self.kinds.get(pid) or self.place(pid)
        if kind == OURS:
            self.see_ours(text, began=began)
        elif not began and (call := _CALL.match(text)):
            self.see_theirs(pid, kind, call, jobs, found)

    def place(self, pid):
        if self.births > 0:
            kind = STARTING if self.running else IGNORED
        elif self.is_wrapped and not self.has_started:
            kind = WRAPPER
        else:
            kind = COMMAND if self.case is not None and self.has_started else IGNORED
        self.kinds[pid] = kind
        self.members.add(pid)
        return kind

    def see_ours(self, text, *, began):
        if mark := _MARK.search(text):
            if mark[2] == "begin":
                self.case, self.running = (mark[1], int(mark[3])), True
                self.is_wrapped = self.has_started = False
                self.members = set()
            else:
                self.running = False
            return
        name = text.partition("(")[0]
        if name not in _BIRTHS:
            return
        if "CLONE_THREAD" in text:
            if not began and (call := _CALL.match(text)) and int(call[3], 0) > 0:
                self.kinds[int(call[3], 0)] = OURS
            return
        self.births += 1 if began else -1 if self.births else 0
        if not began and (call := _CALL.match(text)) and call[3].isdecimal():
            # Told late: the child may have begun already.
            self.kinds.setdefault(int(call[3]), STARTING if self.running else IGNORED)
            self.members.add(int(call[3]))

    def see_theirs(self, pid, kind, call, jobs, found):
        name, given, answer, path = call[1], call[2], call[3], unescape(call[4] or "")
        if name in {"execve", "execveat"}:
            if answer == "0":
                self.see_start(pid, kind, given, jobs, found)
            return
        if kind != COMMAND or answer.startswith(("-", "?")) or self.case is None:
            return
        may = jobs.get(self.case[0], {}).get(self.case[1])
        if may is not None and (trouble := self.judge(may, name, given, path)):
            found[self.case].append(f"{trouble}: {name}({given[:300]}) = {answer}<{path}>")

    def see_start(self, pid, kind, given, jobs, found):
        program = unescape(_TEXT.search(given)[1])
        if kind == STARTING and program.endswith("/bwrap"):
            self.kinds[pid], self.is_wrapped = WRAPPER, True
        elif kind == STARTING and "everturn-watcher" in given:
            self.kinds[pid] = IGNORED
        elif kind in {STARTING, WRAPPER, COMMAND}:
            self.kinds[pid], self.has_started = COMMAND, True
            may = jobs.get(self.case[0], {}).get(self.case[1]) if self.case is not None else None
            if may is not None and not may.may_start(program):
                found[self.case].append(f"started: {given[:300]}")

    def judge(self, may, name, given, path):
        if name in {"open", "openat", "openat2", "creat"}:
            if name == "creat" or WRITES.search(given):
                return "" if may.may_write(path) else "written"
            if "O_PATH" in given or may.may_read(path, is_wrapped=self.is_wrapped, is_folder="O_DIRECTORY" in given):
                return ""
            return "read"
        if name in _CHANGES:
            return self.judge_change(may, name, given)
        if name in _SIGNALS:
            return self.judge_signal(name, given)
        if name == "socket":
            return "reached" if may.held else ""
        if name == "prlimit64":
            return "limited" if not given.startswith("0,") and re.search(r"RLIMIT_\w+, \{", given) else ""
        if name == "setpriority":
            return "slowed" if not re.match(r"PRIO_(PROCESS|PGRP), 0,", given) else ""
        return "reached" if name in _FORBIDDEN else ""

    def judge_change(self, may, name, given):
        """The last name is what is made, and the first what is moved or removed."""
        places = list_places(given)
        places = places if name in _MOVES else places[-1:]
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


def list_places(given):
    """What a call names, each below the folder that is told with it; or else the folders and files that it is given open."""
    named = [
        os.path.normpath(os.path.join(unescape(base), unescape(text)))  # noqa: PTH118 - as text
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
