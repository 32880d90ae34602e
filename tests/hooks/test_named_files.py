"""What a hook may run of the working folder is known, however its command spells it."""

import pytest

from everturn.hooks.named_files import list_named_files

SPELLED = (
    "./scripts/check.sh",
    "sh -c './scripts/check.sh'",
    "cd scripts && ./check.sh",
    "cd ./scripts; sh check.sh",
    '"$PWD"/scripts/check.sh',
    "$(pwd)/scripts/check.sh",
    "`pwd`/scripts/check.sh",
    "$(git rev-parse --show-toplevel)/scripts/check.sh",
    '"$CLAUDE_PROJECT_DIR"/scripts/check.sh',
    "${CLAUDE_PROJECT_DIR}/scripts/check.sh",
    "${CLAUDE_PROJECT_DIR:-.}/scripts/check.sh",
    '"${EVERTURN_PROJECT_DIR:?no}"/scripts/check.sh',
    'D="$CLAUDE_PROJECT_DIR"; "$D/scripts/check.sh"',
    "D=scripts; ./$D/check.sh",
    "for f in scripts/*.sh; do $f; done",
    "for f in scripts/*; do $f; done",
    "run-parts --regex=. scripts",
    "sh <scripts/check.sh",
    r"./scri\pts/check.sh",
    "./scri'pts/che'ck.sh",
    "[ -x scripts/check.sh ] && scripts/check.sh",
)


def find(folder, text):
    settings = [{"hooks": [{"type": "command", "command": text}]}]
    return {path.removeprefix(f"{folder}/") for path in list_named_files(settings, str(folder))}


@pytest.fixture
def folder(tmp_path):
    work = (tmp_path / "work").resolve()
    (work / "scripts").mkdir(parents=True)
    for name in ("check.sh", "__main__.py", "lint.py"):
        (work / "scripts" / name).write_text("")
    (work / "scripts/check.sh").chmod(0o755)
    return work


@pytest.mark.parametrize("text", SPELLED)
def test_a_script_is_found_however_it_is_spelled(folder, text):
    assert "scripts/check.sh" in find(folder, text)


@pytest.mark.parametrize("text", ["python3 -m scripts.lint", "cd scripts && python3 -m lint"])
def test_a_module_is_found(folder, text):
    assert "scripts/lint.py" in find(folder, text)


def test_what_an_interpreter_starts_in_a_folder_is_found(folder):
    assert "scripts/__main__.py" in find(folder, "python3 scripts")


def test_a_script_that_is_not_there_yet_is_named_too(folder):
    assert "scripts/new.sh" in find(folder, "[ -x scripts/new.sh ] && scripts/new.sh")


def test_a_link_is_named_wherever_it_leads(folder, tmp_path):
    (tmp_path / "out.sh").write_text("")
    (folder / "scripts/link.sh").symlink_to(tmp_path / "out.sh")
    (folder / "dangling").symlink_to(tmp_path / "nowhere")

    assert find(folder, "scripts/link.sh; ./dangling") == {"scripts/link.sh", "dangling"}


def test_what_a_linter_looks_through_is_no_file_that_runs(folder):
    assert find(folder, "ruff check scripts/*.py src") <= {"scripts/__main__.py"}


def test_a_text_of_any_size_takes_a_moment(folder):
    assert find(folder, "a/" * 200_000) == set()
    assert find(folder, " ".join(f"*{number}/x" for number in range(20_000))) == set()
