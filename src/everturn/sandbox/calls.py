"""System calls that Python has no name for, by their numbers on this machine."""

import ctypes
import os
from functools import lru_cache

import msgspec

PR_SET_NO_NEW_PRIVS = 38
PR_SET_SECCOMP = 22
PR_CAPBSET_DROP = 24
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
            "socket": 41, "clone": 56, "ioctl": 16, "prctl": 157, "ptrace": 101, "capset": 126, "pivot_root": 155,
            "chroot": 161, "acct": 163, "settimeofday": 164, "mount": 165, "umount2": 166, "swapon": 167, "swapoff": 168,
            "reboot": 169, "iopl": 172, "ioperm": 173, "init_module": 175, "delete_module": 176, "quotactl": 179,
            "clock_settime": 227, "kexec_load": 246, "add_key": 248, "request_key": 249, "keyctl": 250, "unshare": 272,
            "perf_event_open": 298, "open_by_handle_at": 304, "setns": 308, "process_vm_writev": 311, "finit_module": 313,
            "kexec_file_load": 320, "bpf": 321, "userfaultfd": 323,
        },
    ),
    "aarch64": Machine(
        audit=0xC00000B7,
        numbers=_SHARED
        | {
            "socket": 198, "clone": 220, "ioctl": 29, "prctl": 167, "ptrace": 117, "capset": 91, "pivot_root": 41,
            "chroot": 51, "acct": 89, "settimeofday": 170, "mount": 40, "umount2": 39, "swapon": 224, "swapoff": 225,
            "reboot": 142, "init_module": 105, "delete_module": 106, "quotactl": 60, "clock_settime": 112,
            "kexec_load": 104, "add_key": 217, "request_key": 218, "keyctl": 219, "unshare": 97, "perf_event_open": 241,
            "open_by_handle_at": 265, "setns": 268, "process_vm_writev": 271, "finit_module": 273, "kexec_file_load": 294,
            "bpf": 280, "userfaultfd": 282,
        },
    ),
}  # fmt: skip


def list_capabilities(kind: str) -> int:
    """Of the calling thread, as bits; `kind` by its name in the kernel's table (`CapEff`, `CapPrm`)."""
    with open("/proc/thread-self/status", encoding="ascii", errors="replace") as file:  # noqa: PTH123 - a single read
        fields = dict(line.split(":", 1) for line in file)
    return int(fields[kind], 16)


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
