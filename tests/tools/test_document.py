"""The page of all tools is the code's own account of itself."""

from pathlib import Path

import pytest
from development.tools_page import SHOWN, NoSearcher, example, list_tools, render_page, render_permission

from everturn.permissions.policy import RulePolicy
from everturn.ports.policy import Call, Ruling
from everturn.tools.announcements import FILE, AnnouncedTool, encode_announcements
from everturn.tools.builtin import NAMES, Web, builtin_tools

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
    written = (ROOT / "docs/reference/tools.md").read_text()

    assert written == render_page(), "run: make pages"


def test_the_model_is_told_what_the_code_says():
    assert FILE.read_bytes() == encode_announcements(list_tools()), "run: make pages"


def test_a_tool_says_the_same_of_itself_before_and_after_its_code_is_loaded():
    offered = builtin_tools(NAMES, Web(searcher=NoSearcher()), (example,), read_tokens=7)
    announced = [tool for tool in offered if isinstance(tool, AnnouncedTool)]

    assert [tool.name for tool in offered] == list(NAMES)
    assert {tool.name for tool in offered} - {tool.name for tool in announced} == {"Read", "ToolSearch"}
    assert encode_announcements(announced) == encode_announcements(tool.made for tool in announced)


@pytest.mark.parametrize("tool", list_tools(), ids=lambda tool: tool.name)
def test_the_permission_on_the_page_is_the_one_that_the_gate_asks_for(tool, tmp_path):
    def judge(mode, place):
        fields = {field: str(place) for field in ("file_path", "path", "notebook_path")} | {"command": "make"}
        call = Call(id="toolu_1", name=tool.name, input=fields, traits=tool.traits(None), line=tool.name)
        return RulePolicy(mode, str(tmp_path)).judge(call).ruling

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
