"""Whatever stands in the files of a repository: nothing raises, and before trust nothing but what tightens counts."""

import json
from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.settings.conftest import TRUSTING, Ground

from everturn.settings.keys import KEYS, Reach
from everturn.settings.trust import TrustState, refuses_variable

NAMES = [
    *(part for name in KEYS for part in name.split(".")),
    *(
        "permissions.allow",
        "permissions.deny",
        "env",
        "hooks",
        "statusLine",
        "mcpServers",
        "enableAllProjectMcpServers",
    ),
    *("", "denny", "SessionStart", "PATH", "ANTHROPIC_BASE_URL", "EVERTURN_TRUST", "\x1b[2J", "\ud83d\ude00"),
]
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-3, 9)
    | st.sampled_from(["Bash", "Bash(*)", "Bash(", "bypassPermissions", "x"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(NAMES), inner, max_size=4),
    max_leaves=12,
)
PLAUSIBLE = st.fixed_dictionaries(
    {},
    optional={
        "permissions": st.dictionaries(
            st.sampled_from(["allow", "deny", "ask", "defaultMode", "additionalDirectories"]),
            st.lists(st.sampled_from(["Bash", "Read(x)", "/"]), max_size=3) | st.sampled_from(["acceptEdits", "plan"]),
        ),
        "env": st.dictionaries(st.sampled_from(["PATH", "https_proxy", "ANTHROPIC_BASE_URL", "A"]), st.just("x")),
        "hooks": st.dictionaries(st.sampled_from(["Stop", "SessionStart"]), st.just([])),
        "model": st.just("theirs"),
        "apiKeyHelper": st.just("evil"),
    },
)
FILES = st.dictionaries(
    st.sampled_from(["project", "foreign project", "local", "foreign local", "servers"]),
    PLAUSIBLE | st.dictionaries(st.sampled_from(NAMES), VALUES, max_size=5),
    min_size=1,
    max_size=4,
)
TIGHTENING = {name for name, key in KEYS.items() if key.reach is Reach.ANYWHERE}


def on_ground(files: dict[str, dict[str, object]], place: str) -> Ground:
    ground = Ground(Path(place))
    for name, values in files.items():
        ground.write(name, json.dumps(values))
    return ground


@given(FILES)
@settings(max_examples=150, deadline=None)
def test_before_trust_no_repository_gains_anything(files):
    with TemporaryDirectory() as place:
        merged = on_ground(files, place).merge({"PATH": "/bin"}, trust=TrustState())
    assert set(merged.found) <= TIGHTENING
    assert merged.env == {"PATH": "/bin"}
    assert {rule.ruling for rule in merged.permissions.rules} <= {"deny", "ask"}
    assert (merged.permissions.paths, merged.definitions) == ((), ())


@given(FILES)
@settings(max_examples=150, deadline=None)
def test_even_trusted_no_repository_leads_our_words_elsewhere(files):
    with TemporaryDirectory() as place:
        merged = on_ground(files, place).merge({"PATH": "/bin"}, trust=TRUSTING)
    assert [name for name in merged.env if refuses_variable(name)] == []
    assert (
        "permissions.defaultMode" not in merged.found
        or merged.found["permissions.defaultMode"].value != "bypassPermissions"
    )
    assert not [name for name in merged.found if KEYS[name].reach is Reach.MANAGED]
