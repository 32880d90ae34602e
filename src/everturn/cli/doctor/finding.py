"""What one check found."""

from enum import StrEnum

import msgspec


class FindingState(StrEnum):
    OK = "ok"
    WARN = "warn"
    FAIL = "fail"


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    name: str
    state: FindingState
    detail: str
    mend: str = ""
    """What to do about it; empty where all is well."""


class DoctorReport(msgspec.Struct, frozen=True, kw_only=True):
    ok: bool
    """Nothing that a run needs is missing."""
    checks: tuple[Finding, ...]


def ok(name: str, detail: str) -> Finding:
    return Finding(name=name, state=FindingState.OK, detail=detail)


def warn(name: str, detail: str, mend: str) -> Finding:
    return Finding(name=name, state=FindingState.WARN, detail=detail, mend=mend)


def fail(name: str, detail: str, mend: str) -> Finding:
    return Finding(name=name, state=FindingState.FAIL, detail=detail, mend=mend)
