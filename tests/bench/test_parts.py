"""The parts of the benchmark run, small, and tell every figure that they have; nothing of it is kept."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
from bench.aims import AIMS

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("part", AIMS)
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
    titles = [re.split(r"  +", line)[0] for line in done.stdout.splitlines()]
    assert titles == ["figure", *(aim.title for aim in AIMS[part])]
    assert [path.read_bytes() for path in kept] == before
