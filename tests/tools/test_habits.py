"""What models habitually send: taken where its meaning is certain, refused by name where it is not."""

import json

import pytest
from tests.tools.test_contract import CALLS, NAMES, tool_named

from everturn.core.errors import InputFault
from everturn.core.inputs import settle_input
from everturn.tools.definition.decorator import tool
from everturn.tools.glob import glob_tool
from everturn.tools.grep.tool import grep_tool

KINDS = {"integer", "number", "boolean", "array", "object"}


def kinds_of(part, defined):
    if "$ref" in part:
        part = defined[part["$ref"].removeprefix("#/$defs/")]
    if "anyOf" in part:
        return {kind for choice in part["anyOf"] for kind in kinds_of(choice, defined)}
    return {part.get("type", "string" if "enum" in part else "")}


def list_fields():
    for name in NAMES:
        schema = tool_named(name).schema
        for field, part in schema["properties"].items():
            yield name, field, kinds_of(part, schema.get("$defs", {})), field in schema.get("required", ())


def no_variable(field, name, rest):
    return f"`{field}`: expected the path itself, got the variable {name} in '{name}{rest}' (`echo $TMPDIR` prints it)."


SAMPLES = {"integer": 3, "number": 3, "boolean": True, "array": [], "object": {}}


@pytest.mark.parametrize(("name", "field", "kinds", "required"), list(list_fields()))
def test_every_field_of_every_tool_takes_its_value_as_text_and_null_for_left_out(name, field, kinds, required):
    made = tool_named(name)
    for kind in kinds & KINDS:
        value = CALLS[name].get(field, SAMPLES[kind])
        given = {**CALLS[name], field: json.dumps(value)}
        assert made.settle(given, "/") == {**CALLS[name], field: value}
        assert made.parse(made.settle(given, "/")) == made.parse(made.settle({**CALLS[name], field: value}, "/"))
    if not required:
        without = {key: value for key, value in CALLS[name].items() if key != field}
        assert made.settle({**CALLS[name], field: None}, "/") == without


@pytest.mark.parametrize("name", NAMES)
def test_an_input_that_is_as_it_should_be_stays_as_it_is(name):
    assert tool_named(name).settle(CALLS[name], "/") == CALLS[name]


@tool
def own(names: list[str], options: dict[str, int] | None = None, size: int | str = 0):
    """A tool of a library's user."""


@pytest.mark.parametrize(
    ("given", "settled"),
    [
        ({"names": '["a", "b"]'}, {"names": ["a", "b"]}),
        ({"names": ["a"], "options": '{"x": "1"}'}, {"names": ["a"], "options": {"x": "1"}}),
        ({"names": ["a"], "options": None}, {"names": ["a"], "options": None}),
        ({"names": ["a"], "size": "12"}, {"names": ["a"], "size": "12"}),
        ({"names": "[1, 2"}, {"names": "[1, 2"}),
        ({"names": "a"}, {"names": "a"}),
        ({"names": None}, {"names": None}),
    ],
)
def test_tools_of_others_are_read_as_kindly(given, settled):
    assert own.settle(given, "/") == settled


def test_a_ready_schema_of_somebody_else_is_served_too():
    schema = {
        "type": "object",
        "properties": {
            "labels": {"type": "array", "items": {"$ref": "#/$defs/Label"}},
            "limit": {"anyOf": [{"type": "integer", "minimum": 1}, {"type": "null"}]},
            "state": {"type": "string", "enum": ["open", "closed"]},
            "any": {},
        },
        "required": ["labels"],
        "$defs": {"Label": {"type": "object", "properties": {"size": {"type": "number"}}}},
    }

    given = {"labels": '[{"size": "1.5"}]', "limit": "10", "state": "", "any": "[1]", "more": None}

    assert settle_input(schema, given) == {"labels": [{"size": 1.5}], "limit": 10, "any": "[1]", "more": None}


def test_a_list_as_text_that_is_no_json_is_explained():
    with pytest.raises(InputFault) as fault:
        own.parse({"names": '["a", '})

    assert str(fault.value) == (
        "`names`: expected `array`, got `str` ('[\"a\", '). The text is no valid JSON either: Input data was truncated. "
        "Send the value itself, not a text of it."
    )


@pytest.mark.parametrize(
    ("name", "given", "settled"),
    [
        ("Read", {"file_path": "a", "offset": 0}, {"file_path": "a"}),
        ("Read", {"file_path": "a", "offset": "0", "limit": 0}, {"file_path": "a"}),
        ("Read", {"file_path": "a.pdf", "pages": 3}, {"file_path": "a.pdf", "pages": "3"}),
        ("Read", {"file_path": "file:///p/a%20b.py"}, {"file_path": "/p/a b.py"}),
        ("Write", {"file_path": "file://localhost/p/a", "content": ""}, {"file_path": "/p/a", "content": ""}),
        ("NotebookEdit", {"notebook_path": "file:///p/a.ipynb"}, {"notebook_path": "/p/a.ipynb"}),
        ("Bash", {"command": ["bash", "-c", "echo 'a b'"]}, {"command": """bash -c 'echo '"'"'a b'"'"''"""}),
        ("Bash", {"command": "ls", "timeout": 0}, {"command": "ls"}),
        ("Glob", {"pattern": "*.py", "path": ""}, {"pattern": "*.py"}),
        ("Glob", {"pattern": "/p/src/**/*.py"}, {"pattern": "src/**/*.py"}),
        ("Glob", {"pattern": "/p/*.py", "path": "/p/"}, {"pattern": "*.py", "path": "/p/"}),
        ("Glob", {"pattern": "/usr/lib/*.so"}, {"pattern": "*.so", "path": "/usr/lib"}),
        ("Glob", {"pattern": "../x/*.py"}, {"pattern": "*.py", "path": "./../x"}),
        ("Glob", {"pattern": "./src//./*.py"}, {"pattern": "src/*.py"}),
        ("Glob", {"pattern": ["*.py", "*.md"]}, {"pattern": "*.py,*.md"}),
        ("Glob", {"pattern": '["*.py", "*.md"]'}, {"pattern": "*.py,*.md"}),
        ("Glob", {"pattern": '["abc]*.py'}, {"pattern": '["abc]*.py'}),
        ("Grep", {"pattern": "x", "path": "", "glob": "", "type": ""}, {"pattern": "x"}),
        ("Grep", {"pattern": "x", "glob": '["*.py","src/*.md"]'}, {"pattern": "x", "glob": "*.py,src/*.md"}),
        ("Grep", {"pattern": "x", "path": "src/**/*.py"}, {"pattern": "x", "path": "src", "glob": "/**/*.py"}),
        ("Grep", {"pattern": "x", "path": "*.py"}, {"pattern": "x", "path": ".", "glob": "/*.py"}),
        ("Grep", {"pattern": "x", "glob": ["*.py"], "-n": "true"}, {"pattern": "x", "glob": "*.py", "-n": True}),
        ("NotebookEdit", {"notebook_path": "a", "cell_type": ""}, {"notebook_path": "a"}),
    ],
)
def test_habits_of_single_tools_are_taken(name, given, settled):
    assert tool_named(name).settle(given, "/p") == settled


@pytest.mark.parametrize(
    ("name", "given", "said"),
    [
        (
            "Edit",
            {"file_path": "a", "old_string": "", "new_string": "x"},
            (
                "`old_string`: expected the text to replace, got an empty one. To create a file, or to replace all of it, use "
                "Write. To insert text, give a line beside the place as `old_string`, and that line with the new text as "
                "`new_string`."
            ),
        ),
        ("Read", {"file_path": "file://host/a"}, "`file_path`: expected a path on this machine, got 'file://host/a'."),
        (
            "Glob",
            {"pattern": "src/"},
            (
                "`pattern`: only files are found, and 'src/' is a folder. Use 'src/**' for all files below it, 'src/*' for those "
                "in it."
            ),
        ),
        (
            "Glob",
            {"pattern": ".."},
            "`pattern`: only files are found, and '..' is a folder. Use '../**' for all files below it, '../*' for those in it.",
        ),
        (
            "Glob",
            {"pattern": "/other/*.py", "path": "src"},
            (
                "`pattern`: expected a pattern below `path` (src), got '/other/*.py'. Leave `path` out, or make it '/other' and "
                "the pattern '*.py'."
            ),
        ),
        (
            "Glob",
            {"pattern": "*/../x"},
            "`pattern`: expected no `..` behind a wildcard. Set `path` to the folder, and search below it.",
        ),
        (
            "Glob",
            {"pattern": "*.py,/other/*.md"},
            (
                "`pattern`: in a list, each pattern is relative to `path`; '/other/*.md' is not. Search for it in a call of its "
                "own."
            ),
        ),
        (
            "Grep",
            {"pattern": "x", "path": "*.py", "glob": "*.md"},
            "`path`: expected one file or folder, got the pattern '*.py' beside a `glob`. Give one of both.",
        ),
        ("Write", {"file_path": "$TMPDIR/a", "content": ""}, no_variable("file_path", "$TMPDIR", "/a")),
        (
            "Edit",
            {"file_path": "${TMPDIR}/a", "old_string": "a", "new_string": ""},
            no_variable("file_path", "${TMPDIR}", "/a"),
        ),
        ("Glob", {"pattern": "$TMPDIR/*.py"}, no_variable("pattern", "$TMPDIR", "/*.py")),
        ("Grep", {"pattern": "x", "path": "$TMPDIR"}, no_variable("path", "$TMPDIR", "")),
        (
            "Read",
            {"file_path": "$HOME/a"},
            "`file_path`: expected the path itself, got the variable $HOME in '$HOME/a' (variables are read by commands only).",
        ),
    ],
)
def test_what_is_not_certain_is_refused_by_name(name, given, said):
    with pytest.raises(InputFault) as fault:
        tool_named(name).settle(given, "/p")

    assert str(fault.value) == said


def test_a_name_that_only_looks_like_a_variable_is_a_name(tmp_path):
    (tmp_path / "$DATA").mkdir()

    for path in ("$DATA/a.ts", "$lib/a.ts", "$TMPDIR.ts", "./$TMPDIR/a"):
        assert tool_named("Read").settle({"file_path": path}, str(tmp_path)) == {"file_path": path}


async def search(desk, made, **fields):
    return (await desk.use(made, **fields)).content


@pytest.fixture
def tree(desk):
    for name in ("a.py", "b.md", "src/c.py", "src/deep/d.py", "odd,name.txt"):
        desk.write(name, "needle\n")
    return desk


@pytest.mark.parametrize(
    ("pattern", "found"),
    [
        ("*.py,*.md", {"a.py", "b.md"}),
        ("{*.py,*.md}", {"a.py", "b.md"}),
        ("**/*.py, *.md", {"a.py", "b.md", "src/c.py", "src/deep/d.py"}),
        ("odd,name.txt", {"odd,name.txt"}),
        ("{folder}/src/*.py", {"src/c.py"}),
        ("src/**.py", {"src/c.py", ("(`**` crosses folders only where it stands alone between slashes (`**/*.py`); "
                       "inside a name it is `*`.)")}),
        (r"src\c.py", {"No files found.", "(A backslash takes the next character as it is; folders are parted by `/`.)"}),
    ],
)  # fmt: skip
async def test_glob_takes_lists_and_full_paths_and_says_what_a_form_cannot_find(tree, pattern, found):
    told = await search(tree, glob_tool(), pattern=pattern.replace("{folder}", str(tree.folder)))

    assert set(told.split("\n")) == found


@pytest.mark.parametrize("listed", ["*.py *.md", "*.py;*.md", "*.py | *.md", "src/*.py  docs/*.md", "*.{py,pyi} *.md"])
async def test_patterns_without_a_comma_between_them_are_never_taken_for_one_in_silence(tree, listed):
    told = f"({listed!r} was read as one pattern. Write several with commas, such as `*.py,*.md`.)"

    assert await search(tree, glob_tool(), pattern=listed) == f"No files found.\n{told}"
    assert await search(tree, grep_tool(), pattern="needle", glob=listed) == f"No matches found.\n{told}"


@pytest.mark.parametrize("pattern", ["My Notes/*.txt", "a b.*", "*.none"])
async def test_a_pattern_with_a_blank_is_no_list(tree, pattern):
    assert await search(tree, glob_tool(), pattern=pattern) == "No files found."


async def test_a_link_that_leads_to_a_name_with_wildcards_is_no_pattern(desk):
    desk.write("app/[id]/page.ts", "needle\n")
    (desk.folder / "link").symlink_to("app/[id]")
    pattern = f"{desk.folder}/link/*.ts"

    assert await search(desk, glob_tool(), pattern=pattern) == "app/[id]/page.ts"
    assert await search(desk, grep_tool(), pattern="needle", glob=pattern) == "app/[id]/page.ts"


@pytest.mark.parametrize(
    ("glob", "found"),
    [
        ("{folder}/src/*.py", {"src/c.py"}),
        ("{folder}/**/*.py", {"a.py", "src/c.py", "src/deep/d.py"}),
        ("./src/*.py", {"src/c.py"}),
        ("src/", {"src/c.py", "src/deep/d.py"}),
        ("src", {"src/c.py", "src/deep/d.py"}),
        ("/src/*.py", {"src/c.py"}),
        ("*.py,!{folder}/src/**", {"a.py"}),
    ],
)
async def test_grep_takes_globs_by_their_full_path_and_folders(tree, glob, found):
    told = await search(tree, grep_tool(), pattern="needle", glob=glob.replace("{folder}", str(tree.folder)))

    assert set(told.split("\n")) == found


@pytest.mark.parametrize("glob", ["../*.py", "/usr/*.py", "~/*.py"])
async def test_a_glob_that_can_match_nothing_is_refused(tree, glob):
    with pytest.raises(InputFault, match=r"^`glob`: expected a glob for files below .* Set `path`\.$"):
        await search(tree, grep_tool(), pattern="needle", glob=glob)
