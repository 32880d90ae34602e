"""Regular expressions that are compiled at their first use, because most runs need few of the hundreds that exist."""

import re
from typing import Any, AnyStr, cast


class _LatePattern:
    """Stands for a `re.Pattern`; each method is looked up in it once."""

    def __init__(self, pattern: Any, flags: int) -> None:
        self._source = pattern, flags

    def __getattr__(self, name: str) -> Any:
        value = getattr(re.compile(*self._source), name)
        setattr(self, name, value)
        return value


def compile_late(pattern: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    """For patterns of a module. Functions of `re` itself do not take it in place of a pattern; its methods do everything."""
    return cast("re.Pattern[AnyStr]", _LatePattern(pattern, flags))
