"""A yes that holds longer than one call: it is offered where it helps, added to the rules, and written down."""

import json

import pytest

from everturn.modelserver import call, calls, text
from everturn.ports.policy import Ruling, Scope, Verdict

PAGES = "https://pages.example/"


class Person:
    """Takes the first offer of a scope; says yes once where there is none."""

    def __init__(self, scope=Scope.ONCE):
        self.scope = scope
        self.asked = []

    async def approve(self, call, reason):
        self.asked.append(call)
        offer = next((offer for offer in call.offers if offer.scope is self.scope), None)
        if offer is None:
            return Verdict(ruling=Ruling.ALLOW, reason="yes")
        return Verdict(ruling=Ruling.ALLOW, reason="yes", grants=offer.rules, mode=offer.mode, scope=offer.scope)

    @property
    def lines(self):
        return [asked.line for asked in self.asked]


def write(name):
    return call("Write", {"file_path": name, "content": "x"})


def bash(command):
    return call("Bash", {"command": command})


def local_settings(bench):
    return bench.folder / ".everturn" / "settings.local.json"


async def test_a_yes_once_holds_once(bench):
    person = Person()
    bench.model(bash("touch a.txt"), bash("touch a.txt"), text("Done."))

    await bench.run(approver=person)

    assert person.lines == ["Bash touch a.txt"] * 2


async def test_a_yes_for_the_session_is_not_asked_again_and_not_written(bench):
    person = Person(Scope.SESSION)
    bench.model(bash("touch a.txt"), bash("touch a.txt"), text("Done."), bash("touch a.txt"), text("Done."))
    engine = bench.engine(approver=person)

    await bench.go_on(engine)
    await bench.go_on(engine)

    assert person.lines == ["Bash touch a.txt"]
    assert not local_settings(bench).exists()


@pytest.mark.needs("bubblewrap")
async def test_a_yes_for_the_session_ends_with_the_program_and_a_resumed_session_asks_again(bench):
    """The conversation goes on, perhaps days later and for somebody else at the keyboard; the mode goes with it."""
    person = Person(Scope.SESSION)
    bench.model(bash("touch a.txt"), write("b.txt"), text("Done."), bash("touch a.txt"), write("c.txt"), text("Done."))
    engine = bench.engine(approver=person)
    await bench.go_on(engine)
    await engine.aclose()

    resumed = bench.engine(approver=person, resume=engine.session_id)
    await bench.go_on(resumed)

    assert person.lines == ["Bash touch a.txt", "Write b.txt"]
    assert resumed.policy.mode == "acceptEdits"


async def test_always_is_written_to_the_local_settings(bench):
    person = Person(Scope.ALWAYS)
    bench.model(bash("touch a.txt"), bash("touch a.txt"), text("Done."))

    run = await bench.run(approver=person)

    [asked] = person.asked
    always = next(offer for offer in asked.offers if offer.scope is Scope.ALWAYS)
    assert json.loads(local_settings(bench).read_text()) == {"permissions": {"allow": list(always.rules)}}
    assert str(local_settings(bench)) in always.place
    assert len(always.covers) == len(always.rules) == 1
    assert run.of("notice") == []


async def test_what_cannot_be_written_holds_for_the_session_and_is_told(bench):
    person = Person(Scope.ALWAYS)
    (bench.folder / ".everturn").write_text("in the way")
    bench.model(bash("touch a.txt"), bash("touch a.txt"), text("Done."))

    run = await bench.run(approver=person)

    assert len(person.asked) == 1
    [notice] = run.of("notice")
    assert "holds for this session only" in notice.text
    assert notice.level == "warning"


async def test_an_offer_tells_what_of_the_past_it_would_have_let_run(bench):
    person = Person()
    bench.model(bash("touch a.txt"), bash("mkdir b"), bash("touch a.txt"), text("Done."))

    await bench.run(approver=person)

    assert [offer.past for offer in person.asked[2].offers] == [("Bash touch a.txt",)] * 2


async def test_a_rule_that_holds_already_is_not_offered_again(bench):
    person = Person(Scope.SESSION)
    bench.model(bash("touch a.txt && mkdir b"), text("Done."))

    await bench.run(approver=person, allowed_tools=["Bash(touch *)"])

    assert [offer.rules for offer in person.asked[0].offers] == [("Bash(mkdir b)",)] * 2


async def test_what_other_rules_let_run_is_no_part_of_an_offer_s_past(bench):
    person = Person(Scope.SESSION)
    bench.model(bash("touch a.txt"), bash("rm a.txt"), text("Done."))

    await bench.run(approver=person)

    assert [offer.past for offer in person.asked[1].offers] == [()] * 2


@pytest.mark.parametrize(
    ("command", "rule", "scopes"),
    [
        ("python3 -m pytest --version", "Bash(python3 -m pytest *)", [Scope.SESSION, Scope.ALWAYS]),
        ("GREETING=hello touch a.txt", "Bash(GREETING=hello touch a.txt)", [Scope.SESSION]),
        ("python3 -c 1", "Bash(python3 -c 1)", [Scope.SESSION]),
    ],
)
async def test_a_command_that_runs_code_or_sets_a_variable_can_be_allowed_for_the_session(bench, command, rule, scopes):
    person = Person(Scope.SESSION)
    bench.model(bash(command), bash(command), text("Done."))

    await bench.run(approver=person)

    [asked] = person.asked
    assert [(offer.scope, offer.rules) for offer in asked.offers] == [(scope, (rule,)) for scope in scopes]


async def test_edits_are_offered_for_the_session_as_a_mode(bench):
    person = Person(Scope.SESSION)
    bench.model(write("a.txt"), write("b.txt"), text("Done."))

    run = await bench.run(approver=person)

    [asked] = person.asked
    [offer] = asked.offers
    assert (offer.scope, offer.rules, offer.mode) == (Scope.SESSION, (), "acceptEdits")
    assert [event.mode for event in run.of("mode")] == ["acceptEdits"]
    assert sorted(path.name for path in bench.folder.glob("*.txt")) == ["a.txt", "b.txt"]


@pytest.mark.parametrize(
    "asked",
    [write(".git/config"), write("/etc/nowhere"), bash("rm -rf ~"), bash("$COMMAND"), bash("touch a > $b")],
)
async def test_where_no_rule_would_help_none_is_offered(bench, asked):
    class No(Person):
        async def approve(self, call, reason):
            await super().approve(call, reason)
            return Verdict(ruling=Ruling.DENY, reason="no")

    person = No()
    bench.model(asked, text("Done."))

    await bench.run(approver=person)

    assert [each.offers for each in person.asked] == [()]


async def test_an_ask_rule_cannot_be_talked_away(bench):
    person = Person(Scope.ALWAYS)
    bench.model(bash("touch a.txt"), text("Done."))

    await bench.run(approver=person, ask_tools=["Bash(touch *)"])

    assert [each.offers for each in person.asked] == [()]


async def test_a_page_is_offered_by_its_domain(bench):
    class No(Person):
        async def approve(self, call, reason):
            await super().approve(call, reason)
            return Verdict(ruling=Ruling.DENY, reason="no")

    person = No()
    bench.model(call("WebFetch", {"url": PAGES, "prompt": "?"}), text("Done."))

    await bench.run(approver=person)

    assert [(offer.scope, offer.rules, offer.covers) for offer in person.asked[0].offers] == [
        (scope, ("WebFetch(domain:pages.example)",), ("any page of pages.example",))
        for scope in (Scope.SESSION, Scope.ALWAYS)
    ]


async def test_a_rule_that_makes_no_sense_is_not_added_and_told(bench):
    class Confused(Person):
        async def approve(self, call, reason):
            return Verdict(ruling=Ruling.ALLOW, reason="yes", grants=("Bash(",), scope=Scope.ALWAYS)

    bench.model(bash("touch a.txt"), text("Done."))

    run = await bench.run(approver=Confused())

    assert (bench.folder / "a.txt").exists()
    assert not local_settings(bench).exists()
    [notice] = run.of("notice")
    assert "was not added" in notice.text


async def test_the_request_is_told_before_it_is_answered(bench):
    bench.model(calls(("Bash", {"command": "touch a.txt"})), text("Done."))

    run = await bench.run(approver=Person())

    [asked] = run.of("permission_request")
    assert (asked.name, asked.line) == ("Bash", "Bash touch a.txt")
    assert run.kinds.index("permission_request") < run.kinds.index("tool_start")


async def test_without_anybody_the_denial_names_what_would_have_let_it_run(bench):
    bench.model(bash("touch a.txt"), write("b.txt"), text("Done."))

    run = await bench.run()

    assert run.of("permission_request") == []
    [command, edit] = run.result.denials
    assert command.rules[0].startswith("Bash(touch ")
    assert (command.mode, edit.rules, edit.mode) == ("", (), "acceptEdits")
