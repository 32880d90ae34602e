"""The system calls that a confined command cannot make, as a program for the kernel's filter."""

import ctypes
import errno
import struct

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
TYPING = (0x5412, 0x541C)
"""ioctl: TIOCSTI and TIOCLINUX, which put words into a terminal as if somebody typed them."""
NEW_NAMESPACES = 0x7E02_0000
"""clone: any of the flags that make a namespace."""

_ALLOW = 0x7FFF_0000
_ERRNO = 0x0005_0000
_LOAD, _EQUAL, _ANY_BIT, _RETURN = 0x20, 0x15, 0x45, 0x06
_NUMBER, _ARCHITECTURE, _FIRST, _SECOND = 0, 4, 16, 24
"""Offsets in what a filter sees; of arguments the lower halves, on machines that store these first."""


class _Step(msgspec.Struct, frozen=True):
    code: int
    value: int
    yes: int = 0
    no: int = 0

    def encode(self) -> bytes:
        return struct.pack("=HBBI", self.code, self.yes, self.no, self.value)


def encode_filter(machine: Machine, families: frozenset[int]) -> bytes:
    """`families`: the kinds of socket that may be made. Pairs of local sockets are always fine: they lead nowhere."""
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
    for name in FORBIDDEN:
        if name in numbers:
            steps += [_Step(_EQUAL, numbers[name], no=1), _refuse(errno.EPERM)]
    steps += _judge_argument(numbers["clone"], _FIRST, [_Step(_ANY_BIT, NEW_NAMESPACES, no=1), _refuse(errno.EPERM)])
    typing = [step for request in TYPING for step in (_Step(_EQUAL, request, no=1), _refuse(errno.EPERM))]
    steps += _judge_argument(numbers["ioctl"], _SECOND, typing)
    known = [step for family in sorted(families) for step in (_Step(_EQUAL, family, no=1), _Step(_RETURN, _ALLOW))]
    steps += _judge_argument(numbers["socket"], _FIRST, [*known, _refuse(errno.EPERM)])
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


def _refuse(number: int) -> _Step:
    return _Step(_RETURN, _ERRNO | number)
