"""Rules in a running loop: what the model may read, find and run, and what it is told where it may not."""

import pytest

from everturn.core.errors import OptionError
from everturn.modelserver import call, text
from everturn.ports.policy import Ruling, Scope, Verdict
from everturn.settings.setup import WrittenSettings


def results_of(bench, number):
    return [block["content"] for block in bench.sent[number][-1]["content"] if block["type"] == "tool_result"]


def asking(log, verdict=None):
    class Person:
        async def approve(self, call, reason):
            log.append((call.name, reason))
            return verdict or Verdict(ruling=Ruling.ALLOW, reason="yes")

    return Person()


@pytest.fixture
def project(bench):
    for name, words in {".env": "KEY=needle", "a.txt": "needle", "sub/.env": "needle", "sub/b.txt": "needle"}.items():
        (bench.folder / name).parent.mkdir(exist_ok=True)
        (bench.folder / name).write_text(f"{words}\n")
    return bench.folder


@pytest.fixture
def outside(tmp_path):
    place = tmp_path / "outside"
    place.mkdir()
    return place


async def test_a_file_that_may_not_be_read_is_not_found_by_searching_either(bench, project):
    bench.model(
        call("Read", {"file_path": ".env"}),
        call("Grep", {"pattern": "needle", "output_mode": "content"}),
        call("Grep", {"pattern": "needle", "path": ".env"}),
        call("Glob", {"pattern": "**/*"}),
        text("Done."),
    )

    await bench.run(disallowed_tools=["Read(.env)"])

    read, grep, file, glob = (results_of(bench, number)[0] for number in (1, 2, 3, 4))
    denied = "Permission denied: the rule Read(.env) (command line) denies it."
    assert denied in read
    assert denied in file
    assert sorted(grep.splitlines()) == ["a.txt:1:needle", "sub/b.txt:1:needle"]
    assert sorted(glob.splitlines()) == ["a.txt", "sub/b.txt"]


async def test_a_yes_is_for_the_file_that_was_judged_and_not_for_what_the_name_leads_to_later(bench, project, outside):
    link = project / "link"
    link.symlink_to(outside / "one")
    for name in ("one", "two"):
        (outside / name).write_text(f"{name}\n")

    class Slow:
        """While the person thinks, somebody turns the link."""

        async def approve(self, call, reason):
            link.unlink()
            link.symlink_to(outside / "two")
            return Verdict(ruling=Ruling.ALLOW, reason="yes")

    bench.model(call("Read", {"file_path": "link"}), text("Done."))

    await bench.run(approver=Slow())

    [result] = results_of(bench, 1)
    assert "The path changed while it was being judged" in result
    assert "two\n" not in result


async def test_a_command_is_judged_where_the_last_one_left_off(bench, project):
    asked = []
    bench.model(
        call("Bash", {"command": "cd sub"}),
        call("Bash", {"command": "cat .env"}),
        call("Bash", {"command": "cd .."}),
        call("Bash", {"command": "cat .env"}),
        text("Done."),
    )

    run = await bench.run(disallowed_tools=["Read(/sub/.env)"], approver=asking(asked))

    assert [denial.tool_input for denial in run.result.denials] == [{"command": "cat .env"}]
    assert "Read(/sub/.env)" in run.result.denials[0].reason
    assert results_of(bench, 4) == ["KEY=needle"]
    assert asked == []


async def test_a_rule_that_asks_is_heard_in_the_mode_that_asks_nothing(bench, project):
    asked = []
    bench.model(call("Write", {"file_path": "new.txt", "content": "x"}), text("Done."))

    await bench.run(ask_tools=["Edit(*.txt)"], permission_mode="bypassPermissions", approver=asking(asked))

    assert asked == [("Write", "the rule Edit(*.txt) (command line) wants a person to be asked about it")]
    assert (project / "new.txt").exists()


async def test_where_only_managed_rules_count_a_yes_holds_for_one_call(bench):
    asked = []

    class Person:
        async def approve(self, call, reason):
            asked.append((call.name, call.offers, reason))
            return Verdict(ruling=Ruling.ALLOW, reason="yes", grants=("Bash(touch *)",), scope=Scope.SESSION)

    bench.model(
        call("Bash", {"command": "touch a"}),
        call("Bash", {"command": "touch b"}),
        call("Write", {"file_path": "new.txt", "content": "x"}),
        text("Done."),
    )

    run = await bench.run(written=WrittenSettings(only_managed_rules=True), approver=Person())

    assert [(name, offers) for name, offers, _ in asked] == [("Bash", ()), ("Bash", ()), ("Write", ())]
    told = [event.text for event in run.of("notice")]
    problem = "The rule was not added: only managed settings may allow something for longer than one call."
    assert told == [problem] * 3


async def test_an_added_folder_is_read_without_asking(bench, outside):
    (outside / "more").mkdir()
    (outside / "more/x").write_text("here\n")
    bench.model(call("Read", {"file_path": str(outside / "more/x")}), text("Done."))

    run = await bench.run(add_dirs=[str(outside / "more")])

    assert run.result.denials == ()


@pytest.mark.parametrize("rule", ["Bash", "Bash(*)", "B*"])
async def test_a_tool_that_is_denied_as_a_whole_is_not_offered(bench, rule):
    bench.model(text("Hello."))

    await bench.run(disallowed_tools=[rule])

    assert "Bash" not in [offered["name"] for offered in bench.bodies[0]["tools"]]


async def test_a_rule_that_cannot_work_is_refused_before_anything_runs(bench):
    with pytest.raises(OptionError, match=r"disallowed_tools.*Write\(x\) is never consulted.*did you mean Edit\(x\)\?"):
        bench.engine(disallowed_tools=["Write(x)"])


async def test_a_rule_that_is_hardly_what_was_meant_is_told_once(bench):
    bench.model(text("Hello."))

    run = await bench.run(allowed_tools=["Read(/etc/hosts)", "Raed"])

    told = [notice.text for notice in run.of("notice")]
    assert any("an absolute path has two slashes: Read(//etc/hosts)" in each for each in told)
    assert any("there is no tool named Raed" in each for each in told)
