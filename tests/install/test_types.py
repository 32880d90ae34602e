"""Type checkers see the public names, with their types, in a project that has the wheel installed."""

import json
import sys

import pytest
from tests.install.environments import build, make_environment, pip_install
from tests.shelf import find_node_modules, find_python, run

import everturn

pytestmark = pytest.mark.needs("package registry")
GOOD = """
import asyncio
from typing import assert_type

import everturn
from everturn import Engine, Event, ResultEvent, TextDelta, tool
from everturn.modelserver import ModelServer
from everturn.testing import ScriptedModel


@tool(reads_only=True)
def count_lines(path: str) -> int:
    with open(path) as file:
        return len(file.readlines())


async def main() -> None:
    async with Engine(tools=[count_lines], allowed_tools=["count_lines"], max_budget_usd=0.50) as engine:
        assert_type(engine, Engine)
        result = await engine.run("How long is it?")
        assert_type(result.text, str)
        assert_type(result.usd, float)
        async for event in engine.submit("And in words?"):
            assert_type(event, Event)
            if isinstance(event, TextDelta):
                assert_type(event.text, str)
            if isinstance(event, ResultEvent):
                assert_type(event.session_id, str)


def choose(options: everturn.Options, model: ScriptedModel) -> None:
    assert_type(everturn.run_sync("Go.", options, permission_mode="plan", max_turns=3), ResultEvent)
    Engine(model=model, env={}, effort="low")
    Engine(model="opus", user_context={"rules": "Be brief."}, thinking={"type": "adaptive"})
    everturn.query("Go.", hooks={"stop": print}, sandbox=True)


assert_type(everturn.__version__, str)
asyncio.run(main())
"""
WRONG = """
from everturn import Engine, Options, run_sync

Options(max_turn=3)
Options(max_turns="three")
run_sync(3)
print(Engine().session)
Engine(max_turn=3)
Engine(max_turns="three")
run_sync("Go.", permission_mode="yolo")
run_sync("Go.", clok=None)
"""
WRONG_LINES = [4, 5, 6, 7, 8, 9, 10, 11]


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    """A folder with a program, beside an environment that holds the wheel and what it needs."""
    tmp_path = tmp_path_factory.mktemp("types")
    wheel, _ = build(find_python("hatchling-1", "hatchling>=1.27"), tmp_path / "built")
    pip_install(make_environment(tmp_path / "environment"), wheel)
    folder = tmp_path / "project"
    folder.mkdir()
    names = ", ".join(sorted(set(everturn.__all__) - {"__version__"}))
    (folder / "good.py").write_text(f"from everturn import {names}\n{GOOD}")
    (folder / "wrong.py").write_text(WRONG)
    return folder


def test_mypy_knows_every_public_name_and_finds_what_is_wrong(project):
    python = project.parent / "environment" / "bin" / "python"
    mypy = (sys.executable, "-m", "mypy", "--strict", "--config-file", "", "--output", "json")

    told = run(*mypy, "--python-executable", python, "good.py", "wrong.py", cwd=project, fails=True)

    wrong = [json.loads(line) for line in told.splitlines()]
    assert [(error["file"], error["line"]) for error in wrong] == [("wrong.py", line) for line in WRONG_LINES], told


@pytest.mark.needs("Node")
def test_pyright_knows_every_public_name_and_finds_what_is_wrong(project):
    python = project.parent / "environment" / "bin" / "python"
    pyright = find_node_modules("pyright-1", "pyright@1.1.414") / "node_modules" / ".bin" / "pyright"
    (project / "pyrightconfig.json").write_text('{"typeCheckingMode": "strict", "reportUnusedImport": false}')

    told = run(pyright, "--outputjson", "--pythonpath", python, cwd=project, fails=True)

    wrong = {
        (error["file"].rpartition("/")[2], error["range"]["start"]["line"] + 1)
        for error in json.loads(told)["generalDiagnostics"]
    }
    assert sorted(wrong) == [("wrong.py", line) for line in WRONG_LINES], told
