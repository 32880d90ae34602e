"""Our own credentials never get into the transcript, whoever brings them: a prompt, a file, a command."""

from everturn.core.state import Reason
from everturn.modelserver import call, text


def use_all(bench, key):
    (bench.folder / ".env").write_text(f'KEY="{key}"\nOTHER=sk-ant-somebody-elses\n')
    bench.model(call("Read", {"file_path": str(bench.folder / ".env")}), text("Read it."))


async def test_neither_the_model_nor_the_file_sees_the_key(bench):
    key = bench.env["ANTHROPIC_API_KEY"]
    use_all(bench, key)
    engine = bench.engine()

    run = await bench.go_on(engine, f"Is {key} in .env?")

    assert run.reason is Reason.COMPLETED
    assert key not in str(bench.bodies)
    assert key.encode() not in bench.session_file(engine.session_id).read_bytes()
    assert bench.sent[0][-1]["content"][0]["text"] == "Is [key] in .env?"
    [result] = bench.sent[1][-1]["content"]
    assert 'KEY="[key]"' in result["content"]
    assert "sk-ant-somebody-elses" in result["content"], "other people's secrets are the user's business"


async def test_what_is_sent_after_a_resume_is_what_was_sent_before(bench):
    key = bench.env["ANTHROPIC_API_KEY"]
    use_all(bench, key)
    engine = bench.engine()
    await bench.go_on(engine, f"Is {key} in .env?")
    await engine.aclose()
    before = bench.sent[1]

    bench.model(text("Went on."))
    await bench.go_on(bench.engine(resume=engine.session_id))

    assert bench.sent[-1][: len(before)] == before


async def test_what_a_helper_printed_is_hidden_as_well(bench):
    use_all(bench, "printed-by-the-helper")
    engine = bench.engine(api_key_helper="echo printed-by-the-helper")

    await bench.go_on(engine, "Read it.")

    assert "printed-by-the-helper" not in str(bench.bodies)
    assert b"printed-by-the-helper" not in bench.session_file(engine.session_id).read_bytes()
