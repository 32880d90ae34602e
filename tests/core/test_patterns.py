"""Patterns that are compiled late: they match as others do, and cost nothing until they are used."""

import re

import pytest

from everturn.core.patterns import compile_late


@pytest.mark.parametrize(("pattern", "flags", "text"), [(r"(a+)b", 0, "xaab"), (rb"A", re.IGNORECASE, b"cba")])
def test_a_late_pattern_matches_as_a_compiled_one(pattern, flags, text):
    late, early = compile_late(pattern, flags), re.compile(pattern, flags)
    assert late.search(text)[0] == early.search(text)[0]
    assert late.fullmatch(text) == early.fullmatch(text)
    assert late.sub(text, text) == early.sub(text, text)
    assert (late.pattern, late.flags) == (early.pattern, early.flags)


def test_it_is_not_compiled_before_its_first_use():
    broken = compile_late("(")
    with pytest.raises(re.error):
        broken.search("")
