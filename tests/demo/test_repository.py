"""The repository of the demo by itself: broken as made, whole when mended, with or without git."""

import re
from shutil import which

import pytest

from everturn.cli.demo.repository import FAULTY, FILES, MENDED, DemoRepository, make_repository


@pytest.fixture
def repository(tmp_path):
    return make_repository(tmp_path)


def mend(repository):
    plan = repository.folder / "renewals" / "plan.py"
    plan.write_text(plan.read_text().replace(FAULTY, MENDED))


def test_as_it_is_made_one_test_of_four_fails(repository):
    tested = repository.run_tests()

    assert (tested.passed, tested.count) == (False, 4)
    assert tested.output.rstrip().endswith("FAILED (failures=1)")
    assert "test_a_short_month_does_not_cut_the_months_after_it" in tested.output


def test_mended_all_four_pass(repository):
    mend(repository)

    tested = repository.run_tests()

    assert (tested.passed, tested.count) == (True, 4)


def test_a_repository_without_tests_has_not_passed_them(repository):
    (repository.folder / "test_renewals.py").unlink()

    assert not repository.run_tests().passed


def test_nothing_changed_is_an_empty_diff_with_and_without_git(repository):
    without = DemoRepository(folder=repository.folder, git=None)

    assert repository.git == which("git")
    assert (repository.diff(), without.diff()) == ("", "")


def test_without_git_the_diff_says_the_same(repository):
    mend(repository)
    without = DemoRepository(folder=repository.folder, git=None)

    by_git = [row for row in repository.diff().splitlines() if not row.startswith(("diff ", "index "))]

    assert [heading_of(row) for row in without.diff().splitlines()] == [heading_of(row) for row in by_git]


def test_a_git_that_cannot_be_started_is_left_out(tmp_path):
    made = make_repository(tmp_path, git=str(tmp_path / "no-git"))

    assert made == DemoRepository(folder=tmp_path, git=None)
    assert sorted(str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*") if path.is_file()) == sorted(FILES)


def heading_of(row):
    """The heading of a hunk, to which git adds the function."""
    return re.sub(r"(@@ .* @@).*", r"\1", row)
