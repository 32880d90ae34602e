"""What a command printed beyond the result is in a file outside the project, which the model may read without asking."""

import re
from pathlib import Path

import pytest
from tests.tools.processes import until

from everturn.modelserver import call, text
from everturn.sessions.index.index import SessionIndex
from everturn.sessions.index.removal import load_weights, remove_session


def results_of(bench, request=-1):
    return [block for message in bench.sent[request] for block in message["content"] if block["type"] == "tool_result"]


def size_of(path):
    return Path(path).stat().st_size


def is_there(path):
    return Path(path).exists()


def remove(path):
    Path(path).unlink()


def forge_spilled(file, old, new):
    lines = file.read_text().splitlines(keepends=True)
    file.write_text("".join(line.replace(old, new) if '"spilled"' in line else line for line in lines))


async def print_much(bench, engine):
    bench.model(call("Bash", {"command": "seq 1 20000"}), text("Done."))
    run = await bench.go_on(engine)
    [ended] = run.of("tool_end")
    return ended.shown.persisted_output_path


async def test_the_rest_of_an_output_is_read_and_searched_without_asking_anybody(bench):
    engine = bench.engine(allowed_tools=["Bash"])
    path = await print_much(bench, engine)
    bench.model(
        call("Read", {"file_path": path, "offset": 10_000, "limit": 2}),
        call("Grep", {"pattern": "^12345$", "path": path, "output_mode": "content"}),
        call("Read", {"file_path": f"{path}/../../other"}),
        text("Done."),
    )

    await bench.go_on(engine)

    read, found, other = results_of(bench)[-3:]
    assert read["content"].startswith(" 10000\t10000\n 10001\t10001\n")
    assert ":12345:12345" in found["content"]
    assert other["is_error"]
    assert [denial.tool_input for denial in engine.denials] == [{"file_path": f"{path}/../../other"}]


async def test_it_lies_with_the_session_for_its_owner_alone_and_commands_that_nobody_approved_read_it_too(bench):
    engine = bench.engine(allowed_tools=["Bash(seq *)"])
    path = Path(await print_much(bench, engine))
    assert path.parent == bench.session_file(engine.session_id).with_suffix("") / "results"
    assert [each.stat().st_mode & 0o777 for each in (path, path.parent, path.parent.parent)] == [0o600, 0o700, 0o700]
    bench.model(call("Bash", {"command": f"grep -c 99 {path}; tail -n 1 {path}"}), text("Done."))

    await bench.go_on(engine)

    assert engine.denials == ()
    assert results_of(bench)[-1]["content"] == f"{sum('99' in str(number) for number in range(20_001))}\n20000"


@pytest.mark.parametrize("command", ["seq 1 20000", "head -c 100000 /dev/zero"], ids=["text", "no text"])
async def test_a_resumed_session_still_has_it_and_reads_it_without_asking(bench, command):
    bench.model(call("Bash", {"command": command}), text("Done."))
    engine = bench.engine(allowed_tools=["Bash"])
    run = await bench.go_on(engine)
    path = run.of("tool_end")[0].shown.persisted_output_path
    await engine.aclose()
    size = size_of(path)

    bench.model(
        call("Grep", {"pattern": "^12345$", "path": path, "output_mode": "count"}),
        call("Bash", {"command": f"wc -c {path}"}),
        text("Read it."),
    )
    engine = bench.engine(resume=engine.session_id)
    run = await bench.go_on(engine)

    assert engine.denials == ()
    assert run.of("notice") == []
    assert results_of(bench)[-1]["content"] == f"{size} {path}"


async def test_the_output_of_a_command_in_the_background_stays_too(bench):
    bench.model(call("Bash", {"command": "echo up; sleep 600", "run_in_background": True}), text("It runs."))
    engine = bench.engine(allowed_tools=["Bash"])
    await bench.go_on(engine)
    path = Path(re.search(r"goes to (\S+\.log)", results_of(bench)[-1]["content"])[1])
    await until(lambda: path.read_text() == "up\n")
    await engine.aclose()

    bench.model(call("Read", {"file_path": str(path)}), text("Read it."))
    engine = bench.engine(resume=engine.session_id)
    await bench.go_on(engine)

    assert engine.denials == ()
    assert results_of(bench)[-1]["content"].startswith("     1\tup")


async def test_a_journal_opens_no_file_that_no_session_has_put_there(bench, tmp_path):
    engine = bench.engine(allowed_tools=["Bash(seq *)"])
    path = await print_much(bench, engine)
    await engine.aclose()
    secret = tmp_path / "elsewhere" / "results" / "secret.txt"
    secret.parent.mkdir(parents=True)
    secret.write_text("gold")
    forge_spilled(bench.session_file(engine.session_id), path, str(secret))

    bench.model(call("Read", {"file_path": str(secret)}), call("Bash", {"command": f"cat {secret}"}), text("No."))
    engine = bench.engine(resume=engine.session_id)
    await bench.go_on(engine)

    assert len(engine.denials) == 2
    assert not any("gold" in str(result) for result in results_of(bench))


async def test_when_it_is_gone_the_resumed_model_is_told_so_once(bench):
    engine = bench.engine(allowed_tools=["Bash"])
    path = await print_much(bench, engine)
    await engine.aclose()
    remove(path)

    bench.model(text("A pity."), text("Still."))
    engine = bench.engine(resume=engine.session_id)
    run = await bench.go_on(engine, "Go on.")
    await engine.aclose()
    again = await bench.go_on(bench.engine(resume=engine.session_id), "Once more.")

    assert [event.text.partition(":")[0] for event in run.of("notice")] == [
        "Large results of this session were deleted"
    ]
    # Rules that the second run has not are told, too.
    assert [event.detail for event in run.of("attachment") if "paths" in event.detail] == [{"paths": [path]}]
    told = [block["text"] for message in bench.sent[-2] for block in message["content"] if block["type"] == "text"]
    assert [text.count(f"- gone: {path}") for text in told if "gone" in text] == [1]
    assert again.of("attachment") == []
    assert str(bench.sent[-1]).count("- gone: ") == 1


async def test_it_goes_with_the_session(bench):
    engine = bench.engine(allowed_tools=["Bash"])
    path = Path(await print_much(bench, engine))
    await engine.aclose()
    file = bench.session_file(engine.session_id)

    with SessionIndex(bench.home) as index:
        [weighed] = load_weights(index.cards())
    remove_session(file)

    assert weighed.size > 100_000
    assert not is_there(path)
    assert not is_there(file.with_suffix(""))


async def test_of_a_session_that_is_not_saved_it_goes_with_the_program(bench):
    engine = bench.engine(allowed_tools=["Bash"], persist=False)
    path = Path(await print_much(bench, engine))
    assert size_of(path) > 100_000

    await engine.aclose()

    assert not is_there(path.parent)


async def test_after_a_cleared_conversation_the_files_of_its_commands_are_read_still(bench):
    engine = bench.engine(allowed_tools=["Bash"])
    path = await print_much(bench, engine)
    engine = engine.clear()
    bench.model(call("Read", {"file_path": path, "limit": 1}), text("Done."))

    await bench.go_on(engine)

    assert results_of(bench)[-1]["content"].startswith("     1\t1\n")


async def test_the_cap_of_one_reading_comes_from_the_environment(bench):
    bench.env["CLAUDE_CODE_FILE_READ_MAX_OUTPUT_TOKENS"] = "12"
    (bench.folder / "a.txt").write_text("12345678\n" * 10)
    bench.model(call("Read", {"file_path": "a.txt"}), call("Read", {"file_path": "a.txt", "limit": 9}), text("Done."))

    await bench.run()

    first, second = results_of(bench)
    assert first["content"].endswith(
        "(PARTIAL view: the page is full. Lines 1 to 4 of 10. Go on with offset=5 and limit=4.)"
    )
    assert second["is_error"]
    assert "(9 lines from line 1 on) is more than 12 tokens" in second["content"]
    [read] = [offered for offered in bench.bodies[0]["tools"] if offered["name"] == "Read"]
    assert "12 tokens at a time" in read["description"]


async def test_the_name_of_its_file_is_short_and_each_has_its_own(bench):
    engine = bench.engine(allowed_tools=["Bash"])

    paths = [await print_much(bench, engine) for _ in range(2)]

    assert len({*paths}) == len(paths)
    assert all(re.fullmatch(r"[0-9a-f]{8}\.log", Path(path).name) for path in paths)
