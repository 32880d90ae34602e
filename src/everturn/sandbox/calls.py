"""System calls that Python has no name for, by their numbers on this machine."""

import ctypes
import os
from contextlib import suppress
from functools import lru_cache

import msgspec

PR_SET_NO_NEW_PRIVS = 38
PR_SET_SECCOMP = 22
PR_CAPBSET_DROP = 24
PR_SET_DUMPABLE = 4
SECCOMP_MODE_FILTER = 2


class Machine(msgspec.Struct, frozen=True, kw_only=True):
    audit: int
    """How the kernel names the instruction set to a filter."""
    numbers: dict[str, int]
    second_abi: int = 0
    """A bit in the number of calls of a second set, which filters must not forget."""


_SHARED = {
    # The same on all machines: made after the sets were unified.
    "io_uring_setup": 425,
    "io_uring_enter": 426,
    "io_uring_register": 427,
    "open_tree": 428,
    "move_mount": 429,
    "fsopen": 430,
    "fsconfig": 431,
    "fsmount": 432,
    "fspick": 433,
    "clone3": 435,
    "openat2": 437,
    "pidfd_send_signal": 424,
    "pidfd_getfd": 438,
    "process_madvise": 440,
    "memfd_secret": 447,
    "fchmodat2": 452,
    "setxattrat": 463,
    "removexattrat": 466,
    "file_setattr": 469,
    "mount_setattr": 442,
    "quotactl_fd": 443,
    "landlock_create_ruleset": 444,
    "landlock_add_rule": 445,
    "landlock_restrict_self": 446,
    "open_tree_attr": 467,
}
MACHINES = {
    "x86_64": Machine(
        audit=0xC000003E,
        second_abi=0x4000_0000,
        numbers=_SHARED
        | {
            "open": 2, "openat": 257, "socket": 41, "clone": 56, "ioctl": 16, "prctl": 157, "ptrace": 101, "capset": 126, "pivot_root": 155,
            "chroot": 161, "acct": 163, "settimeofday": 164, "mount": 165, "umount2": 166, "swapon": 167, "swapoff": 168,
            "reboot": 169, "iopl": 172, "ioperm": 173, "init_module": 175, "delete_module": 176, "quotactl": 179,
            "clock_settime": 227, "kexec_load": 246, "add_key": 248, "request_key": 249, "keyctl": 250, "unshare": 272,
            "perf_event_open": 298, "open_by_handle_at": 304, "setns": 308, "process_vm_writev": 311, "finit_module": 313,
            "kexec_file_load": 320, "bpf": 321, "userfaultfd": 323,
            "truncate": 76, "chmod": 90, "fchmod": 91, "chown": 92, "fchown": 93, "lchown": 94, "utime": 132,
            "utimes": 235, "fchownat": 260, "futimesat": 261, "fchmodat": 268, "utimensat": 280, "setxattr": 188,
            "lsetxattr": 189, "fsetxattr": 190, "removexattr": 197, "lremovexattr": 198, "fremovexattr": 199,
            "kill": 62, "tkill": 200, "tgkill": 234, "rt_sigqueueinfo": 129, "rt_tgsigqueueinfo": 297, "fcntl": 72,
            "prlimit64": 302, "setpriority": 141, "setrlimit": 160, "sched_setparam": 142, "sched_setscheduler": 144,
            "sched_setaffinity": 203, "sched_setattr": 314, "ioprio_set": 251, "migrate_pages": 256, "move_pages": 279,
            "process_vm_readv": 310, "kcmp": 312, "memfd_create": 319, "syslog": 103, "shmget": 29, "shmat": 30,
            "shmctl": 31, "semget": 64, "semop": 65, "semctl": 66, "msgget": 68, "msgsnd": 69, "msgrcv": 70,
            "msgctl": 71, "semtimedop": 220, "mq_open": 240, "mq_unlink": 241, "socketpair": 53, "fallocate": 285,
            "inotify_add_watch": 254, "fanotify_init": 300, "fanotify_mark": 301, "mmap": 9, "bind": 49, "listen": 50,
            "connect": 42, "accept": 43, "accept4": 288, "setsockopt": 54, "sendmsg": 46, "sendmmsg": 307,
        },
    ),
    "aarch64": Machine(
        audit=0xC00000B7,
        numbers=_SHARED
        | {
            "openat": 56, "socket": 198, "clone": 220, "ioctl": 29, "prctl": 167, "ptrace": 117, "capset": 91, "pivot_root": 41,
            "chroot": 51, "acct": 89, "settimeofday": 170, "mount": 40, "umount2": 39, "swapon": 224, "swapoff": 225,
            "reboot": 142, "init_module": 105, "delete_module": 106, "quotactl": 60, "clock_settime": 112,
            "kexec_load": 104, "add_key": 217, "request_key": 218, "keyctl": 219, "unshare": 97, "perf_event_open": 241,
            "open_by_handle_at": 265, "setns": 268, "process_vm_writev": 271, "finit_module": 273, "kexec_file_load": 294,
            "bpf": 280, "userfaultfd": 282,
            "truncate": 45, "fchmod": 52, "fchmodat": 53, "fchownat": 54, "fchown": 55, "utimensat": 88, "setxattr": 5,
            "lsetxattr": 6, "fsetxattr": 7, "removexattr": 14, "lremovexattr": 15, "fremovexattr": 16, "kill": 129,
            "tkill": 130, "tgkill": 131, "rt_sigqueueinfo": 138, "rt_tgsigqueueinfo": 240, "fcntl": 25,
            "prlimit64": 261, "setpriority": 140, "setrlimit": 164, "sched_setparam": 118, "sched_setscheduler": 119,
            "sched_setaffinity": 122, "sched_setattr": 274, "ioprio_set": 30, "migrate_pages": 238, "move_pages": 239,
            "process_vm_readv": 270, "kcmp": 272, "memfd_create": 279, "syslog": 116, "shmget": 194, "shmctl": 195,
            "shmat": 196, "msgget": 186, "msgctl": 187, "msgrcv": 188, "msgsnd": 189, "semget": 190, "semctl": 191,
            "semtimedop": 192, "semop": 193, "mq_open": 180, "mq_unlink": 181, "socketpair": 199, "fallocate": 47,
            "inotify_add_watch": 27, "fanotify_init": 262, "fanotify_mark": 263, "mmap": 222, "bind": 200, "listen": 201,
            "connect": 203, "accept": 202, "accept4": 242, "setsockopt": 208, "sendmsg": 211, "sendmmsg": 269,
        },
    ),
}  # fmt: skip


def list_capabilities(kind: str) -> int:
    """Of the calling thread, as bits; `kind` by its name in the kernel's table (`CapEff`, `CapPrm`)."""
    with open("/proc/thread-self/status", encoding="ascii", errors="replace") as file:  # noqa: PTH123 - a single read
        fields = dict(line.split(":", 1) for line in file)
    return int(fields[kind], 16)


@lru_cache(maxsize=1)
def hide_from_peers() -> None:
    """Nobody without rights of root looks into this program any more: its descriptors, above all.

    A thread that has given up its rights is bound by the same rules as what it starts, so that these let them look at it; and
    it shares the descriptors of all of us. Pipes could be opened through `/proc` then, ours to the person among them.
    """
    with suppress(OSError):
        if (machine := find_machine()) is not None:
            call(machine.numbers["prctl"], PR_SET_DUMPABLE, 0, 0, 0, 0)


def find_machine() -> Machine | None:
    return MACHINES.get(os.uname().machine)


@lru_cache(maxsize=1)
def _library() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def call(number: int, *arguments: object) -> int:
    """Raises `OSError`."""
    words = [ctypes.c_long(word) if isinstance(word, int) else word for word in arguments]
    answer: int = _library().syscall(ctypes.c_long(number), *words)
    if answer < 0:
        error = ctypes.get_errno()
        raise OSError(error, os.strerror(error))
    return answer
