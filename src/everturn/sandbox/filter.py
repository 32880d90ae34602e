"""The system calls that a confined command cannot make, as a program for the kernel's filter."""

import ctypes
import errno
import struct
from collections.abc import Iterable

import msgspec

from everturn.sandbox.calls import PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP, SECCOMP_MODE_FILTER, Machine

AF_UNIX, AF_INET, AF_INET6, AF_NETLINK = 1, 2, 10, 16
LOCAL = frozenset({AF_NETLINK})
INTERNET = frozenset({AF_INET, AF_INET6})

FORBIDDEN = (
    # Rings make sockets and open files without the filter's knowledge.
    "io_uring_setup", "io_uring_enter", "io_uring_register",
    # The view of the file system is what holds the command.
    "mount", "umount2", "pivot_root", "chroot", "move_mount", "open_tree", "open_tree_attr", "fsopen", "fsconfig",
    "fsmount", "fspick", "mount_setattr", "open_by_handle_at", "setns", "unshare",
    # Keys of the person's login session.
    "keyctl", "add_key", "request_key",
    # The machine itself.
    "bpf", "perf_event_open", "userfaultfd", "kexec_load", "kexec_file_load", "init_module", "finit_module",
    "delete_module", "reboot", "swapon", "swapoff", "acct", "quotactl", "quotactl_fd", "settimeofday", "clock_settime",
    "iopl", "ioperm",
)  # fmt: skip
OF_HELD = (
    # A pair of sockets leads nowhere: it gets no name, by which others could find it, keeps its size, and carries no
    # descriptors, which nobody could count then.
    "bind", "listen", "connect", "accept", "accept4", "setsockopt", "sendmsg", "sendmmsg",
    # Memory that no process shows as its own; and a program without a file, which rules about files do not hold.
    "shmget", "shmat", "shmctl", "semget", "semop", "semctl", "semtimedop", "msgget", "msgsnd", "msgrcv", "msgctl",
    "memfd_create", "memfd_secret",
)  # fmt: skip
"""Forbidden on top to commands that nobody approved."""
OF_READERS = (
    # A right to write is no part of these: modes, owners, times, attributes, and lengths by name.
    "truncate", "chmod", "fchmod", "fchmodat", "fchmodat2", "chown", "fchown", "lchown", "fchownat", "utime", "utimes",
    "futimesat", "utimensat", "setxattr", "lsetxattr", "fsetxattr", "setxattrat", "removexattr", "lremovexattr",
    "fremovexattr", "removexattrat", "file_setattr",
    # Other processes: their memory, their descriptors, how they are scheduled, what they are told.
    "ptrace", "process_vm_readv", "process_vm_writev", "process_madvise", "pidfd_getfd", "kcmp", "migrate_pages",
    "move_pages", "sched_setparam", "sched_setscheduler", "sched_setaffinity", "sched_setattr", "ioprio_set",
    "mq_open", "mq_unlink",
    # What others do to files, told by name.
    "inotify_add_watch", "fanotify_init", "fanotify_mark",
    # What the kernel has said.
    "syslog",
)  # fmt: skip
"""Forbidden on top to commands that may only read."""
SIGNALS = ("kill", "tkill", "tgkill", "rt_sigqueueinfo", "rt_tgsigqueueinfo", "pidfd_send_signal")
"""Forbidden where nothing else keeps signals from other processes."""
OWNERS = (8, 10, 15)
"""fcntl: F_SETOWN, F_SETSIG and F_SETOWN_EX, by which the kernel sends a signal in somebody's stead."""
WATCHING = (1024, 1026)
"""fcntl: F_SETLEASE and F_NOTIFY, which keep others from a file, or tell what they do."""
ABOUT_TERMINALS = 0x5400
"""ioctl: the group of requests about terminals and descriptors."""
TELLING = (0x8008_6601, 0x8004_6601, 0x801C_581F, 0x8008_7601, 0xC020_660B)
"""ioctl: flags, attributes, version and extents of a file, told. Others of these groups set them, and ask for no right to write."""
SEALED = 12
"""The limit on message queues: by it a session's processes are known, so that no process may change it."""
SCOPED, TRUNCATING, NEWEST = 6, 3, 99
"""Versions of Landlock that keep signals among those whom the same rules bind, and files from being emptied."""
EMPTYING = 0x200
EMPTIES = (EMPTYING, EMPTYING | 0b11)
"""open: O_TRUNC without a right to write is asked for."""
TYPING = (0x5412, 0x541C)
"""ioctl: TIOCSTI and TIOCLINUX, which put words into a terminal as if somebody typed them."""
LEADING_NOWHERE = (1, 5)
"""Kinds of a pair of local sockets that is a pair for good: of a stream, and of packets in order. Others can be sent elsewhere."""
KIND_OF_SOCKET = 0xF
PRIO_PROCESS, PRIO_USER = 0, 2
NEW_NAMESPACES = 0x7E02_0000
"""clone: any of the flags that make a namespace."""
WITH_FILES, AS_THREAD = 0x400, 0x1_0000
"""clone: shares its descriptors; belongs to the same process. A thread with descriptors of its own is not seen in the process's list."""
SHARED_NAMELESS = 0x21
"""mmap: MAP_SHARED with MAP_ANONYMOUS. What is written there stays where no process shows it, even when nobody has mapped it."""
SET_DUMPABLE = 4
"""prctl: keeps us from seeing what a process has open and mapped."""

_ALLOW = 0x7FFF_0000
_ERRNO = 0x0005_0000
_LOAD, _EQUAL, _ANY_BIT, _RETURN, _AND = 0x20, 0x15, 0x45, 0x06, 0x54
_NUMBER, _ARCHITECTURE, _FIRST, _SECOND, _THIRD, _FOURTH = 0, 4, 16, 24, 32, 40
"""Offsets in what a filter sees; of arguments the lower halves, on machines that store these first."""


class _Step(msgspec.Struct, frozen=True):
    code: int
    value: int
    yes: int = 0
    no: int = 0

    def encode(self) -> bytes:
        return struct.pack("=HBBI", self.code, self.yes, self.no, self.value)


def encode_filter(
    machine: Machine, families: frozenset[int], *, held: bool = False, reads: bool = False, version: int = NEWEST
) -> bytes:
    """`families`: the kinds of socket that may be made. Pairs of local sockets that lead nowhere are always fine.

    `held`: for a command that nobody approved. `reads`: for one of them that may change nothing, neither files nor other processes. `version`: of Landlock, whose rules
    hold what it opens; what an older one lets pass is refused here.
    """
    steps = [
        _Step(_LOAD, _ARCHITECTURE),
        _Step(_EQUAL, machine.audit, yes=1),
        _refuse(errno.ENOSYS),
        _Step(_LOAD, _NUMBER),
    ]
    if machine.second_abi:
        steps += [_Step(_ANY_BIT, machine.second_abi, no=1), _refuse(errno.ENOSYS)]
    numbers = machine.numbers
    # A filter cannot look behind the pointer that clone3 takes: programs fall back to clone.
    steps += [_Step(_EQUAL, numbers["clone3"], no=1), _refuse(errno.ENOSYS)]
    more = OF_HELD if held or reads else ()
    more += (*OF_READERS, *(() if version >= SCOPED else SIGNALS)) if reads else ()
    for name in (*FORBIDDEN, *more):
        if name in numbers:
            steps += [_Step(_EQUAL, numbers[name], no=1), _refuse(errno.EPERM)]
    apart = [_Step(_ANY_BIT, NEW_NAMESPACES, no=1), _refuse(errno.EPERM)]
    if held or reads:
        apart += [_Step(_AND, AS_THREAD | WITH_FILES), *_refuse_each((AS_THREAD,))]
        steps += _judge_argument(
            numbers["mmap"], _FOURTH, [_Step(_AND, SHARED_NAMELESS), *_refuse_each((SHARED_NAMELESS,))]
        )
        steps += _judge_argument(numbers["prctl"], _FIRST, _refuse_each((SET_DUMPABLE,)))
    steps += _judge_argument(numbers["clone"], _FIRST, apart)
    steps += _judge_argument(numbers["ioctl"], _SECOND, [*_refuse_each(TYPING), *(_control() if reads else ())])
    if reads and version < TRUNCATING:
        steps += [_Step(_EQUAL, numbers["openat2"], no=1), _refuse(errno.ENOSYS)]
        for name, offset in (("open", _SECOND), ("openat", _THIRD)):
            if name in numbers:
                steps += _judge_argument(numbers[name], offset, [_Step(_AND, EMPTYING | 0b11), *_refuse_each(EMPTIES)])
    if reads:
        # A disk could be filled by it in less time than anybody looks.
        steps += [_Step(_EQUAL, numbers["fallocate"], no=1), _refuse(errno.EOPNOTSUPP)]
        steps += _judge_argument(numbers["fcntl"], _SECOND, _refuse_each((*OWNERS, *WATCHING)))
        # Who is 0 here is the caller; of a user, all that run.
        steps += _judge_first(numbers["setpriority"], _refuse_each((PRIO_USER,)))
        # Its own limits and priority, which are 0 here, and nobody else's.
        own = [_Step(_EQUAL, 0, yes=1), _refuse(errno.EPERM)]
        steps += _judge_argument(numbers["setpriority"], _SECOND, own)
        sealed = _refuse_each((SEALED,))
        steps += _judge_argument(numbers["prlimit64"], _FIRST, [*own, _Step(_LOAD, _SECOND), *sealed])
        steps += _judge_argument(numbers["setrlimit"], _FIRST, sealed)
    steps += _judge_argument(numbers["socket"], _FIRST, [*_allow_each(sorted(families)), _refuse(errno.EPERM)])
    if AF_UNIX not in families:
        steps += _judge_first(numbers["socketpair"], [_Step(_EQUAL, AF_UNIX, yes=1), _refuse(errno.EPERM)])
        kinds = [_Step(_AND, KIND_OF_SOCKET), *_allow_each(LEADING_NOWHERE), _refuse(errno.EPERM)]
        steps += _judge_argument(numbers["socketpair"], _SECOND, kinds)
    return b"".join(step.encode() for step in (*steps, _Step(_RETURN, _ALLOW)))


SHARED = (
    "shmget", "shmat", "shmctl", "semget", "semop", "semctl", "semtimedop", "msgget", "msgsnd", "msgrcv", "msgctl",
    "mq_open", "mq_unlink",
)  # fmt: skip
"""Memory, semaphores and queues that all processes of a user find by a number or a name."""
OF_ONE = (
    "prlimit64", "sched_setparam", "sched_setscheduler", "sched_setaffinity", "sched_setattr", "migrate_pages", "move_pages",
)  # fmt: skip
"""Their first argument is a process, and 0 the caller."""
IOPRIO_OF_PROCESS = 1


def encode_sparing(machine: Machine, *spared: int) -> bytes:
    """What a thread starts cannot signal these: the thread at least, and by it all of us. The rules that bind both let them reach each other.

    Numbers are as for `kill`: those below 0 are groups, or everybody. No rule keeps it from other processes of the user in other ways,
    such as limits, priorities and shared memory: it may use these for itself, or not at all.
    """
    named = tuple(number & 0xFFFF_FFFF for number in spared)
    numbers = machine.numbers
    steps = [_Step(_LOAD, _NUMBER)]
    for name, offset in (("kill", _FIRST), ("tkill", _FIRST), ("rt_sigqueueinfo", _FIRST), ("tgkill", _SECOND),
                         ("rt_tgsigqueueinfo", _SECOND)):  # fmt: skip
        steps += _judge_argument(numbers[name], offset, _refuse_each(named))
    for name in ("pidfd_send_signal", *SHARED):
        steps += [_Step(_EQUAL, numbers[name], no=1), _refuse(errno.EPERM)]
    own = [_Step(_EQUAL, 0, yes=1), _refuse(errno.EPERM)]
    for name in OF_ONE:
        steps += _judge_argument(numbers[name], _FIRST, own)
    for name, process in (("setpriority", PRIO_PROCESS), ("ioprio_set", IOPRIO_OF_PROCESS)):
        steps += _judge_first(numbers[name], [_Step(_EQUAL, process, yes=1), _refuse(errno.EPERM)])
        steps += _judge_argument(numbers[name], _SECOND, own)
    return b"".join(step.encode() for step in (*steps, _Step(_RETURN, _ALLOW)))


def run_filter(program: bytes) -> None:
    """For the calling thread and what it starts; for good."""
    machine_call = ctypes.CDLL(None, use_errno=True).prctl
    buffer = ctypes.create_string_buffer(program, len(program))
    head = struct.pack("@HP", len(program) // 8, ctypes.addressof(buffer))
    if machine_call(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) or machine_call(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, head, 0, 0):
        raise OSError(ctypes.get_errno(), "the filter of system calls was refused")


def _judge_argument(number: int, offset: int, judge: list[_Step]) -> list[_Step]:
    """`judge` sees the argument's lower half, and either returns or falls through to what follows."""
    inner = [_Step(_LOAD, offset), *judge, _Step(_RETURN, _ALLOW)]
    return [_Step(_EQUAL, number, no=len(inner)), *inner]


def _judge_first(number: int, judge: list[_Step]) -> list[_Step]:
    """As `_judge_argument` of the first, and what does not return goes on to be judged by another."""
    inner = [_Step(_LOAD, _FIRST), *judge, _Step(_LOAD, _NUMBER)]
    return [_Step(_EQUAL, number, no=len(inner)), *inner]


def _control() -> list[_Step]:
    """Requests that a command may make which changes nothing."""
    about = [_Step(_AND, 0xFF00), _Step(_EQUAL, ABOUT_TERMINALS, yes=1), _refuse(errno.ENOTTY)]
    return [*_allow_each(TELLING), *about]


def _allow_each(values: Iterable[int]) -> list[_Step]:
    return [step for value in values for step in (_Step(_EQUAL, value, no=1), _Step(_RETURN, _ALLOW))]


def _refuse_each(values: tuple[int, ...]) -> list[_Step]:
    return [step for value in values for step in (_Step(_EQUAL, value, no=1), _refuse(errno.EPERM))]


def _refuse(number: int) -> _Step:
    return _Step(_RETURN, _ERRNO | number)
