"""Everything that a user of the library writes comes from `everturn`, and type checkers see the same names."""

import ast
import subprocess
import sys
import typing
from pathlib import Path

import pytest
from development import keywords

import everturn
from everturn import Engine, OptionError, Options, Ruling, Verdict, World, run, run_sync
from everturn.compose.keywords import Keywords
from everturn.compose.world import KEYWORDS
from everturn.core.errors import ApproverError
from everturn.modelserver import calls, text
from everturn.testing import ScriptedModel, say


def names_for_type_checkers():
    tree = ast.parse(Path(everturn.__file__).read_text())
    [block] = [node for node in tree.body if isinstance(node, ast.If)]
    return {
        (alias.asname, node.module)
        for node in block.body
        if isinstance(node, ast.ImportFrom) and node.module != "typing"
        for alias in node.names
    }


def test_type_checkers_see_the_names_that_are_there():
    served = {(name, f"everturn.{place}") for name, place in everturn._PLACES.items()}
    assert names_for_type_checkers() == served
    assert set(everturn.__all__) == {name for name, _ in served} - {"assemble"} | {"__version__"}
    assert all(getattr(everturn, name) is not None for name in everturn.__all__)


def test_type_checkers_see_every_option_and_the_world_as_keywords():
    assert keywords.FILE.read_text("utf-8") == keywords.render_module(), "run: make pages"
    of_options = typing.get_type_hints(Options)
    of_keywords = typing.get_type_hints(Keywords)
    assert set(of_keywords) == {*of_options, *KEYWORDS}
    assert set(KEYWORDS) <= set(World.__struct_fields__)
    assert {name: of_keywords[name] for name in of_options if name != "model"} == {
        name: type_ for name, type_ in of_options.items() if name != "model"
    }


def test_an_engine_finds_its_parts_whatever_was_imported_before(tmp_path):
    program = "from everturn.engine.engine import Engine; print(Engine(cwd='.', home='h', persist=False, env={}).model)"
    made = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert made.stdout == "claude-sonnet-5\n"


async def test_options_are_given_by_name_and_a_result_is_returned(bench):
    bench.model(text("Teal."))
    options = bench.options()

    async with Engine(options, env=bench.env, max_turns=3) as engine:
        result = await engine.run("Which colour?")

    assert (result.ok, result.text, result.reason, result.session_id) == (True, "Teal.", "completed", engine.session_id)
    assert result.usd == engine.total_usd > 0
    assert result.structured is None


def test_a_script_without_a_loop_gets_its_result(tmp_path):
    result = run_sync("Hello?", model=ScriptedModel(say("Hello.")), cwd=tmp_path, home=tmp_path / "home", env={})
    assert result.text == "Hello."


async def test_a_plain_function_is_a_tool_and_a_plain_async_function_an_approver(bench):
    asked = []

    async def approve(call, reason):
        asked.append(call.name)
        return Verdict(ruling=Ruling.ALLOW)

    def double(number: int) -> int:
        """Doubles a number."""
        return 2 * number

    bench.model(calls(("double", {"number": 21})), text("42."))
    result = await run("Double 21.", bench.options(), env=bench.env, tools=[double], approver=approve)

    assert (result.text, asked) == ("42.", ["double"])
    assert "42" in str(bench.sent[-1][-1])


async def test_an_approver_that_answers_no_verdict_is_told_to_its_author(bench):
    bench.model(calls(("Bash", {"command": "touch x"})), text("Done."))
    with pytest.raises(ApproverError):
        await run("Touch x.", bench.options(), env=bench.env, approver=lambda _, __: True)


def test_an_unknown_name_is_refused_with_the_one_that_was_meant():
    with pytest.raises(OptionError, match=r"^max_turn: is not an option; did you mean 'max_turns'\?"):
        Engine(max_turn=3)
    with pytest.raises(OptionError, match=r"^clok: is not an option; did you mean 'clock'\?"):
        Engine(Options(), clok=3)


def test_all_bad_options_are_told_at_once():
    with pytest.raises(OptionError) as caught:
        Engine(max_turns=-1, max_budget_usd="much", cache_ttl="1d")
    told = str(caught.value)
    assert all(name in told for name in ("max_turns", "max_budget_usd", "cache_ttl"))


def test_an_unknown_name_hides_no_bad_option():
    with pytest.raises(OptionError) as caught:
        Engine(Options(persist=False), clok=3, max_turns=-1, resume="b")
    assert [error.field for error in caught.value.all] == ["clok", "max_turns", "resume"]
