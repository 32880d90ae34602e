"""User and system context: added when a request is made, frozen for the session, never part of the transcript."""

from everturn.modelserver import call, text, too_long

USER = {"project": "A tool for gardeners.", "date": "2030-01-01"}
SYSTEM = {"branch": "main", "status": "clean"}


async def test_user_context_is_a_first_hidden_message_in_a_reminder_tag(bench):
    bench.model(call("Glob", {"pattern": "*"}), text("Done."))
    engine = bench.engine(user_context=USER)

    run = await bench.go_on(engine, "Hi.")

    for messages in bench.sent:
        reminder, prompt = messages[0]["content"]
        assert reminder["text"].startswith("<system-reminder>")
        assert reminder["text"].endswith("</system-reminder>")
        assert "A tool for gardeners." in reminder["text"]
        assert prompt["text"] == "Hi."
    assert "gardeners" not in str(engine.transcript)
    assert "gardeners" not in str(run.of("user"))
    kept = [record for record in bench.records(engine.session_id) if "gardeners" in str(record)]
    [contexts] = [record["contexts"] for record in kept]
    assert contexts["user"] == USER


async def test_system_context_is_the_last_system_block_one_line_for_each_entry(bench):
    bench.model(text("Done."))

    await bench.run(system_context=SYSTEM, append_system_prompt="Be brief.")

    *_, appended, last = [block["text"] for block in bench.bodies[0]["system"]]
    assert appended == "Be brief."
    assert last.endswith("\nmodel: claude-sonnet-5, knowledge until 2026-01\nbranch: main\nstatus: clean")


async def test_the_mark_of_the_system_prompt_stands_before_the_environment_so_that_another_session_reads_it(bench):
    bench.model(text("Done."), text("Done."))

    runs = [await bench.run(system_context={"branch": branch}) for branch in ("main", "dev")]

    for body in bench.bodies:
        assert ["cache_control" in block for block in body["system"]] == [
            *(False for _ in body["system"][2:]),
            True,
            False,
        ]
    [first], [then] = ([event.usage for event in run.of("usage")] for run in runs)
    assert first.cache_read == 0
    assert then.cache_read > 2_000


async def test_empty_contexts_are_left_out(bench):
    bench.model(text("Done."))

    await bench.run("Hi.", system_prompt="You are a gardener.", environment=False)

    assert [block["text"] for block in bench.bodies[0]["system"]] == ["You are a gardener."]
    assert bench.sent[0] == [{"role": "user", "content": [{"type": "text", "text": "Hi."}]}]


async def test_the_system_prompt_is_the_same_in_every_request_of_the_session(bench):
    bench.model(call("Glob", {"pattern": "*"}), text("Done."))
    engine = bench.engine(system_context=SYSTEM, user_context=USER, append_system_prompt="Be brief.")

    await bench.go_on(engine)
    await bench.go_on(engine)

    assert len(bench.bodies) == 3
    assert all(body["system"] == bench.bodies[0]["system"] for body in bench.bodies)
    assert all(body["tools"] == bench.bodies[0]["tools"] for body in bench.bodies)


async def test_a_prompt_of_ones_own_replaces_the_default_and_the_appended_text_follows_either(bench):
    bench.model(text("Done."))

    await bench.run(append_system_prompt="Be brief.")
    await bench.run(system_prompt="You are a gardener.", append_system_prompt="Be brief.")

    default, own = [[block["text"] for block in body["system"]] for body in bench.bodies]
    assert own[:-1] == ["You are a gardener.", "Be brief."]
    assert default[1:-1] == ["Be brief."]
    assert default[0] != own[0]


async def test_contexts_survive_a_compaction(bench):
    bench.model(text("Earlier. " * 50), too_long(), text("Done."), bench.summary())
    engine = bench.engine(user_context=USER)
    await bench.go_on(engine)

    await bench.go_on(engine)

    assert [str(messages).count("gardeners") for messages in bench.sent] == [1] * 4
