"""Every case of the web corpus, through the gate's policy and the real tool, on a web of our own."""

import asyncio
import gzip
import json
from pathlib import Path

import pytest
from tests.permissions.rules_of import rules_of

from everturn.core.errors import InputFault, ToolFault
from everturn.permissions.policy import RulePolicy
from everturn.ports.policy import Call, Ruling
from everturn.tools.web.addresses import is_public
from everturn.tools.web.get import MAX_BYTES
from everturn.tools.web_fetch import web_fetch_tool
from everturn.tools.web_fetch.fetch import plan_url, run_fetch

CORPUS = Path(__file__).parent.parent / "corpora" / "webfetch_cases.jsonl"
CASES = [json.loads(line) for line in CORPUS.read_text().splitlines()]
LIMITS = {"web-56", "web-57", "web-58"}


def judge(policy, tool, url) -> str:
    """What the gate says before anything runs."""
    try:
        parsed = tool.parse({"url": url, "prompt": "What is it?"})
    except InputFault:
        return "deny"
    input_ = {"url": url, "prompt": "What is it?"}
    call = Call(id="toolu_1", name="WebFetch", input=input_, traits=tool.traits(parsed), line=tool.line(parsed))
    return policy.judge(call).ruling.value


async def decide(case, tool, use, policy) -> str:
    """The gate, then the tool; where it reports another host, the gate again for that one."""
    ruling = judge(policy, tool, case["url"])
    if ruling != Ruling.ALLOW:
        return ruling
    try:
        result = await use(tool, url=case["url"], prompt="What is it?")
    except ToolFault:
        return "deny"
    moved = "redirects to another host" in result.content
    return judge(policy, tool, result.content.splitlines()[1]) if moved else "allow"


@pytest.mark.parametrize("case", [case for case in CASES if case["id"] not in LIMITS], ids=lambda case: case["id"])
async def test_a_url_is_fetched_asked_about_or_refused(case, site, net, use):
    for name, answers in case.get("dns", {}).items():
        net.knows(name, *(answers if isinstance(answers[0], list) else [answers]))
    for path in ("/", "/?q=SECRETSECRETSECRET"):
        site.page(path, "<p>Hello.</p>")
    if case.get("redirects"):
        site.page("/r", status="302 Found", location=case["redirects"][0])
    rules = case["rules"]
    policy = RulePolicy("default", "/", rules=rules_of(allow=rules["allow"], deny=rules["deny"]))

    decision = await decide(case, web_fetch_tool(net=net), use, policy)

    assert decision in {case["expect"], *case.get("also_ok", [])}, case["why"]
    assert all(is_public(address) for address, _, _ in net.dialled)


async def endless(_, writer):
    writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\n\r\n")
    while True:
        writer.write(b"x" * 65_536)
        await writer.drain()


async def test_a_body_without_an_end_stops_at_the_size_limit(site, net):
    site.pages["/big"] = endless

    page = await run_fetch(net, plan_url("https://example.com/big"))

    assert (page.size, page.complete) == (MAX_BYTES, False)


async def test_a_bomb_stops_at_the_unpacked_size_limit(site, net):
    # A gigabyte in a megabyte.
    member = gzip.compress(bytes(50_000_000).replace(b"\0", b"x"), 9)
    site.page("/gz", member * 20, content_encoding="gzip", content_type="text/plain")

    page = await run_fetch(net, plan_url("https://example.com/gz"))

    assert (page.size, page.complete) == (MAX_BYTES, False)


async def test_a_byte_now_and_then_stops_at_the_time_limit(site, net):
    async def slow(_, writer):
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\n\r\n")
        while True:
            writer.write(b"x")
            await writer.drain()
            await asyncio.sleep(0.02)

    site.pages["/slow"] = slow

    with pytest.raises(ToolFault, match=r"did not send the page within 0\.2 s"):
        await run_fetch(net, plan_url("https://example.com/slow"), max_wait_s=0.2)


def test_the_copy_holds_all_cases():
    assert len(CASES) == 37
    assert {case["id"] for case in CASES} >= LIMITS
