"""Grep: what each engine answers for the same question, and how wrong questions are told."""

import os
import shutil

import pytest

from everturn.core.errors import InputFault, ToolFault
from everturn.ports.tool import ToolResult
from everturn.tools.grep import grep_tool
from everturn.tools.grep.tool import run_grep

TOOL = grep_tool()
ENGINES = [engine for engine in (shutil.which("rg"), "") if engine is not None]


@pytest.fixture(params=ENGINES, ids=lambda engine: "ripgrep" if engine else "python")
def search(request, desk):
    async def run(**fields):
        return await run_grep(TOOL.parse(fields), desk.context, engine=request.param)

    for age, (name, content) in enumerate(
        {
            "src/a.py": "import os\ndef first():\n    pass\n\n\ndef second():\n    return 1\n",
            "src/b.js": "function first() {}\n",
            "notes.md": "First of all\r\nsecond\r\n",
            ".hidden": "first\n",
            "skip.log": "first\n",
            ".gitignore": "*.log\n",
            ".git/config": "first\n",
            "blob.bin": b"first\0",
        }.items()
    ):
        os.utime(desk.write(name, content), (10_000 - age, 10_000 - age))
    return run


async def test_files_are_named_newest_first(search, shown):
    result = await search(pattern="first")

    assert result.content == "src/a.py\nsrc/b.js\n.hidden"
    assert shown(result) == {
        "mode": "files_with_matches",
        "numFiles": 3,
        "filenames": ["src/a.py", "src/b.js", ".hidden"],
    }


async def test_lines_are_shown_with_numbers_by_file_name(search, shown):
    result = await search(pattern="^def |FUNCTION", output_mode="content", **{"-i": True})

    assert result.content == "src/a.py:2:def first():\nsrc/a.py:6:def second():\nsrc/b.js:1:function first() {}"
    assert shown(result) == {
        "mode": "content",
        "numFiles": 2,
        "filenames": [],
        "content": result.content,
        "numLines": 3,
    }


async def test_context_is_marked_and_separated(search):
    result = await search(pattern="def", path="src/a.py", output_mode="content", **{"-A": 1, "-n": False})

    assert (
        result.content == "src/a.py:def first():\nsrc/a.py-    pass\n--\nsrc/a.py:def second():\nsrc/a.py-    return 1"
    )


async def test_only_the_matching_part_is_shown_on_request(search):
    result = await search(pattern="fir|sec", path="src/a.py", output_mode="content", **{"-o": True})

    assert result.content == "src/a.py:2:fir\nsrc/a.py:6:sec"


async def test_counts_come_with_their_sum(search, shown):
    result = await search(pattern="def|function", output_mode="count")

    assert result.content == "src/a.py:2\nsrc/b.js:1\n(3 matches in 2 files.)"
    assert shown(result)["numMatches"] == 3


async def test_a_line_end_of_two_characters_is_a_line_end(search):
    assert (await search(pattern="all$", output_mode="content")).content == "notes.md:1:First of all"


async def test_a_match_may_span_lines_on_request(search):
    result = await search(pattern="first.*pass", multiline=True, output_mode="content", path="src")

    assert result.content == "src/a.py:2:def first():\nsrc/a.py:3:    pass"


@pytest.mark.parametrize(
    ("fields", "names"),
    [
        ({"glob": "*.py"}, "src/a.py"),
        ({"glob": "!*.py"}, "src/b.js\n.hidden"),
        ({"type": "js"}, "src/b.js"),
        ({"type": "js", "glob": "*.py"}, "No matches found."),
        ({"path": "src"}, "src/a.py\nsrc/b.js"),
        ({"path": "skip.log"}, "skip.log"),
    ],
)
async def test_the_search_can_be_narrowed(search, fields, names):
    assert (await search(pattern="first", **fields)).content == names


async def test_an_answer_can_be_paged(search, shown):
    first = await search(pattern="first", head_limit=2)
    second = await search(pattern="first", head_limit=2, offset=2)
    third = await search(pattern="first", offset=9)

    assert first.content == "src/a.py\nsrc/b.js\n(1 to 2 of 3. Go on with offset=2, or narrow the search.)"
    assert (shown(first)["appliedLimit"], shown(second)["appliedOffset"]) == (2, 2)
    assert second.content == ".hidden"
    assert third.content == "No entries at this offset; there are 3."


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        ({"pattern": "(unclosed"}, "(?s)regular expression|regex parse error"),
        ({"pattern": "a", "path": "nowhere"}, "does not exist"),
        ({"pattern": "a\\nb"}, "Set `multiline`"),
        ({"pattern": "a", "type": "nonsense"}, "nonsense"),
        ({"pattern": "a", "type": "nonsense", "glob": "*"}, "does not go with `glob`"),
    ],
)
async def test_a_wrong_question_is_told(search, fields, text):
    with pytest.raises(ToolFault, match=text):
        await search(**fields)


async def test_an_abort_ends_the_search(search, desk):
    desk.abort.abort()

    with pytest.raises(ToolFault, match="interrupted"):
        await search(pattern="first")


async def test_a_pattern_that_looks_like_an_option_is_a_pattern(search, desk):
    desk.write("opt.txt", "--files\n")

    assert (await search(pattern="--files")).content == "opt.txt"


async def test_a_long_line_is_cut(search, desk):
    desk.write("long.txt", "needle" + "x" * 1_000)

    result = await search(pattern="needle", output_mode="content")

    assert result.content == f"long.txt:1:needle{'x' * 494}… (line cut)"


async def test_more_than_can_be_held_is_still_answered(search, desk):
    desk.write("flood1.txt", "needle in a haystack\n" * 150_000)
    desk.write("flood2.txt", "needle in a haystack\n" * 150_000)

    result = await search(pattern="needle", output_mode="content", head_limit=2)

    assert ":1:needle in a haystack\nflood" in result.content
    assert result.content.endswith("(There was more than could be read. Narrow the search.)")


async def test_the_tool_chooses_an_engine_by_itself(search, desk):
    assert await desk.use(TOOL, pattern="second", path="src/a.py") == await search(pattern="second", path="src/a.py")
    assert isinstance(await desk.use(TOOL, pattern="zzz"), ToolResult)


def test_a_wrong_mode_is_told_with_the_right_ones():
    with pytest.raises(InputFault, match='`output_mode`: expected one of "content", "count", "files_with_matches"'):
        TOOL.parse({"pattern": "a", "output_mode": "lines"})
