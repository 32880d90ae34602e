"""Grep: what each engine answers for the same question, and how wrong questions are told."""

import asyncio
import os
import sys
from functools import partial
from pathlib import Path

import pytest

from everturn.core.errors import InputFault, ToolFault
from everturn.ports.tool import ToolResult
from everturn.sandbox.held.holder import CommandHolder
from everturn.sandbox.held.premises import Premises
from everturn.tools.grep import grep_tool
from everturn.tools.grep.ignore import has_odd_file
from everturn.tools.grep.program import run_program
from everturn.tools.grep.python_engine import run_python
from everturn.tools.grep.python_search import search_tree
from everturn.tools.grep.query import FileMatches, Matches, plan_query
from everturn.tools.grep.ripgrep import find_ripgrep, plan_arguments, run_ripgrep
from everturn.tools.grep.tool import choose_engine, run_grep

TOOL = grep_tool()
ENGINES = {"ripgrep": partial(run_ripgrep, find_ripgrep()), "python": run_python}
if not find_ripgrep():
    del ENGINES["ripgrep"]


@pytest.fixture(
    params=[*ENGINES, *(pytest.param(f"{name} held", marks=pytest.mark.needs("Landlock")) for name in ENGINES)]
)
async def search(request, desk):
    engine, _, held = request.param.partition(" ")
    holder = CommandHolder(Premises(folders=lambda: (str(desk.folder),), home="/root")) if held else None

    async def run(**fields):
        return await run_grep(TOOL.parse(fields), desk.context, ENGINES[engine], holder)

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
    yield run
    if holder is not None:
        await holder.aclose()


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


async def test_one_match_is_told_as_one(search):
    assert (
        await search(pattern="first", path="src/a.py", output_mode="count")
    ).content == "src/a.py:1\n(1 match in 1 file.)"


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
        ({"glob": "*.py,*.nothing"}, "src/a.py"),
        ({"glob": "*.nothing, *.py"}, "src/a.py"),
        ({"glob": "*.{nothing,py},*.md"}, "src/a.py"),
        ({"glob": "!*.py,!*.md"}, "src/b.js\n.hidden"),
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


async def test_a_pattern_that_never_ends_is_ended_with_its_process(desk):
    desk.write("a.txt", "a" * 40 + "b\n")
    query = plan_query(TOOL.parse({"pattern": "(a+)+$"}), str(desk.folder), None)

    with pytest.raises(ToolFault, match="took longer than 3 s"):
        await run_python(query, desk.abort, max_wait_s=3)


async def test_an_abort_ends_a_pattern_that_never_ends(desk):
    desk.write("a.txt", "a" * 40 + "b\n")
    query = plan_query(TOOL.parse({"pattern": "(a+)+$"}), str(desk.folder), None)
    searching = asyncio.ensure_future(run_python(query, desk.abort))
    await asyncio.sleep(0)
    desk.abort.abort()

    with pytest.raises(ToolFault, match="interrupted"):
        await searching


def test_a_tree_that_takes_too_long_is_answered_in_part(desk):
    desk.write("a.txt", "needle\n")
    query = plan_query(TOOL.parse({"pattern": "needle"}), str(desk.folder), None)

    assert search_tree(query, max_wait_s=-1) == Matches(files=(), complete=False)


def slow_program(desk, output):
    """Stands in for `rg`: prints, and goes on for ever."""
    program = desk.write("slow-rg", f"#!/bin/sh\nprintf '{output}'\nexec sleep 600\n")
    program.chmod(0o755)
    return str(program)


async def test_a_program_that_takes_too_long_is_ended_and_its_rows_are_kept(desk):
    output = await run_program(
        [slow_program(desk, r"a.txt\0")], str(desk.folder), desk.abort, most_bytes=100, max_wait_s=3
    )

    assert (output.data, output.complete) == (b"a.txt\0", False)


async def test_a_program_that_says_too_much_is_ended(desk):
    output = await run_program(
        [slow_program(desk, "x" * 200)], str(desk.folder), desk.abort, most_bytes=100, max_wait_s=60
    )

    assert (output.complete, len(output.data)) == (False, 200)


async def test_a_program_that_cannot_be_started_is_told(desk):
    with pytest.raises(ToolFault, match="could not be started"):
        await run_program([str(desk.folder)], str(desk.folder), desk.abort, most_bytes=1)


async def test_part_of_an_answer_is_told_as_such(desk):
    async def cut(query, abort, hold):
        return Matches(files=(FileMatches(path="a.txt"),), complete=False)

    async def nothing(query, abort, hold):
        return Matches(files=(), complete=False)

    part = await run_grep(TOOL.parse({"pattern": "x"}), desk.context, cut)
    none = await run_grep(TOOL.parse({"pattern": "x"}), desk.context, nothing)

    notice = "(There was more than could be read. Narrow the search.)"
    assert part.content == f"a.txt\n{notice}"
    assert none.content == f"No matches found so far.\n{notice}"


async def test_names_of_any_bytes_are_told_as_text(search, desk):
    desk.write(os.fsdecode(b"caf\xe9.txt"), "needle\n")
    desk.write("two\nlines.txt", "needle\n")

    for mode, form in (("content", "{}:1:needle"), ("count", "{}:1")):
        rows = (await search(pattern="needle", output_mode=mode)).content
        assert form.format("caf\ufffd.txt") in rows
        assert form.format("two\nlines.txt") in rows


async def test_what_was_left_out_is_counted(search, shown):
    files = shown(await search(pattern="first", head_limit=1))
    lines = shown(await search(pattern="first|second", head_limit=1, output_mode="content"))

    assert (files["totalFiles"], files["appliedLimit"]) == (3, 1)
    assert (lines["totalFiles"], lines["totalLines"]) == (4, 5)


def test_ripgrep_is_taken_from_the_path_and_else_from_beside_us(monkeypatch, tmp_path):
    beside = find_ripgrep_without_a_path(monkeypatch)
    own = tmp_path / "rg"
    own.write_text("#!/bin/sh\n")
    own.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))

    assert find_ripgrep() == str(own)
    assert beside == "" or Path(beside).parent == Path(sys.executable).parent


def find_ripgrep_without_a_path(monkeypatch):
    monkeypatch.setenv("PATH", "/nowhere")
    return find_ripgrep()


@pytest.mark.parametrize("path", ["/proc/self/environ", "/proc", "/proc/self"])
async def test_the_environments_of_processes_are_not_searched(search, path):
    with pytest.raises(ToolFault, match="/proc is not searched"):
        await search(pattern="KEY", path=path)


def test_a_search_of_everything_leaves_out_proc():
    query = plan_query(TOOL.parse({"pattern": "KEY", "glob": "**/environ"}), "/", None)

    arguments = plan_arguments(query, in_repository=False)

    assert arguments[arguments.index("**/environ") + 1 :][:4] == ["--glob", "!.git", "--glob", "!/proc"]


async def test_a_search_program_gets_no_keys_and_no_place_of_libraries(desk, monkeypatch):
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-made-up")
    monkeypatch.setenv("LD_LIBRARY_PATH", ".")

    output = await run_program(["env"], str(desk.folder), desk.abort, most_bytes=10_000)

    assert b"PATH=" in output.data
    assert b"sk-made-up" not in output.data
    assert b"LD_LIBRARY_PATH" not in output.data


async def test_bytes_that_are_not_text_are_shown_as_such(search, desk):
    desk.write("latin.txt", b"caf\xe9 needle\n")

    assert (await search(pattern="needle", output_mode="content")).content == "latin.txt:1:caf\ufffd needle"


def test_a_glob_with_a_comma_is_a_list_and_may_still_be_the_name_of_a_file():
    parted = {
        "*.py": ("*.py",),
        "*.{ts,tsx}": ("*.{ts,tsx}",),
        "[a,b].py": ("[a,b].py",),
        "a\\,b": ("a\\,b",),
        "*.py,*.{ts,{c,h}}": ("*.py,*.{ts,{c,h}}", "*.py", "*.{ts,{c,h}}"),
        "a,b.txt": ("a,b.txt", "a", "b.txt"),
        "*.py, !test_*,": ("*.py", "!test_*"),
    }
    assert {text: plan_query(TOOL.parse({"pattern": "x", "glob": text}), "/", None).globs for text in parted} == parted


@pytest.mark.parametrize("name", ["pipe.py", ".gitignore", ".ignore", ".rgignore", ".git", ".git/info/exclude"])
@pytest.mark.parametrize("engine", ["python", "chosen", pytest.param("held", marks=pytest.mark.needs("Landlock"))])
async def test_a_pipe_in_a_nested_folder_keeps_no_search_waiting(desk, engine, name):
    """A search that had waited for its limit would say that there was more."""
    desk.write("src/deep/a.py", "needle\n")
    desk.write("src/last/b.py", "needle\n")
    pipe = desk.folder / "src/deep" / name
    pipe.parent.mkdir(parents=True, exist_ok=True)
    os.mkfifo(pipe)
    chosen = run_python if engine == "python" else choose_engine((str(desk.folder),))
    holder = CommandHolder(Premises(folders=lambda: (str(desk.folder),), home="/root")) if engine == "held" else None

    found = await run_grep(TOOL.parse({"pattern": "needle"}), desk.context, chosen, holder)

    assert sorted(found.content.splitlines()) == ["src/deep/a.py", "src/last/b.py"]
    if holder is not None:
        await holder.aclose()


@pytest.mark.parametrize(("name", "is_odd"), [(".ignore", True), (".git", True), ("pipe", False)])
def test_an_odd_file_is_found_where_a_search_would_open_it(tmp_path, name, is_odd):
    (tmp_path / "a/b").mkdir(parents=True)
    os.mkfifo(tmp_path / "a" / name)

    assert has_odd_file(str(tmp_path), None, lambda: False) is is_odd
    assert has_odd_file(str(tmp_path / "a/b"), None, lambda: False) is is_odd
    assert has_odd_file(str(tmp_path), f"a/{name}", lambda: False)
    assert not has_odd_file(str(tmp_path), None, lambda: True)


@pytest.mark.needs("ripgrep")
async def test_a_pipe_in_the_place_of_the_one_file_that_is_searched_keeps_nobody_waiting(desk):
    os.mkfifo(desk.folder / "a.py")
    query = plan_query(TOOL.parse({"pattern": "needle"}), str(desk.folder), "a.py")

    assert (await choose_engine(())(query, desk.abort, None)).complete
