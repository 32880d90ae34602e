"""What one check found."""

from enum import StrEnum

import msgspec


class State(StrEnum):
    OK = "ok"
    WARN = "warn"
    FAIL = "fail"


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    name: str
    state: State
    detail: str
    mend: str = ""
    """What to do about it; empty where all is well."""


def ok(name: str, detail: str) -> Finding:
    return Finding(name=name, state=State.OK, detail=detail)


def warn(name: str, detail: str, mend: str) -> Finding:
    return Finding(name=name, state=State.WARN, detail=detail, mend=mend)


def fail(name: str, detail: str, mend: str) -> Finding:
    return Finding(name=name, state=State.FAIL, detail=detail, mend=mend)
