"""One word means one thing: a public class name stands in one module, or the reason for a second one stands here."""

import ast
from collections import defaultdict
from pathlib import Path

import everturn

SOURCE = Path(everturn.__file__).parent
OTHER_SIDE = "the model server plays the other side, in the words of the API"
BLOCK_AND_TOOL = "the block that is sent, and what a tool returns"
REASONS = {
    "Ask": OTHER_SIDE,
    "Call": OTHER_SIDE,
    "Model": OTHER_SIDE,
    "Text": OTHER_SIDE,
    "Thinking": OTHER_SIDE,
    "ToolResult": BLOCK_AND_TOOL,
    "Wire": OTHER_SIDE,
}


def test_a_public_class_name_stands_in_one_module():
    places = defaultdict(list)
    for path in sorted(SOURCE.rglob("*.py")):
        for node in ast.parse(path.read_text("utf-8")).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                places[node.name].append(str(path.relative_to(SOURCE)))

    twice = {name: files for name, files in places.items() if len(files) > 1}

    assert {name: files for name, files in twice.items() if name not in REASONS} == {}, "give one of them another name"
    assert sorted(REASONS) == sorted(twice), "a reason for a name that stands in one module only: take it away"
