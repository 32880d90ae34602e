"""Grep, Glob and added folders with the real tools: a search walks past what may not be read, and out of nothing."""

import pytest

from everturn.compose.lone_policy import build_call
from everturn.core.errors import EverturnError
from everturn.permissions.policy import RulePolicy
from everturn.permissions.rules.rule_parser import parse_rule
from everturn.permissions.rules_in_force import Workplace
from everturn.ports.abort import AbortSignal
from everturn.ports.files import FileStates
from everturn.ports.policy import Ruling
from everturn.ports.tool import ToolContext
from everturn.tools.builtin import builtin_tools

TOOLS = {tool.name: tool for tool in builtin_tools({"Grep", "Glob", "Read", "Write"})}
FILES = {
    "proj/src/a.py": "a",
    "proj/.env": "env",
    "proj/.ENV": "capitals",
    "proj/secrets/k": "k",
    "proj/x/secrets/k": "deep",
    "proj/ask/q": "q",
    "proj/se\u0301c/k": "decomposed",
    "out/o.py": "o",
    "out/.env": "outside",
    "home/.ssh/id": "id",
}
LINKS = {
    "proj/l": "secrets",
    "proj/envlink": ".env",
    "proj/outlink": "../out",
    "proj/idlink": "../home/.ssh/id",
    "linked": "proj",
}
DENY = ("Read(./.env)", "Read(secrets/**)", "Read(~/.ssh/**)")


@pytest.fixture
def root(tmp_path):
    root = tmp_path.resolve()
    for name, word in FILES.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(f"TOKEN-{word}.\n", "utf-8")
    for name, target in LINKS.items():
        (root / name).symlink_to(target)
    return root


async def use(root, tool, fields, *, folder="proj", mode="default", added=(), **rules):
    """What was decided, and what the tool told where it ran."""

    def expand(text):
        return text.replace("{OUT}", f"{root}/out")

    parsed = [
        parse_rule(expand(text), Ruling(ruling), folder=f"{root}/{folder}")
        for ruling, texts in rules.items()
        for text in texts
    ]
    grounds = Workplace(folder=f"{root}/{folder}", home=f"{root}/home", added=tuple(expand(each) for each in added))
    fields = TOOLS[tool].settle({name: expand(value) for name, value in fields.items()}, grounds.folder)
    verdict = RulePolicy(mode, grounds, rules=parsed).judge(build_call(tool, fields))
    if verdict.ruling is not Ruling.ALLOW:
        return str(verdict.ruling), ""
    context = ToolContext(
        folder=grounds.folder,
        tool_use_id="t",
        abort=AbortSignal(),
        files=FileStates(),
        progress=lambda _: None,
        judged=verdict.judged,
    )
    try:
        result = await TOOLS[tool].run(TOOLS[tool].parse(fields), context)
    except EverturnError as error:
        return "error", str(error)
    return "error" if result.is_error else "allow", str(result.content)


WALKS = {
    "everything": {},
    "names of files": {"output_mode": "files_with_matches"},
    "counts": {"output_mode": "count"},
    "hidden files": {"glob": ".e*"},
    "hidden files at any depth": {"glob": "**/.env"},
    "all but one kind": {"glob": "!*.py"},
    "what looks like an option": {"pattern": "--pre=id"},
}


@pytest.mark.parametrize("folder", ["proj", "linked"])
@pytest.mark.parametrize("mode", ["default", "plan", "bypassPermissions"])
@pytest.mark.parametrize("fields", WALKS.values(), ids=WALKS)
async def test_a_search_tells_nothing_of_what_is_denied(root, fields, mode, folder):
    given = {"pattern": "TOKEN", "output_mode": "content", **fields}

    decision, told = await use(root, "Grep", given, folder=folder, mode=mode, deny=DENY)

    assert decision == "allow"
    for hidden in ("secrets/k", "TOKEN-env", "TOKEN-capitals", "TOKEN-id", "TOKEN-o.", "TOKEN-outside", "uid="):
        assert hidden not in told


async def test_a_glob_that_goes_up_is_refused(root):
    decision, told = await use(root, "Grep", {"pattern": "TOKEN", "glob": "../out/*"}, deny=DENY)

    assert (decision, told) == (
        "error",
        "`glob`: expected a glob for files below `path`, got '../out/*', which leaves it. Set `path`.",
    )


@pytest.mark.parametrize(
    ("pattern", "decision"),
    [
        ("{OUT}/*", "ask"),
        ("../out/*", "ask"),
        ("~/.ssh/*", "deny"),
        ("outlink/../*", "ask"),
    ],
)
async def test_a_pattern_that_leads_elsewhere_is_judged_as_a_search_there(root, pattern, decision, monkeypatch):
    monkeypatch.setenv("HOME", f"{root}/home")

    assert await use(root, "Glob", {"pattern": pattern}, deny=DENY) == (decision, "")


PLACES = {
    "a denied folder": ("secrets", "deny"),
    "the same with a slash": ("./secrets/", "deny"),
    "the same with dots": ("src/../secrets", "deny"),
    "a link to it": ("l", "deny"),
    "a folder in it": ("x/secrets", "deny"),
    "a denied file": (".env", "deny"),
    "a link to a file": ("envlink", "deny"),
    "a link to the home": ("idlink", "deny"),
    "the home": ("~/.ssh", "deny"),
    "outside": ("{OUT}", "ask"),
    "a link to the outside": ("outlink", "ask"),
    "the parent": ("..", "ask"),
    "the root": ("/", "ask"),
    "a folder of proc": ("/proc/self/cwd", "ask"),
}


@pytest.mark.parametrize("tool", ["Grep", "Glob"])
@pytest.mark.parametrize(("path", "decision"), PLACES.values(), ids=PLACES)
async def test_where_a_search_begins_is_judged_like_a_file(root, path, decision, tool):
    assert await use(root, tool, {"pattern": "x", "path": path}, deny=DENY) == (decision, "")


@pytest.mark.parametrize(
    "pattern",
    ["**/*", "**/.*", "secrets/*", "{secrets,src}/*", "[s]ecrets/k", "l/*", "outlink/*", "~/.ssh/*", "../out/*", "{OUT}/*",
     "src/../../out/*", "{src,../out}/*", "/etc/pass*"],
)  # fmt: skip
async def test_a_pattern_finds_nothing_that_is_denied_or_outside(root, pattern):
    _, told = await use(root, "Glob", {"pattern": pattern}, deny=DENY)

    for hidden in ("secrets/k", "/.env", "o.py", ".ssh/id", "/etc/passwd", "l/k"):
        assert hidden not in told.replace(pattern, "")


async def test_another_form_of_a_name_is_passed_by_too_and_so_is_what_asks(root):
    _, told = await use(root, "Grep", {"pattern": "TOKEN", "output_mode": "content"}, deny=["Read(/s\u00e9c/**)"], ask=["Read(/ask/**)"])  # fmt: skip

    assert "TOKEN-a." in told
    assert "TOKEN-decomposed" not in told
    assert "TOKEN-q" not in told


@pytest.mark.parametrize(
    ("rule", "decision"), [("Read(/{OUT}/**)", "allow"), ("Read(/{OUT}/o.py)", "ask"), ("Read(/{OUT}/*.py)", "ask")]
)
async def test_a_search_outside_needs_a_rule_for_all_of_it(root, rule, decision):
    fields = {"pattern": "TOKEN", "output_mode": "content", "path": "{OUT}"}

    assert (await use(root, "Grep", fields, allow=[rule]))[0] == decision


@pytest.mark.parametrize("added", ["{OUT}", "{OUT}/", "{OUT}/../proj/outlink"])
async def test_an_added_folder_is_worked_in_whatever_it_is_called(root, added):
    read = await use(root, "Read", {"file_path": "{OUT}/o.py"}, added=[added])
    through_a_link = await use(root, "Read", {"file_path": "outlink/o.py"}, added=[added])
    beside = await use(root, "Read", {"file_path": "{OUT}-x/o.py"}, added=[added])
    protected = await use(
        root, "Write", {"file_path": "{OUT}/.git/config", "content": "x"}, added=[added], mode="acceptEdits"
    )

    assert ("TOKEN-o" in read[1], "TOKEN-o" in through_a_link[1], beside, protected) == (
        True,
        True,
        ("ask", ""),
        ("ask", ""),
    )
