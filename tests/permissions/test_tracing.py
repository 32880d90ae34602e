"""Where a path leads, as the policy sees it: the same place that the tools open, and every name on the way."""

import os

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from everturn.core.errors import ToolFault
from everturn.permissions.paths.trace import Trace, trace_path
from everturn.workspace.opening import open_place

NAMES = st.sampled_from(["deep", "er", "file", "up", "top", "hop", "..", ".", "", "nothing", "loop", "broken"])


@pytest.fixture(scope="module")
def tree(tmp_path_factory):
    folder = tmp_path_factory.mktemp("walked").resolve()
    (folder / "deep/er").mkdir(parents=True)
    (folder / "deep/er/file").write_text("text")
    for name, target in {"up": "deep/er", "hop": "up/../../up", "loop": "loop", "broken": "deep/none/x"}.items():
        (folder / name).symlink_to(target)
    (folder / "deep/top").symlink_to(folder)
    return folder


@settings(max_examples=300, deadline=None)
@given(names=st.lists(NAMES, max_size=7))
def test_what_is_judged_is_what_a_tool_would_open(tree, names):
    path = "/".join([str(tree), *names])

    trace = trace_path(path)

    try:
        with open_place(path) as place:
            assert trace.target == place.path
    except ToolFault:
        return
    assert trace.ends[-1] == trace.target
    assert os.path.normpath(path) in trace.ends


def test_every_name_on_the_way_is_told(tree):
    assert trace_path(f"{tree}/deep/top/up/file") == Trace(
        ends=(f"{tree}/deep/top/up/file", f"{tree}/up/file", f"{tree}/deep/er/file"), target=f"{tree}/deep/er/file"
    )


@pytest.mark.parametrize("path", ["/a\0b", "/" + "x" * 300, "/" + "d/" * 3_000, "/\ud800"])
def test_what_no_system_opens_leads_nowhere(path):
    assert trace_path(path).target == ""


def test_slashes_are_one_slash(tree):
    assert trace_path(f"//{tree}///deep/./er/file/") == Trace(
        ends=(f"{tree}/deep/er/file",), target=f"{tree}/deep/er/file"
    )
