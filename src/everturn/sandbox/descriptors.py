"""Descriptors that are handed to a command."""

import fcntl
import os

ABOVE_ALL = 256
"""Our own copies lie above the numbers that a child finds its descriptors under."""


def make_readable(data: bytes) -> int:
    """A descriptor of a pipe that holds the bytes: few enough for it."""
    readable, writable = os.pipe()
    try:
        os.write(writable, data)
        return lift_descriptor(readable)
    finally:
        os.close(writable)


def lift_descriptor(descriptor: int) -> int:
    """Above all others; the given one is closed."""
    try:
        return fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, ABOVE_ALL)
    finally:
        os.close(descriptor)
