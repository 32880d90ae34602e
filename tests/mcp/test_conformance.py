"""The official conformance suite drives the client; a scenario without a check counts as failed."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
from tests.mcp.foreign import CONFORMANCE, NEXT_CONFORMANCE, find_new_node
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


STATELESS = (
    "tools_call",
    "request-metadata",
    "sep-2322-client-request-state",
    "http-standard-headers",
    "http-custom-headers",
    "http-invalid-tool-headers",
    "auth/iss-supported",
    "auth/metadata-issuer-mismatch",
)


def run_scenario(suite, scenario, folder, *more):
    """Passed checks, and all of them."""
    script = suite / "node_modules" / "@modelcontextprotocol" / "conformance" / "dist" / "index.js"
    command = (find_new_node(), script, "client", "--scenario", scenario, "--timeout", "120000", *more)
    for _ in range(TIMED.get(scenario, 1)):
        ended = subprocess.run(
            [*map(str, command), "--command", f"{sys.executable} {CLIENT}"],
            cwd=folder,
            env=clean_environment(),
            capture_output=True,
            text=True,
            timeout=PATIENCE_S,
            check=False,
        )
        told = re.search(r"Passed: (\d+)/(\d+), 0 failed", ended.stdout + ended.stderr)
        if told is not None:
            return int(told[1]), int(told[2])
    pytest.fail(ended.stdout + ended.stderr)


@pytest.mark.needs("Node", "package registry")
@pytest.mark.parametrize("scenario", SCENARIOS)
def test_a_scenario_of_the_session_era_passes(scenario, tmp_path):
    passed, checks = run_scenario(find_node_modules("mcp-conformance", CONFORMANCE), scenario, tmp_path)

    assert passed == checks > 0


@pytest.mark.needs("Node", "package registry")
@pytest.mark.parametrize("scenario", STATELESS)
def test_a_scenario_of_the_stateless_era_passes(scenario, tmp_path):
    suite = find_node_modules("mcp-conformance-next", NEXT_CONFORMANCE)

    passed, checks = run_scenario(suite, scenario, tmp_path, "--spec-version", "2026-07-28")

    assert passed == checks > 0
