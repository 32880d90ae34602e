"""An edit that finds nothing tells the model what stands there instead, and soon."""

import time

import pytest

from everturn.tools.edit.nearest import explain_absence

CODE = """\
def total(items):
\tresult = 0
\tfor item in items:
\t\tresult += item.price
\treturn result   # it's done
"""


@pytest.mark.parametrize(
    ("old", "said"),
    [
        ("     1\tdef total(items):\n     2\t\tresult = 0", "begins with line numbers"),
        ("def total(items):\\n\tresult = 0", "if its `\\n` were real line ends"),
        (
            "    result = 0\n    for item in items:",
            "differs only in whitespace (indentation, tabs, blanks at line ends). From line 2 on the file has:\n\tresult = 0\n\tfor",
        ),
        (
            "return result   # it’s done",  # noqa: RUF001 - the look-alike is the case
            "differs only in typographic quotes, dashes or blanks. From line 5 on the file has:\n\treturn result   # it's done\n",
        ),
        ("DEF TOTAL(items):", "letter case. From line 1 on the file has:\ndef total(items):\n"),
        (
            "\n\nfor item in things:\n\tresult += item.cost",
            "The nearest text differs. From line 1 on the file has:\ndef total(items):\n\tresult = 0\n\tfor item in items:\n",
        ),
        ("wholly unlike anything", "Nothing in the file is like it"),
        (" \n ", "Nothing in the file is like it"),
    ],
)
def test_the_cause_is_named_and_the_place_is_shown(old, said):
    assert said in explain_absence(old, CODE)


@pytest.mark.parametrize("line", ["x = compute(alpha, beta, gamma)\n", "a" * 5_000 + "\n"])
def test_a_large_file_does_not_hold_us(line):
    text = line * (20_000_000 // len(line))
    started = time.process_time()

    explain_absence("y = compute(alpha, beta, delta)\nand more", text)

    assert time.process_time() - started < 2


def test_a_long_candidate_is_cut():
    text = "".join(f"  line {number}\n" for number in range(50))

    said = explain_absence(text.replace("  ", "\t"), text)

    assert "  line 11\n[…]\nCopy" in said


def test_the_sign_for_a_nul_is_not_the_nul():
    text = "one\ntorn \0 line\n"

    assert "stands for a NUL byte" in explain_absence("torn ␀ line", text)
    assert "From line 2 on the file has:\ntorn ␀ line\n" in explain_absence("torn ? line", text)
