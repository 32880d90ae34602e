"""The page of all tools is the code's own account of itself."""

from pathlib import Path

import pytest

from everturn.permissions.modes import ModePolicy
from everturn.ports.policy import Call, Ruling
from everturn.tools.builtin import NAMES
from everturn.tools.document import PAGE, SHOWN, list_tools, render_page, render_permission

ROOT = Path(__file__).parents[2]
FREE_INSIDE = "free in the working folder"
FREE_WITH_EDITS = f"asked; `acceptEdits`: {FREE_INSIDE}"
JUDGED = {
    (Ruling.ALLOW, Ruling.ALLOW, Ruling.ALLOW): "free",
    (Ruling.ALLOW, Ruling.ASK, Ruling.ALLOW): FREE_INSIDE,
    (Ruling.ASK, Ruling.ASK, Ruling.ALLOW): FREE_WITH_EDITS,
    (Ruling.ASK, Ruling.ASK, Ruling.ASK): "asked",
}
"""Inside and outside the folder by default, and inside with edits accepted."""


def test_the_page_is_what_the_code_says():
    written = (ROOT / PAGE).read_text()

    assert written == render_page(), "run: python -m everturn.tools.document --write"


@pytest.mark.parametrize("tool", list_tools(), ids=lambda tool: tool.name)
def test_the_permission_on_the_page_is_the_one_that_the_gate_asks_for(tool, tmp_path):
    def judge(mode, place):
        fields = {field: str(place) for field in ("file_path", "path", "notebook_path")}
        call = Call(id="toolu_1", name=tool.name, input=fields, traits=tool.traits(None), line=tool.name)
        return ModePolicy(mode, str(tmp_path)).judge(call).ruling

    rulings = (
        judge("default", tmp_path / "a"),
        judge("default", "/elsewhere"),
        judge("acceptEdits", tmp_path / "a"),
    )
    if tool.traits(None).needs_person:
        assert render_permission(tool) == "the person answers"
        assert Ruling.ALLOW not in rulings
    else:
        assert render_permission(tool) == JUDGED[rulings]


def test_no_tool_is_left_out():
    assert [tool.name for tool in list_tools()] == list(NAMES)
    assert set(SHOWN) == set(NAMES)
