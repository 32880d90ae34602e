"""What a command printed beyond the result is in a file outside the project, which the model may read without asking."""

from everturn.modelserver import call, text


def results_of(bench, request=-1):
    return [block for message in bench.sent[request] for block in message["content"] if block["type"] == "tool_result"]


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


async def test_after_a_cleared_conversation_the_files_of_its_commands_are_read_still(bench):
    engine = bench.engine(allowed_tools=["Bash"])
    path = await print_much(bench, engine)
    engine.clear()
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
