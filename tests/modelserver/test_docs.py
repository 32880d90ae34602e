"""The page about the model server: its examples run, its table is the table of the rules."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from development.rules_page import render_page
from tests.docs.blocks import take

from everturn.modelserver import ModelServer, parse_cases

PAGE = Path(__file__).parent.parent.parent / "docs" / "how-to" / "model-server.md"
TEXT = PAGE.read_text("utf-8")
BLOCKS = take(lambda block: block.page == "docs/how-to/model-server.md")
AGENT = """\
#!/bin/sh
exec everturn -p "Which colour?" --no-session-persistence
"""
"""An agent of the reader's, named as on the page."""


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", TEXT, re.DOTALL | re.MULTILINE)


def test_the_table_of_rules_is_up_to_date():
    assert render_page(TEXT) == TEXT, "run: make pages"


def test_a_page_without_marks_is_refused():
    with pytest.raises(ValueError, match="lacks the marks"):
        render_page("# A page")


@pytest.mark.parametrize("source", blocks("json"), ids=range(len(blocks("json"))))
async def test_the_scripts_on_the_page_can_be_played(source, client, ask):
    parsed = json.loads(source)
    answers = parsed if isinstance(parsed, list) else parsed["answers"]
    async with ModelServer(cases=parse_cases(source), time_scale=0.01) as server:
        for answer in answers:
            reply = await client.post(server.url, ask(stream=True), size=0 if "stall" in answer else None)
            assert reply.ended == "silence" if "stall" in answer else reply.raw
        assert [received.refused for received in server.asked()] == [None] * len(answers)


async def test_the_cases_on_the_page_can_be_played(client, ask):
    cases = parse_cases(blocks("jsonl")[0])
    async with ModelServer(cases=cases, time_scale=0.01) as server:
        replies = {case: await client.post(server.url_of(case), ask()) for case in cases}
    assert {case: (reply.status, reply.ended) for case, reply in replies.items()} == {
        "bad-utf8": (200, "reset"),
        "late": (429, "closed"),
        "many": (200, "closed"),
        "zipped": (200, "closed"),
        "polite": (200, "closed"),
    }


@pytest.mark.parametrize("source", blocks("python"), ids=range(len(blocks("python"))))
async def test_the_python_on_the_page_runs(source, client, ask):
    async def run_agent(*, base_url: str, prompts: int) -> None:
        for _ in range(prompts):
            await client.post(base_url, ask(model="claude-opus-5", stream=True))

    names = {"run_agent": run_agent}
    exec(compile(source, str(PAGE), "exec"), names)  # noqa: S102  the page is ours
    await names["example"]()


def test_the_page_has_examples_of_each_kind():
    counts = {"json": 4, "jsonl": 1, "python": 4, "console": 2}
    assert {language: len(blocks(language)) for language in counts} == counts
    assert len(BLOCKS) == sum(counts.values())


def test_the_commands_of_the_quick_start_run(tmp_path):
    """Any free port takes the place of the page's."""
    server, asking = blocks("console")
    write, start, shown = server.splitlines()
    agent = tmp_path / "your-agent"
    agent.write_text(AGENT)
    agent.chmod(0o755)
    found = f"{tmp_path}:{Path(sys.executable).parent}:{os.environ['PATH']}"
    env = {"PATH": found, "HOME": str(tmp_path), "EVERTURN_RETRY_SCALE": "0.001"}

    def run(line, **options):
        command = ("bash", "-ec", line.removeprefix("$ "))
        return subprocess.Popen(command, cwd=tmp_path, env=env, text=True, stdout=subprocess.PIPE, **options)

    with run(write) as writing:
        assert writing.wait() == 0
    with run(start.replace("python", "exec python").replace("8080", "0")) as serving:
        try:
            url = serving.stdout.readline().strip()
            assert re.fullmatch(shown.replace("8080", r"\d+"), url)
            with run(asking.strip().replace(shown, url)) as asked:
                assert asked.communicate()[0] == "Hello.\n"
        finally:
            serving.terminate()
