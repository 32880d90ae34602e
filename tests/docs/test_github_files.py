"""What a hosted service reads: the YAML is well formed, names what is there, and puts no foreign text into a script."""

import re
from pathlib import Path

import pytest
import yaml

import everturn

ROOT = Path(__file__).parents[2]
GITHUB = ROOT / ".github"
FORMS = sorted(path for path in (GITHUB / "ISSUE_TEMPLATE").glob("*.yml") if path.name != "config.yml")
PAGE = ROOT / "docs" / "how-to" / "ci.md"


def read(path):
    return yaml.safe_load(path.read_text())


def test_the_workflow_calls_the_two_commands_on_every_supported_python():
    workflow = read(GITHUB / "workflows" / "tests.yml")
    job = workflow["jobs"]["tests"]

    assert [step["run"] for step in job["steps"] if "run" in step] == ["make demo", "make test"]
    makefile = (ROOT / "Makefile").read_text()
    assert all(re.search(rf"^{target}:", makefile, re.MULTILINE) for target in ("demo", "test"))
    assert job["strategy"]["matrix"]["python"] == ["3.11", "3.12", "3.13", "3.14"]
    assert workflow["permissions"] == {"contents": "read"}


@pytest.mark.parametrize("form", FORMS, ids=lambda path: path.stem)
def test_an_issue_form_has_what_github_asks_for(form):
    about = read(form)
    assert all(isinstance(about[key], str) for key in ("name", "description"))
    fields = [field for field in about["body"] if field["type"] != "markdown"]
    assert all(field["attributes"]["label"] for field in fields)
    ids = [field["id"] for field in fields]
    assert len(ids) == len(set(ids)) > 0


def test_the_action_documents_every_input_and_output_and_puts_none_into_a_script():
    action = read(ROOT / "action.yml")
    steps = action["runs"]["steps"]

    assert action["runs"]["using"] == "composite"
    assert all("${{" not in step["run"] and step["shell"] == "bash" for step in steps)
    used = set(re.findall(r"\$\{\{ inputs\.([\w-]+) \}\}", yaml.safe_dump(steps)))
    assert used == set(action["inputs"])
    named = set(re.findall(r"`([a-z-]+)`", " ".join(re.findall(r"^\| (`.*?) \|", PAGE.read_text(), re.MULTILINE))))
    assert set(action["inputs"]) | set(action["outputs"]) == named - {"everturn-policy", "everturn-review"}
    assert all(about["description"] for about in (*action["inputs"].values(), *action["outputs"].values()))


def test_the_workflow_of_the_page_gives_the_action_inputs_that_it_has():
    [example] = re.findall(r"```yaml\n(.*?)```", PAGE.read_text(), re.DOTALL)
    job = yaml.safe_load(example)["jobs"]["review"]
    [call] = [step for step in job["steps"] if "everturn@" in step.get("uses", "")]

    action = read(ROOT / "action.yml")
    assert set(call["with"]) <= set(action["inputs"])
    assert {name for name, about in action["inputs"].items() if about.get("required")} <= set(call["with"])
    assert call["uses"].partition("@v")[2] == everturn.__version__


def test_no_file_for_a_hosted_service_names_a_host_of_a_package_registry():
    names = (
        "action.yml",
        "SECURITY.md",
        "pyproject.toml",
        "Makefile",
        "examples/pre-commit-config.yaml",
        "docs/how-to/ci.md",
    )
    for path in (*(ROOT / name for name in names), *(path for path in GITHUB.rglob("*") if path.is_file())):
        assert not re.search(r"pypi\.|pythonhosted|npmjs|registry\.\w", path.read_text()), path
