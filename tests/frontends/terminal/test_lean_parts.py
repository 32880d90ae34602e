"""The first paint waits for each import: the parts below it load nothing large."""

import subprocess
import sys

import pytest

PARTS = (
    "inputs", "keys", "key_sequences", "fuzzy", "files", "history", "diff_lines", "highlight", "languages", "code_rows", "reports", "palette",
    "key_bindings", "key_bindings_file",
)  # fmt: skip
LARGE = (
    "asyncio",
    "prompt_toolkit",
    "difflib",
    "json",
    "urllib",
    "subprocess",
    "threading",
    "fcntl",
    "unicodedata",
    "hashlib",
)
PROGRAM = """
import sys, msgspec, re, base64
before = set(sys.modules)
import everturn.frontends.terminal.{part}
print(*sorted(set(sys.modules) - before), sep="\\n")
"""


@pytest.mark.parametrize("part", PARTS)
def test_a_part_loads_nothing_large(part):
    ran = subprocess.run([sys.executable, "-c", PROGRAM.format(part=part)], capture_output=True, text=True, check=True)
    loaded = ran.stdout.split()

    assert [name for name in loaded if name.partition(".")[0] in LARGE] == []
    others = {name for name in loaded if name.startswith("everturn.")}
    assert {name for name in others if not name.startswith(("everturn.frontends", "everturn.core"))} == set()
