"""Servers that crash, hang, lie or never stop talking: each costs its own call at most, and is named."""

import asyncio
import json
import os
import sys
from contextlib import suppress
from pathlib import Path

import pytest
from tests.mcp.conftest import SERVERS, text_of

from everturn.mcp.client import RECONNECT_S
from everturn.mcp.faults import ProtocolFault, ServerGone, ServerTimeout
from everturn.mcp.host import Host
from everturn.mcp.message_lines import MAX_MESSAGE
from everturn.mcp.server_process import KEPT_ERRORS
from everturn.testing.clock import FakeClock
from everturn.workspace.descendants import wait_gone

LARGE = MAX_MESSAGE // 1_000_000 + 2
"""Megabytes, more than one message may have."""


def is_alive(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@pytest.fixture
def fake_clock():
    return FakeClock()


async def test_a_server_that_crashes_at_its_start_is_quoted(plain):
    with pytest.raises(ServerGone) as caught:
        await plain("crash").connect()

    assert caught.value.text == (
        "The MCP server \"plain\" has ended with exit code 1. Its last words: No module named 'server'"
    )


async def test_a_server_that_hangs_at_its_start_is_given_up_and_quoted(plain):
    with pytest.raises(ServerTimeout) as caught:
        await plain("hang", start_timeout_s=1.0).connect()

    assert caught.value.text.startswith('The MCP server "plain" did not start within 1 s.')


async def test_a_server_that_ignores_what_it_does_not_know_is_asked_in_the_older_way(plain):
    assert (await plain("silent").connect()).protocol_version == "2025-11-25"


async def test_a_server_that_ends_at_what_it_does_not_know_is_started_again_and_asked_in_the_older_way(plain):
    assert (await plain("frightened").connect()).protocol_version == "2025-11-25"


async def test_closing_does_not_wait_for_a_server_that_hangs_at_its_start(plain):
    client = plain("hang")
    connecting = asyncio.create_task(client.connect())
    await asyncio.sleep(0)

    await client.aclose()

    assert isinstance(connecting.exception(), ServerGone)


async def test_a_version_that_nobody_knows_is_named(plain):
    with pytest.raises(ProtocolFault) as caught:
        await plain("strange-version").connect()

    assert "speaks version 1999-01-01 of the protocol" in caught.value.text


async def test_a_beginning_that_cannot_be_read_is_a_fault(plain):
    with pytest.raises(ProtocolFault):
        await plain("no-hello").connect()


async def test_a_server_that_dies_in_a_call_fails_it_and_the_next_call_finds_a_new_one(plain):
    client = plain()
    before = (await client.connect()).name

    with pytest.raises(ServerGone) as caught:
        await client.call_tool("die")

    assert caught.value.text == 'The MCP server "plain" has ended with exit code 3. Its last words: Out of memory.'
    assert text_of(await client.call_tool("echo", {"a": 1})) == '{"a": 1}'
    assert before == "plain"


async def test_a_call_that_a_server_died_of_is_not_made_again_by_itself(plain, tmp_path):
    mark = {"mark": str(tmp_path / "mark")}
    client = plain()

    with pytest.raises(ServerGone):
        await client.call_tool("die-once", mark)

    assert text_of(await client.call_tool("die-once", mark)) == "alive"


async def test_losing_a_server_and_having_it_back_is_told_with_all_that_may_have_changed(plain):
    states, changes = [], []
    back = asyncio.Event()

    def note(fault):
        states.append(fault)
        if fault is None:
            back.set()

    client = plain(wishes={"on_state": note, "on_change": changes.append})
    with pytest.raises(ServerGone):
        await client.call_tool("die")
    await back.wait()

    lost, found = states
    assert isinstance(lost, ServerGone)
    assert found is None
    assert sorted(changes) == ["prompts", "resources", "tools"]


async def test_a_server_that_never_lives_long_is_not_started_for_ever(fake_clock, host, plain):
    host.clock = fake_clock
    gone = 0

    def note(fault):
        nonlocal gone
        gone += fault is not None

    client = plain(wishes={"on_state": note})
    await client.connect()
    for _ in range(len(RECONNECT_S) + 2):
        with suppress(ServerGone):
            await client.call_tool("die")

    assert gone == len(RECONNECT_S) + 2
    assert len(fake_clock.slept) == len(RECONNECT_S)
    assert text_of(await client.call_tool("echo", {"a": 1})) == '{"a": 1}'


async def test_secrets_that_a_server_was_given_are_not_in_what_it_is_quoted_with(plain):
    client = plain("leak", env={"SERVICE_TOKEN": "abcdef-123456", "MODE": "verbose-mode"})

    with pytest.raises(ServerGone) as caught:
        await client.connect()

    assert "Cannot log in with [key] in verbose-mode" in caught.value.text
    assert "abcdef" not in client.diagnosis


async def test_a_second_answer_and_answers_for_others_are_passed_over(plain):
    client = plain()

    assert text_of(await client.call_tool("twice")) == "first"
    assert text_of(await client.call_tool("other-id")) == "mine"
    assert text_of(await client.call_tool("echo", {"a": 1})) == '{"a": 1}'


async def test_a_flood_of_messages_delays_the_answer_and_nothing_else(plain):
    client = plain()
    turns = 0

    async def tick():
        nonlocal turns
        while True:
            await asyncio.sleep(0)
            turns += 1

    ticking = asyncio.create_task(tick())
    assert text_of(await client.call_tool("flood", {"lines": 20_000})) == "dry"
    ticking.cancel()

    assert turns > 20


async def test_of_a_flood_of_errors_the_end_is_kept(plain):
    client = plain()

    await client.call_tool("flood-errors", {"lines": 5_000})
    await client.aclose()

    assert len(client.diagnosis) <= KEPT_ERRORS
    assert "4999 eee" in client.diagnosis


@pytest.mark.parametrize("tool", ["huge", "huge-id-last"])
async def test_an_answer_that_is_too_large_fails_its_call_alone(plain, tool):
    client = plain()
    await client.connect()
    other = asyncio.create_task(client.call_tool("hang"))
    await asyncio.sleep(0)

    with pytest.raises(ProtocolFault) as caught:
        await client.call_tool(tool, {"megabytes": LARGE})

    assert caught.value.text == f'The MCP server "plain" sent a message of {LARGE} MB; it was not read.'
    assert not other.done()
    assert text_of(await client.call_tool("echo", {"a": 1})) == '{"a": 1}'
    other.cancel()


async def test_an_answer_of_many_megabytes_arrives_whole(plain):
    assert len(text_of(await plain().call_tool("huge", {"megabytes": 20}))) == 20_000_000


async def test_an_answer_that_comes_byte_by_byte_arrives_whole(plain):
    assert text_of(await plain().call_tool("pieces")) == "ü"


async def test_text_that_is_no_message_is_kept_for_the_diagnosis_and_passed_over(plain):
    client = plain()

    assert text_of(await client.call_tool("foreign")) == "still here"
    assert client.diagnosis == "Loading the model...\nWARNING: {not json}"


async def test_half_a_character_is_replaced(plain):
    assert text_of(await plain().call_tool("surrogate")) == "\ufffd half"


@pytest.mark.parametrize("tool", ["deep", "no-result", "odd-result"])
async def test_an_answer_that_means_nothing_is_a_fault_of_its_call(plain, tool):
    client = plain()

    with pytest.raises(ProtocolFault):
        await client.call_tool(tool)

    assert text_of(await client.call_tool("echo", {"a": 1})) == '{"a": 1}'


async def test_a_batch_is_read_message_by_message(plain):
    changes = []

    assert (await plain(wishes={"on_change": changes.append}).call_tool("batch")).content == ()
    assert changes == ["tools"]


async def test_a_list_without_an_end_is_cut_and_told(plain):
    listing = await plain("endless-list").list_tools()

    assert [tool.name for tool in listing.items] == ["echo", "bare", "echo", "bare"]
    assert listing.problems == ("The list has no end; the first 4 entries were taken.",)


async def test_a_list_that_is_none_is_a_fault(plain):
    with pytest.raises(ProtocolFault):
        await plain("no-list").list_tools()


async def test_a_server_that_hears_no_signal_is_killed(plain):
    client = plain("deaf")
    pid = json.loads(text_of(await client.call_tool("process")))

    await client.aclose()

    assert not is_alive(pid)


async def test_what_a_server_started_ends_with_it(plain):
    client = plain()
    child = int(text_of(await client.call_tool("children")))
    assert is_alive(child)

    await client.aclose()

    assert not is_alive(child)


async def test_the_end_of_the_host_ends_servers_whose_client_nobody_closed(plain, host):
    client = plain()
    pid = json.loads(text_of(await client.call_tool("process")))

    await host.aclose()

    assert not is_alive(pid)


async def test_a_deaf_server_does_not_outlive_a_program_that_was_killed():
    program = Path(__file__).with_name("killed_client.py")
    running = await asyncio.create_subprocess_exec(
        sys.executable, program, SERVERS / "plain.py", stdout=asyncio.subprocess.PIPE
    )
    told, _ = await running.communicate()
    pid = int(told)

    await wait_gone([pid], 60)
    assert not is_alive(pid)


async def test_a_server_that_reads_nothing_does_not_stop_us(plain):
    client = plain("stuffed")
    await client.connect()

    calls = [asyncio.create_task(client.call_tool("echo", {"text": "x" * 1_000_000}, timeout_s=0.2)) for _ in range(3)]
    await asyncio.wait(calls)

    assert [type(call.exception()) for call in calls] == [ServerTimeout] * 3


def test_a_host_that_started_nothing_has_nothing_to_end():
    host = Host(clock=None, environment=os.environ, client_version="1", open_transport=None)

    asyncio.run(host.aclose())
