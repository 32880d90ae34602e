"""The changelog: the released version has its section, and an entry is a line."""

import re
from datetime import date
from pathlib import Path

import everturn

ROOT = Path(__file__).parents[2]
GROUPS = ["Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"]


def sections():
    """Heading and text of each version, newest first."""
    parts = re.split(r"^## (.+)$", (ROOT / "CHANGELOG.md").read_text(), flags=re.MULTILINE)
    return list(zip(parts[1::2], parts[2::2], strict=True))


def test_what_is_not_released_stands_above_the_version_that_the_package_has():
    (unreleased, _), *released = sections()
    assert unreleased == "Unreleased"
    versions = [heading.split(" - ") for heading, _ in released]
    assert versions[0][0] == everturn.__version__
    dates = [date.fromisoformat(day) for _, day in versions]
    assert dates == sorted(dates, reverse=True)


def test_entries_of_a_release_are_single_lines_in_the_usual_groups():
    for heading, text in sections()[1:]:
        groups = re.findall(r"^### (.+)$", text, re.MULTILINE)
        assert groups == [group for group in GROUPS if group in groups], heading
        entries = text.partition("### ")[2].splitlines()[1:]
        odd = [line for line in entries if not re.fullmatch(r"(- \S.*|### \w+|[A-Z][\w, ]+|)", line)]
        assert odd == []
