"""Questions at a real pseudo-terminal, without a program around them: silence, ends and turns."""

import asyncio
import os
import pty
import termios

import msgspec
import pytest

from everturn.frontends.ansi import Style
from everturn.frontends.asking.approver import TerminalApprover
from everturn.frontends.asking.dialogue import MARK, Dialogue
from everturn.frontends.asking.floor import Floor
from everturn.frontends.asking.keyboard import Keyboard
from everturn.ports.policy import SETTINGS_QUESTION, Call, Offer, Ruling, Scope, Verdict
from everturn.ports.tool import Traits

COMMAND = {"command": "make"}
RULES = ("Bash(make *)",)
SESSION = Offer(scope=Scope.SESSION, rules=RULES, covers=("`make`",))
ALWAYS = Offer(
    scope=Scope.ALWAYS, rules=RULES, covers=("`make`",), past=("Bash make all",), place="/p/settings.local.json"
)


def bash(call_id="1", **fields):
    return Call(id=call_id, name="Bash", input=COMMAND, traits=Traits(), line="Bash make", **fields)


class Desk:
    """Presses the next keys whenever it is the person's turn."""

    def __init__(self, *keys, timeout_s=None, floor=None, hasty=""):
        """`hasty`: keys that are pressed when the first words of a question can be seen."""
        self.ours, self.theirs = pty.openpty()
        self.keys = list(keys)
        self.hasty = hasty
        self.written = ""
        self.turn = asyncio.Event()
        self.floor = floor or Floor()
        dialogue = Dialogue(
            Keyboard(self.theirs),
            write=self.write,
            style=Style(colour=False),
            size=lambda: (60, 24),
            timeout_s=timeout_s,
        )
        self.approver = TerminalApprover(dialogue, self.floor)

    def write(self, text):
        self.written += text
        if self.hasty and text.startswith("? "):
            os.write(self.ours, self.hasty.encode())
        if text.endswith(MARK):
            self.turn.set()
            if self.keys:
                os.write(self.ours, self.keys.pop(0).encode())

    async def ask(self, call=None, reason="mode default: make needs approval") -> Verdict:
        call = call or bash()
        asking = asyncio.create_task(self.approver.approve(call, reason))
        await asyncio.sleep(0)
        async with asyncio.timeout(60):
            await self.floor.give(call.id)
        return await asking


@pytest.fixture
def desk():
    made = []

    def make(*keys, **options):
        made.append(Desk(*keys, **options))
        return made[-1]

    yield make
    for each in made:
        os.close(each.ours)
        if each.theirs >= 0:
            os.close(each.theirs)


@pytest.mark.parametrize(
    ("keys", "verdict"),
    [
        (["y"], Verdict(ruling=Ruling.ALLOW, reason="the person said yes")),
        (["y\n"], Verdict(ruling=Ruling.ALLOW, reason="the person said yes")),
        (["n"], Verdict(ruling=Ruling.DENY, reason="the person said no")),
        (["\n"], Verdict(ruling=Ruling.DENY, reason="the person said no")),
        (["\x1b"], Verdict(ruling=Ruling.DENY, reason="the person said no")),
        (["\x04"], Verdict(ruling=Ruling.DENY, reason="the person did not answer")),
        (["Y", "yy", "n"], Verdict(ruling=Ruling.DENY, reason="the person said no")),
        (["w", "use uv.\n"], Verdict(ruling=Ruling.DENY, reason="the person said no: use uv")),
        (["w", "\n"], Verdict(ruling=Ruling.DENY, reason="the person said no")),
        (["w", "\x04"], Verdict(ruling=Ruling.DENY, reason="the person said no")),
        (
            ["s"],
            Verdict(
                ruling=Ruling.ALLOW, reason="the person said yes, for this session", grants=RULES, scope=Scope.SESSION
            ),
        ),
        (
            ["a", "n", "e", "a", "y"],
            Verdict(ruling=Ruling.ALLOW, reason="the person said yes, always", grants=RULES, scope=Scope.ALWAYS),
        ),
    ],
)
async def test_a_key_is_a_verdict(desk, keys, verdict):
    assert await desk(*keys).ask(bash(offers=(SESSION, ALWAYS))) == verdict


@pytest.mark.parametrize(
    ("keys", "verdict"),
    [
        (["y"], Verdict(ruling=Ruling.ALLOW, reason="the person said yes")),
        (["s", "a", "n"], Verdict(ruling=Ruling.DENY, reason="the person said no")),
        (["\n"], Verdict(ruling=Ruling.DENY, reason="the person said no")),
        (["\x04"], Verdict(ruling=Ruling.DENY, reason="the person did not answer")),
    ],
)
async def test_settings_that_changed_are_shown_whole_and_agreed_to_or_not(desk, keys, verdict):
    changes = [f"/p/.everturn/settings.json:{number} allows Bash(make {number} \x1b[2J)" for number in range(100)]
    question = Call(id="1", name=SETTINGS_QUESTION, input={"changes": changes}, traits=Traits(), line="")
    table = desk(*keys)
    assert await table.ask(question) == verdict
    assert all(f"(make {number} \\e[2J)" in table.written.replace("\n│ ", "") for number in range(100))


def wants(name, **given):
    return Call(id="1", name=name, input=given, traits=Traits(), line=name, offers=(SESSION, ALWAYS))


LONG = {
    "blanks": wants("Bash", command=f"ls{' ' * 60 * 300}; touch hidden;{' ' * 60 * 300}true"),
    "an export": msgspec.structs.replace(
        wants("Bash", command="make"), exports=(f"CC=cc{' ' * 60 * 300}; touch hidden;{' ' * 60 * 300}true",)
    ),
    "lines": wants("Bash", command="\n".join(["# x"] * 250 + ["touch hidden"] + ["# x"] * 250)),
    "a file": wants("Write", file_path="x.py", content="\n".join(["# x"] * 60 + ["touch hidden"] + ["# x"] * 60)),
    "a change": wants("Edit", file_path="x.py", old_string="x\n" * 50, new_string="touch hidden\n" + "x\n" * 50),
    "a notebook": wants("NotebookEdit", notebook_path="x", new_source="x\n" * 50 + "touch hidden\n" + "x\n" * 50),
    "another tool": wants("mcp__a__b", code="x\n" * 50 + "touch hidden\n" + "x\n" * 50),
    "an address": wants("WebFetch", url="https://a/" + "x" * 3_000 + "touch hidden" + "x" * 3_000, prompt="p"),
}


@pytest.mark.parametrize("call", LONG.values(), ids=LONG)
@pytest.mark.parametrize("key", ["y", "s", "a"])
async def test_no_yes_counts_before_every_row_was_shown(desk, call, key):
    at = desk(key, "n")
    assert (await at.ask(call)).ruling is Ruling.DENY
    assert "One key, please: m n w e" in at.written

    at = desk()
    asking = asyncio.create_task(at.ask(call))
    while not asking.done():
        await at.turn.wait()
        at.turn.clear()
        seen = "touch hidden" in at.written.replace("\n│ ", "")
        done = "[y] yes, this once" in at.written
        assert seen or not done
        os.write(at.ours, b"y" if done else b"m")
        if done:
            break
    assert (await asking).ruling is Ruling.ALLOW


@pytest.mark.parametrize("call", LONG.values(), ids=LONG)
async def test_an_explanation_shows_every_row_too(desk, call):
    at = desk("e", "y")

    assert (await at.ask(call)).ruling is Ruling.ALLOW
    assert "touch hidden" in at.written.replace("\n│ ", "")


async def test_where_a_command_runs_and_what_was_exported_before_it_are_shown(desk):
    at = desk("n")

    await at.ask(bash(folder="/p/ven\x1b[2Jdor", exports=("PATH=/tmp/evil:/usr/bin", "CC=\u202ecc")))

    assert (
        "│ make\n"
        "  runs in another folder than the working folder:\n"
        "│ /p/ven\\e[2Jdor\n"
        "  with what earlier commands have exported:\n"
        "│ PATH=/tmp/evil:/usr/bin\n"
        "│ CC=\\u202ecc\n"
        "  asks: "
    ) in at.written


async def test_a_key_that_was_pressed_while_the_question_was_being_shown_is_no_answer(desk):
    verdict = await desk("n", hasty="y\n").ask()

    assert verdict == Verdict(ruling=Ruling.DENY, reason="the person said no")


async def test_nobody_within_the_time_is_no_yes(desk):
    at = desk(timeout_s=0.05)

    verdict = await at.ask()

    assert verdict == Verdict(ruling=Ruling.DENY, reason="the person did not answer")


async def test_a_terminal_that_is_gone_is_no_yes(desk):
    at = desk()
    leader, at.ours = at.ours, os.open(os.devnull, os.O_RDONLY)
    os.close(leader)

    verdict = await at.ask()

    assert verdict == Verdict(ruling=Ruling.DENY, reason="the person did not answer")


async def test_always_tells_the_file_the_rule_its_meaning_and_its_past(desk):
    at = desk("a", "n", "n")

    await at.ask(bash(offers=(ALWAYS,)))

    assert (
        "This will be added to /p/settings.local.json:\n"
        "│ Bash(make *)\n"
        "    `make`\n"
        "  Earlier calls that it would have allowed (1):\n"
        "│ Bash make all\n"
        "[y] write it\n"
        "[n] back\n"
        "> n\n"
    ) in at.written


async def test_an_explanation_tells_what_two_offers_add_alike_once(desk):
    at = desk("e", "n")
    session = Offer(scope=Scope.SESSION, rules=ALWAYS.rules, covers=ALWAYS.covers, past=ALWAYS.past)

    await at.ask(bash(offers=(session, ALWAYS)))

    assert "For this session, or always:\n│ Bash(make *)\n" in at.written
    assert at.written.count("│ Bash(make *)\n") == 1


async def test_an_explanation_tells_part_by_part(desk):
    at = desk("e", "n")

    await at.ask(bash(details=("allow: make (a rule)", "ask: curl x (no rule)")))

    assert "  allow: make (a rule)\n  ask: curl x (no rule)\n" in at.written
    assert "No narrow rule would let it run without asking." in at.written


async def test_the_terminal_is_as_before_also_after_a_cancelled_question(desk):
    at = desk()
    before = termios.tcgetattr(at.theirs)
    asking = asyncio.create_task(at.approver.approve(bash(), "so"))
    await asyncio.sleep(0)
    giving = asyncio.create_task(at.floor.give("1"))
    await at.turn.wait()
    assert termios.tcgetattr(at.theirs) != before

    asking.cancel()
    await giving

    assert termios.tcgetattr(at.theirs) == before


async def test_a_question_that_nobody_asks_any_more_holds_nobody_up():
    await Floor().give("gone")


async def test_plans_and_questions_are_declined_by_silence(desk):
    plan = Call(id="1", name="ExitPlanMode", input={"plan": "# P"}, traits=Traits(needs_person=True), line="plan")
    enter = Call(id="1", name="EnterPlanMode", input={}, traits=Traits(needs_person=True), line="plan")
    option = {"label": "A", "description": ""}
    asked = {"question": "Q?", "header": "", "options": [option, {**option, "label": "B"}], "multiSelect": False}
    question = Call(
        id="1", name="AskUserQuestion", input={"questions": [asked]}, traits=Traits(needs_person=True), line="ask"
    )
    for call in (plan, enter, question):
        verdict = await desk("\x04").ask(call)
        assert verdict == Verdict(ruling=Ruling.DENY, reason="the person did not answer")
    assert (await desk("y").ask(enter)).ruling is Ruling.ALLOW
    assert (await desk("n").ask(question)).reason == "the person does not want to answer"
    assert (await desk("2").ask(question)).input == {"questions": [asked], "answers": {"Q?": "B"}}
