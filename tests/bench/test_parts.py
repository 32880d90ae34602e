"""The parts of the benchmark run, small, and tell every figure that they have; nothing of it is kept."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from bench.aims import AIMS

ROOT = Path(__file__).parents[2]


SANDBOXES = ("bubblewrap", *(("bubblewrap as nobody",) if os.getuid() == 0 else ()), "Landlock")
PARTS = [pytest.param(name, marks=pytest.mark.needs(*SANDBOXES)) if name == "sandbox" else name for name in AIMS]


@pytest.mark.parametrize("part", PARTS)
def test_a_small_round_tells_every_figure_of_the_part(part):
    kept = [ROOT / "docs" / "benchmarks.md", *(ROOT / "bench" / "results").iterdir()]
    before = [path.read_bytes() for path in kept]

    done = subprocess.run(
        [sys.executable, "-m", "bench.run", "--only", part, "--rounds", "1", "--size", "0.01", "--forget"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=900,
        check=False,
    )

    assert (done.returncode, done.stderr) == (0, f"part {part}\n")
    titles = [re.split(r"  +", line)[0] for line in done.stdout.partition("\n\n")[0].splitlines()]
    known = [aim for aim in AIMS[part] if os.getuid() == 0 or not aim.key.endswith("_root")]
    assert titles == ["figure", *(aim.title for aim in known)]
    assert [path.read_bytes() for path in kept] == before
