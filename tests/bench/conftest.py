"""The benchmarks are no part of the package: they are found beside the tests."""

import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))
