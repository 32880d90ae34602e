"""Whether a hook applies: its matcher is compared with one field of the event. Pure."""

import re
from collections.abc import Callable
from functools import cached_property

_NAMES = re.compile(r"[A-Za-z0-9_\-, |]*")
_STRICT_NAMES = re.compile(r"[A-Za-z0-9_|]*")
_CUT = re.compile(r"[|,]")
_GROUP_NAME = re.compile(r"\(\?<(?![=!])")
"""Python writes `(?P<name>…)` where the language of matchers has `(?<name>…)`."""
_REPEATED_GROUP = re.compile(r"\)[*+{]")
_NO_QUANTIFIER = re.compile(r"\\.|\(\?")
_QUANTIFIER = re.compile(r"[*+?{]")
_MAX_QUANTIFIERS = 6
"""With more, one after the other, a search can take for ever as well."""
_OTHER_NAMES = {
    "Agent": ("Task",),
    "TaskOutput": ("BashOutput",),
    "TaskStop": ("KillShell", "KillBash"),
}
"""Older names of tools, which hooks may still use."""


class Matcher:
    """Empty and `*` match always, plain names exactly, anything else as a regular expression anywhere in the value."""

    def __init__(self, text: str, *, strict_names: bool = False) -> None:
        self.text = text
        self._is_list = bool((_STRICT_NAMES if strict_names else _NAMES).fullmatch(text))

    @property
    def is_always(self) -> bool:
        return self.text in {"", "*"}

    @cached_property
    def names(self) -> frozenset[str]:
        """What it matches exactly; empty where it is a regular expression."""
        return (
            frozenset(name for part in _CUT.split(self.text) if (name := part.strip()))
            if self._is_list
            else frozenset()
        )

    @cached_property
    def problem(self) -> str:
        """Why it can match nothing; empty where it can."""
        if self.is_always or self._is_list:
            return ""
        try:
            re.compile(self.pattern)
        except (re.error, RecursionError, OverflowError) as error:
            return f"the matcher {self.text!r:.80} is no regular expression ({error})"
        return ""

    @cached_property
    def may_take_long(self) -> bool:
        """A search could go on for longer than anybody waits, such as that for `(a+)+$`."""
        if self.is_always or self._is_list or self.problem:
            return False
        quantifiers = _QUANTIFIER.findall(_NO_QUANTIFIER.sub("", self.text))
        return _REPEATED_GROUP.search(self.text) is not None or len(quantifiers) > _MAX_QUANTIFIERS

    @property
    def pattern(self) -> str:
        """The regular expression, as Python writes it."""
        return _GROUP_NAME.sub("(?P<", self.text)

    @cached_property
    def _searches(self) -> Callable[[str], object]:
        return re.compile(self.pattern).search

    def matches(self, value: str) -> bool:
        if self.is_always:
            return True
        values = list_names(value)
        if self._is_list:
            return not self.names.isdisjoint(values)
        return not self.problem and any(self._searches(each) for each in values)


def list_names(value: str) -> tuple[str, ...]:
    """What a matcher is held against: the value, and older names of the same tool."""
    return (value, *_OTHER_NAMES.get(value, ()))


def list_file_names(matcher: str) -> tuple[str, ...]:
    """The names that a FileChanged matcher asks to watch."""
    return tuple(name for part in matcher.split("|") if (name := part.strip()) and name != "*" and "/" not in name)
