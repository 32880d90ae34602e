"""Results that are too large to be sent go into files beside the session, and both their ends stay in sight."""

from pathlib import Path

from tests.pace import measured

from everturn import tool
from everturn.core.hiding import MARK
from everturn.modelserver import call, calls, say, text

HUGE = 50_000_000
"""Characters."""
A_WHILE_S = 20
"""A small part of what a program that copies, escapes or searches it again and again would take on a busy machine."""


@tool(reads_only=True)
async def dump(letter: str, size: int) -> str:
    """Prints a letter many times."""
    return f"begin {letter * size} end"


def results_of(bench, request=-1):
    return [block for message in bench.sent[request] for block in message["content"] if block["type"] == "tool_result"]


def file_of(content):
    return Path(content.partition("The whole result is in ")[2].partition(";")[0])


def options(**more):
    return {"tools": [dump], "allowed_tools": ["dump"], **more}


async def test_the_whole_is_read_back_in_pages_without_asking_anybody(bench):
    bench.model(call("dump", {"letter": "a", "size": 60_000}), text("I see."))
    engine = bench.engine(**options())

    run = await bench.go_on(engine)

    [result] = results_of(bench)
    path = file_of(result["content"])
    assert result["content"].startswith("begin aaa")
    assert result["content"].endswith("aaa end")
    assert len(result["content"]) < 5_000
    assert path.read_text() == f"begin {'a' * 60_000} end"
    assert path.is_relative_to(bench.session_file(engine.session_id).with_suffix("") / "results")
    assert path.stat().st_mode & 0o077 == 0
    [change] = run.of("context")
    assert (change.stage, change.cause) == ("tool_results", "too_large")
    assert change.tokens_after < 2_000
    assert change.tokens_before > 20_000
    [record] = [record for record in bench.records(engine.session_id) if record["type"] == "spilled"]
    assert (record["path"], record["characters"]) == (str(path), 60_010)

    bench.model(call("Grep", {"pattern": "end", "path": str(path), "output_mode": "count"}), text("Found."))
    await bench.go_on(engine)
    assert engine.denials == ()
    assert "1" in results_of(bench)[-1]["content"]


async def test_the_largest_of_many_results_give_way_until_the_rest_fits(bench):
    calls = [call("dump", {"letter": letter, "size": size}) for letter, size in [("a", 900), ("b", 2_500), ("c", 700)]]
    bench.model(say(*calls), text("I see."))

    await bench.run(**options(limits={"message_results": 3_000, "result_preview": 500}))

    first, second, third = (result["content"] for result in results_of(bench))
    assert (first, third) == (f"begin {'a' * 900} end", f"begin {'c' * 700} end")
    assert file_of(second).read_text() == f"begin {'b' * 2_500} end"


async def test_in_a_small_window_less_is_too_large(bench):
    bench.model(call("dump", {"letter": "a", "size": 40_000}), text("I see."))

    await bench.run(**options(models=[{"id": "claude-sonnet-5", "window": 20_000, "max_output": 2_000}]))

    assert len(results_of(bench)[0]["content"]) < 5_000


async def test_fifty_megabytes_take_a_moment_and_leave_the_session_small(bench):
    bench.model(call("dump", {"letter": "a", "size": HUGE}), text("I see."))
    engine = bench.engine(**options())

    with measured() as spent:
        await bench.go_on(engine)

    assert spent.seconds < A_WHILE_S
    assert file_of(results_of(bench)[0]["content"]).stat().st_size == HUGE + 10
    assert bench.session_file(engine.session_id).stat().st_size < 100_000


async def test_many_huge_results_of_one_round_are_each_in_a_file(bench):
    bench.model(say(*(call("dump", {"letter": letter, "size": HUGE // 5}) for letter in "abcdef")), text("I see."))
    engine = bench.engine(**options())

    await bench.go_on(engine)

    results = [result["content"] for result in results_of(bench)]
    assert [file_of(result).stat().st_size for result in results] == [HUGE // 5 + 10] * 6
    assert [result.count(letter * 100) > 0 for result, letter in zip(results, "abcdef", strict=True)] == [True] * 6
    assert bench.session_file(engine.session_id).stat().st_size < 200_000


async def test_a_resumed_session_sends_the_same_bytes_even_when_the_files_are_gone(bench):
    bench.model(call("dump", {"letter": "a", "size": 60_000}), text("I see."))
    engine = bench.engine(**options())
    await bench.go_on(engine)
    await engine.aclose()
    path = file_of(results_of(bench)[0]["content"])

    bench.model(call("Read", {"file_path": str(path), "limit": 1}), text("Read it."))
    engine = bench.engine(**options(resume=engine.session_id))
    await bench.go_on(engine)
    await engine.aclose()
    assert bench.sent[2][: len(bench.sent[1])] == bench.sent[1]
    assert engine.denials == ()
    assert results_of(bench)[-1]["content"].startswith("     1\tbegin aaa")

    path.unlink()
    bench.model(call("Read", {"file_path": str(path), "limit": 1}), text("It is gone."))
    engine = bench.engine(**options(resume=engine.session_id))
    run = await bench.go_on(engine)
    assert [event.text for event in run.of("notice")] == [
        f"Large results of this session were deleted: {path}. The model knows their beginnings and ends."
    ]
    assert bench.sent[4][: len(bench.sent[3])] == bench.sent[3]
    assert "does not exist" in results_of(bench)[-1]["content"]


async def test_a_copy_of_a_session_reads_the_files_of_the_first(bench):
    bench.model(call("dump", {"letter": "a", "size": 60_000}), text("I see."))
    engine = bench.engine(**options())
    await bench.go_on(engine)
    path = file_of(results_of(bench)[0]["content"])
    bench.model(call("Read", {"file_path": str(path), "limit": 1}), text("Read it."))

    copy = bench.engine(**options(resume=engine.session_id, fork_session=True))
    await bench.go_on(copy)

    assert copy.denials == ()
    assert results_of(bench)[-1]["content"].startswith("     1\tbegin aaa")


async def test_what_an_unsaved_session_put_aside_ends_with_it(bench):
    bench.model(call("dump", {"letter": "a", "size": 60_000}), text("I see."))
    engine = bench.engine(**options(persist=False))
    await bench.go_on(engine)
    path = file_of(results_of(bench)[0]["content"])
    assert path.exists()

    await engine.aclose()

    assert not path.parent.exists()


async def test_our_own_credentials_do_not_get_into_the_file(bench):
    @tool(reads_only=True, result_limit=100)
    async def leak() -> str:
        """Prints the environment."""
        return f"{'x' * 500}={bench.env['ANTHROPIC_API_KEY']}\n{'y' * 500}"

    bench.model(call("leak"), text("I see."))
    await bench.run(tools=[leak], allowed_tools=["leak"])
    assert file_of(results_of(bench)[0]["content"]).read_text() == f"{'x' * 500}={MARK}\n{'y' * 500}"


async def test_where_no_file_can_be_written_the_middle_is_lost_and_that_is_said(bench):
    bench.model(call("dump", {"letter": "a", "size": 60_000}), text("I see."))
    engine = bench.engine(**options())
    folder = bench.session_file(engine.session_id).with_suffix("")
    folder.parent.mkdir(parents=True, exist_ok=True)
    folder.write_text("no folder")

    await bench.go_on(engine)

    assert "there was no room to keep them" in results_of(bench)[0]["content"]


async def test_a_file_of_which_only_the_ends_were_sent_is_not_read_whole(bench):
    (bench.folder / "a.txt").write_text("".join(f"line {number}\n" for number in range(400)))
    read, write = ("Read", {"file_path": "a.txt"}), {"file_path": "a.txt", "content": "lost"}
    edit = {"file_path": "a.txt", "old_string": "line 200\n", "new_string": ""}
    bench.model(
        calls(read, ("Bash", {"command": "seq 500"})), call("Write", write), call(*read), call("Edit", edit), text(".")
    )

    await bench.run(permission_mode="acceptEdits", limits={"message_results": 7_000, "result_preview": 1_000})

    first, _, refused, again, edited = [block["content"] for block in results_of(bench)]
    assert "characters are left out here" in first
    assert refused == (
        f"<tool_use_error>Only a part of {bench.folder}/a.txt has been read. Read the whole file first, or change it with "
        "Edit.</tool_use_error>"
    )
    assert again.startswith("     1\tline 0\n")
    assert edited == f"Edited {bench.folder}/a.txt: line 201."
