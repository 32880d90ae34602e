"""The two kinds of sandbox, as settings that switch one on: what both can hold is tested with both."""

import pytest

NOWHERE = "/nonexistent/bwrap"
LANDLOCK = {"enabled": True, "bwrapPath": NOWHERE, "autoAllowBashIfSandboxed": True}
KINDS = {
    "bubblewrap": pytest.param({"enabled": True}, marks=pytest.mark.needs("bubblewrap")),
    "landlock": pytest.param(LANDLOCK, marks=pytest.mark.needs("Landlock")),
}
