"""The files that rules cover, found where they really are: by name in any spelling, by pattern at any depth."""

import pytest
from tests.permissions.rules_of import rules_of

from everturn.compose.holder import list_denied
from everturn.core.errors import ToolFault
from everturn.permissions.policy import RulePolicy, walk
from everturn.permissions.rules_in_force import Workplace
from everturn.ports.policy import Ruling

FILES = (
    ".env",
    "sub/.ENV",
    "key.pem",
    "sub/deep/key.pem",
    "vendor/a",
    "vendor/b/c",
    "sub/vendor/d",
    "src/a.py",
    "really/k",
)


@pytest.fixture
def folder(tmp_path):
    place = tmp_path.resolve() / "project"
    for name in FILES:
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        (place / name).write_text("old")
    (place / "link").symlink_to("really")
    return place


def make_policy(folder, **rules):
    grounds = Workplace(folder=str(folder), home=str(folder.parent))
    return RulePolicy("default", grounds, rules=rules_of(**rules, folder=str(folder)))


def find(folder, use, looks=walk, **rules):
    coverage = make_policy(folder, **rules).find_coverage(use, Ruling.DENY)
    found = () if coverage is None else coverage.find(looks)
    return found if found is None else {path.removeprefix(f"{folder}/") for path in found}


@pytest.mark.parametrize(
    ("rule", "found"),
    [
        ("Read(.env)", {".env", "sub/.ENV"}),
        ("Read(/.ENV)", {".env"}),
        ("Read(*.pem)", {"key.pem", "sub/deep/key.pem"}),
        ("Read(/sub/**/*.pem)", {"sub/deep/key.pem"}),
        ("Read(/vendor/**)", {"vendor"}),
        ("Read(vendor/**)", {"vendor", "sub/vendor"}),
        ("Read(/link/k*)", {"really/k"}),
        ("Read(~/project/src)", {"src"}),
        ("Read(//nowhere/at/all/**)", set()),
        ("Edit(*.pem)", set()),
    ],
)
def test_what_a_rule_covers_is_found(folder, rule, found):
    assert find(folder, "read", deny=[rule]) == found


def test_who_may_not_read_a_file_may_not_write_it(folder):
    assert find(folder, "write", deny=["Read(.env)", "Edit(*.py)"]) == {".env", "sub/.ENV", "src/a.py"}


def test_rules_that_name_their_places_need_no_look_through_folders(folder):
    def fail(folders, covers):
        raise AssertionError(folders, covers)

    assert find(folder, "read", fail, deny=["Read(/vendor/**)", "Read(~/project/key.pem)"]) == {"vendor", "key.pem"}


def test_only_the_folders_that_a_pattern_reaches_are_looked_through(folder):
    seen = []

    find(folder, "read", lambda folders, _: seen.extend(folders) or (), deny=["Read(/sub/*.pem)", "Read(/sub/deep/*)"])

    assert seen == [f"{folder}/sub"]


def test_where_there_is_too_much_nothing_is_claimed(folder):
    assert find(folder, "read", lambda _, __: None, deny=["Read(*.pem)"]) is None


def test_held_edits_are_kept_from_what_rules_cover_at_any_depth(folder):
    policy = make_policy(folder, ask=["Edit(*.pem)"], deny=["Edit(/made/later)"])

    denied = list_denied(policy, str(folder), str(folder.parent))

    assert set(denied) == {str(folder / name) for name in ("made/later", "key.pem", "sub/deep/key.pem")}


def test_held_edits_do_not_run_where_there_is_too_much_to_look_through(folder):
    for number in range(200):
        (folder / f"many{number}").mkdir()
        for inner in range(101):
            (folder / f"many{number}" / str(inner)).touch()

    with pytest.raises(ToolFault, match="too many files to find them all"):
        list_denied(make_policy(folder, deny=["Edit(*.pem)"]), str(folder), str(folder.parent))
