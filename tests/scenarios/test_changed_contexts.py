"""What stands before a conversation stays as it was at its beginning; what changes later is told once, in an attachment."""

from contextlib import aclosing

import pytest
from tests.scenarios.test_stable_prefix import breaks

from everturn.core.hiding import MARK
from everturn.core.messages import Kind
from everturn.core.window import Category
from everturn.modelserver import call, pause, text, too_long

HEAD = "Context of this conversation:"
LONG = "An earlier answer. " * 100


class Rules:
    """A context that a test changes between two prompts."""

    def __init__(self, **entries):
        self.entries = entries
        self.asked = 0

    def __call__(self):
        self.asked += 1
        return dict(self.entries)


def texts(message):
    return [block["text"] for block in message["content"] if block["type"] == "text"]


def opening(bench, number=-1):
    return texts(bench.sent[number][0])[0]


def told(bench, number=-1):
    """What the last message of a request says besides the prompt. A fork has a temporary folder of its own."""
    said = [part for part in texts(bench.sent[number][-1]) if part.startswith("<system-reminder>\nThe ")]
    return [part for part in said if "temporary folder" not in part]


def kept(bench, engine):
    return [record for record in bench.records(engine.session_id) if record["type"] == "contexts"]


def reminder(words):
    return f"<system-reminder>\n{words}\n</system-reminder>"


async def ask(bench, engine, prompt="Go on."):
    bench.model(text("Well."), bench.summary())
    return await bench.go_on(engine, prompt)


async def test_a_change_between_two_prompts_is_told_once_and_the_beginning_stays(bench):
    rules = Rules(rules="Use tabs.", style="Be brief.")
    engine = bench.engine(user_context=rules)
    await ask(bench, engine, "First.")
    await ask(bench, engine, "Second.")
    rules.entries = {"rules": "Use blanks.\nAlways.", "name": "Ada"}

    run = await ask(bench, engine, "Third.")
    await ask(bench, engine, "Fourth.")

    assert rules.asked == 4
    assert [told(bench, number) for number in range(4)] == [
        [],
        [],
        [
            reminder('The context "rules" has changed; its text is now:\nUse blanks.\nAlways.'),
            reminder('The context "style" was removed; it no longer applies.'),
            reminder('The context "name" is new:\nAda'),
        ],
        [],
    ]
    assert [opening(bench, number) for number in range(4)] == [
        reminder(f"{HEAD}\n\n# rules\nUse tabs.\n\n# style\nBe brief.")
    ] * 4
    assert breaks(bench.requests) == []
    [attached] = run.of("attachment")
    assert (attached.kind, attached.detail) == ("changed_context", {"entries": ["rules", "style", "name"]})


async def test_one_that_changes_back_is_told_in_a_few_words(bench):
    rules = Rules(rules="Use tabs.")
    engine = bench.engine(user_context=rules)
    await ask(bench, engine)
    rules.entries = {"rules": "Use blanks."}
    await ask(bench, engine)
    rules.entries = {"rules": "Use tabs."}

    await ask(bench, engine)

    assert told(bench) == [
        reminder('The context "rules" has the same text again as at the beginning of this conversation.')
    ]


async def test_a_session_without_a_context_gets_its_first_one_as_an_attachment(bench):
    options = {"system_prompt": "You are a gardener.", "environment": False}
    engine = bench.engine(**options)
    await ask(bench, engine)
    assert kept(bench, engine) == []
    await engine.aclose()

    await ask(bench, bench.engine(resume=engine.session_id, user_context={"rules": "Use tabs."}, **options))

    assert told(bench) == [reminder('The context "rules" is new:\nUse tabs.')]
    assert breaks(bench.requests) == []


async def test_a_resumed_session_begins_as_it_began_and_hears_of_each_change_once(bench):
    own = {"system_prompt": "You are a gardener.", "environment": False}
    first = {"user_context": {"rules": "Use tabs."}, "system_context": {"branch": "main"}, **own}
    then = {"user_context": {"rules": "Use blanks."}, "system_context": {"branch": "dev"}, **own}
    engine = bench.engine(**first)
    await ask(bench, engine)
    for _ in range(2):
        await engine.aclose()
        engine = bench.engine(resume=engine.session_id, **then)
        await ask(bench, engine)

    assert told(bench, 1) == [
        reminder('The context "rules" has changed; its text is now:\nUse blanks.'),
        reminder('The system context "branch" has changed; its text is now:\ndev'),
    ]
    assert told(bench, 2) == []
    assert breaks(bench.requests) == []
    assert [body["system"] for body in bench.bodies] == [bench.bodies[0]["system"]] * 3
    assert [record["type"] for record in bench.records(engine.session_id)].count("cache_break") == 0
    assert [record["contexts"] for record in kept(bench, engine)] == [
        {"user": first["user_context"], "system": first["system_context"]},
        {"user": then["user_context"], "system": then["system_context"]},
    ]


async def test_the_request_after_a_resume_is_the_one_of_a_session_that_never_stopped(bench):
    rules = Rules(rules="Use tabs.")
    engine = bench.engine(user_context=rules)
    await ask(bench, engine)
    rules.entries = {"rules": "Use blanks.", "name": "Ada"}
    await ask(bench, engine)
    file = bench.session_file(engine.session_id)
    before = file.read_bytes()
    rules.entries = {"rules": "Use nothing."}
    await ask(bench, engine, "Next.")
    await engine.aclose()

    file.write_bytes(before)
    await ask(bench, bench.engine(resume=engine.session_id, user_context=rules), "Next.")

    expected, again = bench.requests[-2:]
    assert again.raw == expected.raw


async def test_what_was_noted_without_its_message_is_told_after_all(bench):
    """Killed between the two."""
    engine = bench.engine(user_context={"rules": "Use tabs."})
    await ask(bench, engine)
    await engine.aclose()
    changed = {"user_context": {"rules": "Use blanks."}}
    again = bench.engine(resume=engine.session_id, **changed)
    await ask(bench, again)
    await again.aclose()
    file = bench.session_file(engine.session_id)
    lines = file.read_bytes().splitlines(keepends=True)
    *_, last = [number for number, line in enumerate(lines) if b'"record":{"type":"contexts"' in line]
    file.write_bytes(b"".join(lines[: last + 1]))
    bench.engines.clear()

    for expected in (1, 0):
        engine = bench.engine(resume=engine.session_id, **changed)
        await ask(bench, engine)
        assert len(told(bench)) == expected
        await engine.aclose()


async def test_a_session_of_before_takes_the_context_that_there_is(bench):
    engine = bench.engine(user_context={"rules": "Use tabs."})
    await ask(bench, engine)
    await engine.aclose()
    file = bench.session_file(engine.session_id)
    lines = file.read_bytes().splitlines(keepends=True)
    file.write_bytes(b"".join(line for line in lines if b'"record":{"type":"contexts"' not in line))

    resumed = bench.engine(resume=engine.session_id, user_context={"rules": "Use tabs."})
    await ask(bench, resumed)

    assert told(bench) == []
    assert breaks(bench.requests) == []
    assert len(kept(bench, resumed)) == 1


async def test_a_fork_and_a_way_back_know_what_was_told_up_to_there(bench):
    rules = Rules(rules="Use tabs.")
    engine = bench.engine(user_context=rules)
    await ask(bench, engine, "First.")
    earlier = engine.transcript[-1].id
    rules.entries = {"rules": "Use blanks."}
    await ask(bench, engine, "Second.")
    await engine.aclose()
    first = opening(bench, 0)

    for number, where in enumerate(({}, {"resume_at": earlier})):
        copy = bench.engine(resume=engine.session_id, fork_session=True, user_context=rules, **where)
        await ask(bench, copy, "Third.")
        assert opening(bench) == first
        assert len(told(bench)) == number
    back = bench.engine(resume=engine.session_id, resume_at=earlier, user_context=rules)
    await ask(bench, back, "Third.")
    assert (opening(bench), len(told(bench))) == (first, 1)
    await back.aclose()
    again = bench.engine(resume=engine.session_id, user_context=rules)
    await ask(bench, again, "Fourth.")
    assert (opening(bench), len(told(bench))) == (first, 0)


async def test_a_query_that_goes_on_without_a_prompt_is_told_with_what_it_goes_on_from(bench):
    engine = bench.engine(user_context={"rules": "Use tabs."}, max_turns=1)
    bench.model(call("Glob", {"pattern": "*"}))
    await bench.go_on(engine)
    await engine.aclose()
    resumed = bench.engine(resume=engine.session_id, user_context={"rules": "Use blanks."})
    bench.model(text("Went on."))
    await go_on(resumed)

    assert told(bench) == [reminder('The context "rules" has changed; its text is now:\nUse blanks.')]
    assert breaks(bench.requests) == []
    await ask(bench, resumed)
    assert told(bench) == []


def cut_after(bench, engine, mark):
    """As if it had been killed right after the last line that holds this."""
    file = bench.session_file(engine.session_id)
    lines = file.read_bytes().splitlines(keepends=True)
    *_, last = [number for number, line in enumerate(lines) if mark in line]
    file.write_bytes(b"".join(lines[: last + 1]))
    bench.engines.clear()


async def go_on(engine):
    async with aclosing(engine.resume_query()) as events:
        async for _ in events:
            pass


@pytest.mark.parametrize("lost", ["contexts", "attachment"])
async def test_killed_right_after_the_prompt_the_session_hears_of_it_without_another_one(bench, lost):
    engine = bench.engine(user_context={"rules": "Use tabs."})
    await ask(bench, engine, "First.")
    await engine.aclose()
    changed = {"user_context": {"rules": "Use blanks."}}
    again = bench.engine(resume=engine.session_id, **changed)
    await ask(bench, again, "Second.")
    await again.aclose()
    whole = bench.requests[-1]
    cut_after(bench, engine, b'"Second."' if lost == "contexts" else b'"record":{"type":"contexts"')

    bench.model(text("Went on."))
    await go_on(bench.engine(resume=engine.session_id, **changed))

    assert bench.requests[-1].raw == whole.raw


async def test_killed_right_after_the_prompt_the_session_hears_of_a_pinned_note_without_another_one(bench):
    engine = bench.engine()
    engine.pin("Never touch the vendor folder.")
    await ask(bench, engine, "First.")
    await engine.aclose()
    whole = bench.requests[-1]
    cut_after(bench, engine, b'"First."')

    bench.model(text("Went on."))
    await go_on(bench.engine(resume=engine.session_id))

    assert bench.requests[-1].raw == whole.raw


async def test_half_an_answer_that_goes_on_by_itself_is_not_interrupted_by_a_change(bench):
    """The API takes a paused answer back only as it stands, with nothing after it."""
    bench.model(pause(), text("Found."))
    engine = bench.engine(user_context={"rules": "Use tabs."})
    await bench.go_on(engine)
    await engine.aclose()
    cut_after(bench, engine, b'"stop_reason":"pause_turn"')

    bench.model(text("Went on."))
    resumed = bench.engine(resume=engine.session_id, user_context={"rules": "Use blanks."})
    assert resumed.is_unfinished
    await go_on(resumed)

    assert bench.sent[-1][-1]["role"] == "assistant"


@pytest.mark.parametrize("by_hand", [True, False])
async def test_after_a_compaction_the_beginning_and_the_last_change_are_in_sight(bench, by_hand):
    rules = Rules(rules="Use tabs.", name="Ada")
    engine = bench.engine(user_context=rules)
    await ask(bench, engine)
    for words in ("Use blanks.", "Use nothing.\n  At all.", "Use nothing.\n  At all."):
        rules.entries = {"rules": words, "name": "Bob"}
        bench.model(text(LONG))
        await bench.go_on(engine)
    if by_hand:
        bench.model(bench.summary())
        async for _ in engine.compact():
            pass
        await ask(bench, engine)
    else:
        bench.model(too_long(), text("Went on."), bench.summary())
        await bench.go_on(engine)

    first, *rest = texts(bench.sent[-1][0])
    assert first == opening(bench, 0)
    [facts] = [part for part in rest if part.startswith("What was kept word for word")]
    assert (
        "## Contexts that changed since the beginning\n"
        'The context "name" has changed; its text is now:\nBob\n\n'
        'The context "rules" has changed; its text is now:\nUse nothing.\n  At all.'
    ) in facts
    assert "Use blanks." not in str(bench.sent[-1])
    await engine.aclose()

    again = bench.engine(resume=engine.session_id, user_context=rules)
    await ask(bench, again, "Next.")
    assert told(bench) == []
    for _ in range(2):
        bench.model(text(LONG), too_long(), text("Went on."), bench.summary())
        await bench.go_on(again)
        await bench.go_on(again)
        assert str(bench.sent[-1]).count("Use nothing.\\n  At all.") == 1


async def test_a_snip_keeps_it_in_sight(bench):
    rules = Rules(rules="Use tabs.")
    engine = bench.engine(user_context=rules, limits={"snip_tokens": 500})
    await ask(bench, engine)
    rules.entries = {"rules": "Use blanks."}
    bench.model(*(text(f"Answer {number}. " * 60) for number in range(5)))
    for number in range(5):
        run = await bench.go_on(engine, f"Prompt {number}.")

    assert [change.stage for change in run.of("context")] == ["snip"]
    assert str(bench.sent[-1]).count("Use blanks.") == 1


async def test_finished_work_that_is_collapsed_and_then_left_out_keeps_it_in_sight(bench):
    rules = Rules(rules="Use tabs.")
    options = {"user_context": rules, "limits": {"snip_tokens": 4_000, "collapse_share": 0}}
    engine = bench.engine(**options)
    await ask(bench, engine)
    rules.entries = {"rules": "Use blanks."}
    (bench.folder / "a.txt").write_text("A line of it.\n" * 60)
    looks = [call("Read", {"file_path": str(bench.folder / "a.txt"), "offset": number}) for number in range(1, 4)]
    bench.model(*looks, *[text("Some words. " * 100)] * 22)
    await bench.go_on(engine)
    *_, prompt = [message for message in engine.transcript if message.kind is Kind.PROMPT]
    engine.collapses.stage(prompt.id, engine.transcript[-2].id, "All of it was done.")
    stages = []
    for number in range(20):
        run = await bench.go_on(engine, f"And {number}?")
        stages += [change.stage for change in run.of("context")]
        assert str(bench.sent[-1]).count("Use blanks.") == 1

    assert stages[:2] == ["collapse", "snip"]
    assert "All of it was done." not in str(bench.sent[-1])


def broken():
    raise ValueError("no such page")


@pytest.mark.parametrize(
    ("function", "problem"),
    [
        (broken, "ValueError: no such page"),
        (lambda: None, "must map texts to texts, not be None"),
        (lambda: {"rules": 5}, "must map texts to texts; the entry 'rules' does not"),
    ],
    ids=["raises", "gives nothing", "gives a number"],
)
async def test_a_function_that_fails_is_told_of_once_and_what_was_known_stays(bench, function, problem):
    functions = [lambda: {"rules": "Use tabs."}]

    def load():
        return functions[-1]()

    engine = bench.engine(user_context=load)
    await ask(bench, engine)
    functions.append(function)

    runs = [await ask(bench, engine) for _ in range(2)]

    assert [[notice.text for notice in run.of("notice")] for run in runs] == [
        [f"user_context cannot be used, so what the model was told before stays: {problem}"],
        [],
    ]
    assert told(bench) == []
    assert breaks(bench.requests) == []


async def test_a_function_that_fails_at_first_leaves_a_session_without_a_context(bench):
    rules = Rules(rules=5)
    engine = bench.engine(user_context=rules)
    assert Category.CONTEXT not in dict(engine.window().shares)

    run = await ask(bench, engine)
    rules.entries = {"rules": "Use tabs."}
    await ask(bench, engine)

    assert [notice.level for notice in run.of("notice")] == ["warning"]
    assert told(bench) == [reminder('The context "rules" is new:\nUse tabs.')]
    assert breaks(bench.requests) == []


async def test_a_new_conversation_of_the_same_engine_begins_with_what_holds_then(bench):
    rules = Rules(rules="Use tabs.")
    engine = bench.engine(user_context=rules)
    await ask(bench, engine)
    rules.entries = {"rules": "Use blanks."}
    engine = engine.clear()

    await ask(bench, engine)

    assert opening(bench) == reminder(f"{HEAD}\n\n# rules\nUse blanks.")
    assert told(bench) == []


async def test_a_key_in_it_reaches_neither_the_model_nor_the_disk(bench):
    key = bench.env["ANTHROPIC_API_KEY"]
    rules = Rules(rules=f"Log in with {key} now.")
    engine = bench.engine(user_context=rules, system_context={"login": key})
    await ask(bench, engine)
    rules.entries = {"rules": f"Do not use {key} here."}
    await ask(bench, engine)

    assert f"Log in with {MARK} now." in opening(bench)
    assert told(bench) == [reminder(f'The context "rules" has changed; its text is now:\nDo not use {MARK} here.')]
    assert key not in str(bench.bodies)
    assert key.encode() not in bench.session_file(engine.session_id).read_bytes()


async def test_half_a_character_does_no_harm(bench):
    rules = Rules(**{"a \ud800": "b \ud800"})
    engine = bench.engine(user_context=rules)
    await ask(bench, engine)
    await engine.aclose()

    run = await ask(bench, bench.engine(resume=engine.session_id, user_context=rules))

    assert run.of("notice") == []
    assert told(bench) == []
    assert opening(bench) == opening(bench, 0)


async def test_the_window_counts_what_changed_with_the_memory_files(bench):
    rules = Rules(memory="Use tabs.")
    engine = bench.engine(user_context=rules)
    before = dict(engine.window().shares)[Category.MEMORY]
    await ask(bench, engine)
    rules.entries = {"memory": "Use blanks. " * 100, "other": "Well. " * 100}
    await engine.aclose()
    resumed = bench.engine(resume=engine.session_id, user_context=rules)
    bench.model(text("Well."))
    await bench.go_on(resumed)

    shares = dict(resumed.window().shares)
    assert before > 0
    assert shares[Category.MEMORY] > before + 200
    assert shares[Category.CONTEXT] > 100
    assert Category.NOTES not in shares
