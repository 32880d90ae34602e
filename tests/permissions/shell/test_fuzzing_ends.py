"""Whoever is killed while the fuzzer's commands run leaves none of them behind."""

import asyncio
import sys
from pathlib import Path

from tests.tools.processes import is_alive, until

ROOT = Path(__file__).parents[3]
SCRIPT = """
import sys
from pathlib import Path
from tests.permissions.shell.fuzzing.stubs import run_batch
run_batch(Path(sys.argv[1]), ["echo $BASHPID > ../../pid; exec 7<> <(:); read -u 7 never"])
"""


async def test_a_killed_run_leaves_no_driver(tmp_path):
    root = tmp_path / "world"
    pid = root / "pid"
    run = await asyncio.create_subprocess_exec(sys.executable, "-c", SCRIPT, str(root), cwd=ROOT)
    await until(lambda: pid.exists() and pid.read_text().strip())
    running = int(pid.read_text())
    assert is_alive(running)

    run.kill()
    await run.wait()

    await until(lambda: not is_alive(running))
