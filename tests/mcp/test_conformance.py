"""The official conformance suite drives the client; a scenario without a check counts as failed."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
from tests.mcp.foreign import CONFORMANCE, find_new_node
from tests.shelf import PATIENCE_S, clean_environment, find_node_modules

CLIENT = Path(__file__).with_name("conformance_client.py")
SCENARIOS = (
    "initialize",
    "tools_call",
    "elicitation-sep1034-client-defaults",
    "sse-retry",
    "auth/metadata-default",
    "auth/metadata-var1",
    "auth/metadata-var2",
    "auth/metadata-var3",
    "auth/scope-from-www-authenticate",
    "auth/scope-from-scopes-supported",
    "auth/scope-omitted-when-undefined",
    "auth/scope-step-up",
    "auth/scope-retry-limit",
    "auth/token-endpoint-auth-basic",
    "auth/token-endpoint-auth-post",
    "auth/token-endpoint-auth-none",
    "auth/2025-03-26-oauth-endpoint-fallback",
)
TIMED = {"sse-retry": 3}
"""It measures by the clock on the wall how soon the client comes back: on a busy machine, one of so many attempts counts."""


@pytest.mark.needs("Node", "package registry")
@pytest.mark.parametrize("scenario", SCENARIOS)
def test_a_scenario_passes(scenario, tmp_path):
    suite = find_node_modules("mcp-conformance", CONFORMANCE) / "node_modules" / "@modelcontextprotocol" / "conformance"
    command = (find_new_node(), suite / "dist" / "index.js", "client", "--scenario", scenario, "--timeout", "120000")

    for _ in range(TIMED.get(scenario, 1)):
        ended = subprocess.run(
            [*map(str, command), "--command", f"{sys.executable} {CLIENT}"],
            cwd=tmp_path,
            env=clean_environment(),
            capture_output=True,
            text=True,
            timeout=PATIENCE_S,
            check=False,
        )
        told = re.search(r"Passed: (\d+)/(\d+), 0 failed", ended.stdout + ended.stderr)
        if told is not None:
            break

    assert told is not None, ended.stdout + ended.stderr
    passed, all_checks = map(int, told.groups())
    assert passed == all_checks > 0
