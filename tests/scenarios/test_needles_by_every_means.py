"""Whatever makes a conversation smaller, and in whatever language it is held: what must not be lost is still sent."""

import json
import re
from contextlib import aclosing
from random import Random

import pytest
from tests.conftest import wait_for_tasks

from everturn.core.state import Reason
from everturn.modelserver import call, calls, error, say, text, too_long, when
from everturn.ports.policy import Ruling, Verdict

ROUNDS = 5
WINDOW = 60_000
MODELS = [{"id": "claude-sonnet-5", "window": WINDOW, "max_output": 4_000}]
WORDS = {
    "plain": "needle {kind} {number} of the haystack",
    "German": "Nädel {kind} Nr. {number}: „niemals löschen“, größer, Füße",
    "Japanese": "針 {kind} {number} 番、絶対に消さないでください。",
    "Arabic": "إبرة {kind} رقم {number} لا تُحذف",
    "awkward": 'needle {kind} {number} "quoted" \\ back\\nslash\t<summary>{{}}</summary> 🪡 %s $HOME `x`',
}
COLLAPSED = when("It was done.", last_user_contains="finished stretch")
QUESTION = {
    "question": "Which ones?",
    "header": "Ones",
    "options": [{"label": "These", "description": "a"}, {"label": "Those", "description": "b"}],
}


class Facts:
    """What comes in, by the way it comes."""

    def __init__(self, folder, words):
        self._words = words
        self.prompt, self.meanwhile, self.rules, self.pins = (self._some(kind) for kind in ("P", "M", "R", "N"))
        self.rejected, self.plan, self.tasks, self.answers = (self._some(kind) for kind in ("J", "L", "T", "A"))
        self.refusal, self.error = self._some("Q"), self._some("E")
        self.files = [str(folder / f"needle-{number}-über 針.txt") for number in range(10)]

    def _some(self, kind, count=5):
        return [self._words.format(kind=kind, number=f"{number:02d}7") for number in range(count)]

    @property
    def lasting(self):
        """Those that outlive the query they came with."""
        return [
            *(*self.rules, *self.pins, *self.rejected, *self.plan, *self.tasks[1:]),
            *(*self.answers, *self.refusal, *self.files, *self.error),
        ]

    @property
    def present(self):
        return [*self.prompt, *self.meanwhile]


class Person:
    """Rejects the first plan and the first question with reasons, and approves the second ones."""

    def __init__(self, facts):
        self._said = {
            "ExitPlanMode": iter([self._no(facts.rejected), Verdict(ruling=Ruling.ALLOW, reason="yes")]),
            "AskUserQuestion": iter([self._no(facts.refusal)]),
        }
        self._answers = facts.answers

    async def approve(self, call, reason):
        yes = Verdict(ruling=Ruling.ALLOW, reason="yes")
        if call.name == "AskUserQuestion":
            yes = Verdict(
                ruling=Ruling.ALLOW,
                reason="answered",
                input={**call.input, "answers": {"Which ones?": "\n".join(self._answers)}},
            )
        return next(self._said.get(call.name, iter(())), yes)

    @staticmethod
    def _no(words):
        return Verdict(ruling=Ruling.DENY, reason="\n".join(words))


def worded(value):
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def read(body):
    """All that the model sees, tools apart."""
    texts = [block["text"] for block in body["system"]]
    for message in body["messages"]:
        for block in message["content"]:
            match block["type"]:
                case "text":
                    texts.append(block["text"])
                case "tool_use":
                    texts += map(worded, block["input"].values())
                case "tool_result":
                    content = block["content"]
                    texts += [content] if isinstance(content, str) else [part.get("text", "") for part in content]
    return "\n".join(texts)


def forgetful(seed):
    """A summariser that keeps a random tenth of the words."""
    random = Random(seed)  # noqa: S311 (nothing secret)

    def sum_up(ask):
        return say(" ".join(word for word in read(ask.body).split() if random.random() < 0.1)[:6_000] or "Nothing.")

    return sum_up


def todo(content, status="pending"):
    return {"content": content, "status": status, "activeForm": "Working"}


def play_facts(bench, facts):
    """The work that brings every kind of fact."""
    (bench.folder / "fail.sh").write_text("cat errors >&2; exit 3")
    (bench.folder / "errors").write_text("\n".join(facts.error))
    return [
        call("EnterPlanMode", {}),
        call("ExitPlanMode", {"plan": "A first plan."}),
        call("ExitPlanMode", {"plan": "\n".join(facts.plan)}),
        call("TodoWrite", {"todos": [todo(facts.tasks[0], "in_progress"), *map(todo, facts.tasks[1:3])]}),
        call("TodoWrite", {"todos": [todo(facts.tasks[0], "completed"), *map(todo, facts.tasks[1:])]}),
        call("AskUserQuestion", {"questions": [QUESTION]}),
        call("AskUserQuestion", {"questions": [QUESTION]}),
        say(*(call("Write", {"file_path": path, "content": "new\n"}) for path in facts.files)),
        call("Bash", {"command": "sh fail.sh"}),
    ]


def chatter(seed):
    return [call("Bash", {"command": f"seq {seed}000 {seed}900; echo {number}"}) for number in range(4)]


def open_engine(bench, facts, **options):
    engine = bench.engine(
        **{
            "models": MODELS,
            "approver": Person(facts),
            "permission_mode": "bypassPermissions",
            "user_context": {"rules": "\n".join(facts.rules)},
            **options,
        }
    )
    for pin in facts.pins:
        engine.pin(pin)
    return engine


def missing(bench, needles):
    seen = read(bench.bodies[-1])
    return [needle for needle in needles if needle not in seen]


async def work(bench, engine, facts):
    said = iter(facts.meanwhile)

    def send_meanwhile(event):
        if event.__struct_config__.tag == "tool_end" and (words := next(said, None)):
            engine.enqueue(words)

    return await bench.go_on(engine, "Do this:\n" + "\n".join(facts.prompt), on_event=send_meanwhile)


@pytest.mark.parametrize("words", WORDS)
@pytest.mark.parametrize("refusal", [too_long(), error(413)], ids=["400", "413"])
async def test_five_refusals(bench, words, refusal):
    facts = Facts(bench.folder, WORDS[words])
    rounds = [answer for seed in range(1, ROUNDS + 1) for answer in (refusal, *chatter(seed))]
    bench.model(*play_facts(bench, facts), *rounds, text("Done."), bench.summary(forgetful(words)), COLLAPSED)

    run = await work(bench, open_engine(bench, facts), facts)

    assert run.reason is Reason.COMPLETED
    assert run.transitions.count("reactive_compact_retry") == ROUNDS
    assert missing(bench, [*facts.present, *facts.lasting]) == []


async def test_a_window_that_really_fills_up(bench):
    """Nobody scripts a refusal: the server has a window of its own, and the work is larger than it."""
    facts = Facts(bench.folder, WORDS["plain"])
    talk = [say("Some words about it. " * 120, call("Bash", {"command": f"echo {number}"})) for number in range(140)]
    bench.model(*play_facts(bench, facts), *talk, text("Done."), bench.summary(forgetful(7)), COLLAPSED, window=20_000)
    engine = open_engine(bench, facts, models=[{**MODELS[0], "window": 20_000, "max_output": 2_000}])

    run = await work(bench, engine, facts)

    assert run.reason is Reason.COMPLETED
    assert [event.stage for event in run.of("context")].count("compact") >= ROUNDS
    assert missing(bench, [*facts.present, *facts.lasting]) == []


async def test_by_hand_again_and_again(bench):
    facts = Facts(bench.folder, WORDS["awkward"])
    talk = [text("Some words. " * 100)] * (ROUNDS + 1)
    bench.model(*play_facts(bench, facts), *talk, bench.summary(forgetful(3)), COLLAPSED)
    engine = open_engine(bench, facts)
    await work(bench, engine, facts)
    for number in range(ROUNDS):
        async with aclosing(engine.compact("Be brief.")) as events:
            *_, notice = [event async for event in events]
        assert notice.text.startswith("Compacted from")
        await bench.go_on(engine, f"And {number}?")

    assert missing(bench, facts.lasting) == []


async def test_by_leaving_out_the_oldest_rounds_more_than_once(bench):
    facts = Facts(bench.folder, WORDS["German"])
    bench.model(*play_facts(bench, facts), *[text("Some words. " * 100)] * 21, COLLAPSED)
    engine = open_engine(bench, facts, limits={"snip_tokens": 3_000})
    await work(bench, engine, facts)
    runs = [await bench.go_on(engine, f"And {number}?") for number in range(20)]

    assert [event.stage for run in runs for event in run.of("context")].count("snip") >= 2
    assert missing(bench, facts.lasting) == []


async def test_by_finished_work_that_is_collapsed_and_then_left_out(bench):
    facts = Facts(bench.folder, WORDS["plain"])
    bench.model(*play_facts(bench, facts), *[text("Some words. " * 100)] * 21, COLLAPSED)
    options = {"limits": {"snip_tokens": 4_600, "collapse_share": 0}}
    engine = open_engine(bench, facts, **options)
    await work(bench, engine, facts)
    answers = [message for message in engine.transcript if message.role == "assistant"]
    engine.collapses.stage(answers[0].id, engine.transcript[-2].id, "All of it was done.")
    runs = [await bench.go_on(engine, f"And {number}?") for number in range(10)]
    await engine.aclose()
    again = bench.engine(
        **options, models=MODELS, resume=engine.session_id, user_context={"rules": "\n".join(facts.rules)}
    )
    runs += [await bench.go_on(again, f"And again {number}?") for number in range(10)]

    assert [event.stage for run in runs for event in run.of("context")][:2] == ["collapse", "snip"]
    assert "All of it was done." not in read(bench.bodies[-1])
    assert missing(bench, facts.lasting) == []


@pytest.mark.parametrize("asked", [True, False], ids=["asked for", "told unasked"])
async def test_a_command_that_failed_in_the_background(bench, asked):
    def wait_for_it(ask):
        return call("TaskOutput", {"task_id": re.search(r"as task (\w+)", str(ask.messages))[1]})

    wait = "until [ -e go ]; do sleep 0.01; done"
    bench.model(
        call("Bash", {"command": f"{wait}; echo needle-in-the-dark; exit 3", "run_in_background": True}),
        calls(("Bash", {"command": "touch go"}), *(() if asked else (("Wait", {}),))),
        *([wait_for_it] if asked else []),
        *(text("Some words. " * 100), too_long(), text("Done."), bench.summary("Nothing much.")),
    )
    engine = bench.engine(permission_mode="bypassPermissions", tools=[wait_for_tasks])
    await bench.go_on(engine, "Begin.")

    await bench.go_on(engine, "Go on.")

    seen = read(bench.bodies[-1])
    assert "## Commands that failed and have not passed since" in seen
    assert ("needle-in-the-dark\n" in seen, wait in seen) == (True, True)
