"""Judging hosts: names before they are resolved, addresses after; the proxy connects to what it judged."""

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from everturn.core.errors import OptionError
from everturn.sandbox.network.hosts import HostPattern, judge_address, judge_name, parse_host, parse_pattern
from everturn.sandbox.network.proxy import Proxy, RefusalError, RefusedConnection, parse_request


def patterns(*texts):
    return [parse_pattern("field", text) for text in texts]


@pytest.mark.parametrize(
    ("text", "host"),
    [
        ("Example.COM", "example.com"),
        ("example.com.", "example.com"),
        ("bücher.example", "xn--bcher-kva.example"),
        ("BÜCHER.example", "xn--bcher-kva.example"),
        ("xn--bcher-kva.example", "xn--bcher-kva.example"),
        ("\uff45xample.com", "example.com"),
        ("127.0.0.1", "127.0.0.1"),
        ("0:0:0:0:0:0:0:1", "::1"),
        ("2130706433", "2130706433"),
        ("example..com", None),
        ("example.com..", None),
        (".example.com", None),
        ("", None),
        ("a b", None),
        ("a@b", None),
        ("a/b", None),
        ("fe80::1%eth0%x y", None),
        ("a" * 64, None),
        ("-a.example", None),
        ("a%00.example", None),
    ],
)
def test_a_host_has_one_form(text, host):
    assert parse_host(text) == host


@pytest.mark.parametrize(
    ("allowed", "host", "port", "is_allowed"),
    [
        ("example.com", "example.com", 443, True),
        ("example.com", "www.example.com", 443, False),
        ("example.com", "evilexample.com", 443, False),
        ("example.com", "example.com.evil.org", 443, False),
        ("*.example.com", "www.example.com", 443, True),
        ("*.example.com", "a.b.example.com", 80, True),
        ("*.example.com", "example.com", 443, False),
        ("*.example.com", "evilexample.com", 443, False),
        ("example.com:443", "example.com", 443, True),
        ("example.com:443", "example.com", 22, False),
        ("*.0.0.1", "127.0.0.1", 80, False),
        ("[::1]:80", "::1", 80, True),
        ("*", "anything.example", 1, True),
    ],
)
def test_a_pattern_covers_what_it_says(allowed, host, port, is_allowed):
    verdict = judge_name(host, port, patterns(allowed), [])

    assert isinstance(verdict, HostPattern) is is_allowed


@pytest.mark.parametrize(
    "text", ["", "http://example.com", "example.com:0", "example.com:99999", "a.*.b", "*example.com", "x:y"]
)
def test_what_is_no_pattern_is_refused(text):
    with pytest.raises(OptionError, match="which is no host"):
        parse_pattern("field", text)


@pytest.mark.parametrize(
    ("address", "host", "allowed", "is_reached"),
    [
        ("93.184.215.14", "example.com", "example.com", True),
        ("127.0.0.1", "example.com", "example.com", False),
        ("127.0.0.1", "localhost", "localhost", True),
        ("127.0.0.1", "localhost", "*", False),
        ("127.0.0.1", "127.0.0.1", "127.0.0.1", True),
        ("127.0.0.1", "127.0.0.1", "*", False),
        ("::1", "example.com", "example.com", False),
        ("::ffff:127.0.0.1", "example.com", "example.com", False),
        ("64:ff9b::7f00:1", "example.com", "example.com", False),
        ("2002:7f00:1::", "example.com", "example.com", False),
        ("169.254.169.254", "example.com", "example.com", False),
        ("169.254.169.254", "169.254.169.254", "*", False),
        ("0.0.0.0", "example.com", "example.com", False),  # noqa: S104 - nobody binds to it
        ("224.0.0.1", "example.com", "example.com", False),
        ("10.0.0.1", "git.example.com", "git.example.com", True),
        ("10.0.0.1", "git.example.com", "*.example.com", False),
        ("fe80::1%eth0", "example.com", "example.com", False),
        ("nonsense", "example.com", "example.com", False),
    ],
)
def test_where_a_name_leads_is_judged_too(address, host, allowed, is_reached):
    (pattern,) = patterns(allowed)

    problem = judge_address(address, host, 443, pattern, [], is_local=host == "localhost")

    assert (problem is None) is is_reached


def test_an_address_that_is_denied_is_found_behind_every_name():
    (pattern,) = patterns("example.com")

    assert judge_address("::ffff:93.184.215.14", "example.com", 443, pattern, patterns("93.184.215.14"), is_local=False)


async def ask(proxy, request):
    """What the proxy answers to bytes, and what it refused."""
    refused = []
    server = await asyncio.start_server(lambda r, w: proxy.serve(r, w, refused.append), "127.0.0.1", 0)
    async with server:
        reader, writer = await asyncio.open_connection(*server.sockets[0].getsockname())
        writer.write(request)
        writer.write_eof()
        answer = await reader.read()
        writer.close()
    return answer, refused


async def test_a_name_that_leads_elsewhere_when_asked_again_is_asked_once():
    answers = iter([["127.0.0.1"], ["93.184.215.14"]])
    asked = []

    async def resolve(host, port):
        asked.append((host, port))
        return next(answers)

    proxy = Proxy(patterns("rebinding.example"), resolve=resolve)
    answer, refused = await ask(proxy, b"CONNECT Rebinding.Example.:443 HTTP/1.1\r\n\r\n")

    assert answer.startswith(b"HTTP/1.1 403 Forbidden\r\n")
    assert asked == [("rebinding.example", 443)]
    assert refused == [
        RefusedConnection(
            host="rebinding.example:443", why="rebinding.example leads to this machine itself (127.0.0.1)"
        )
    ]


async def test_the_address_that_was_judged_is_the_one_that_is_dialled():
    heard = []

    async def answer_all(reader, writer):
        heard.append(await reader.readuntil(b"\r\n\r\n"))
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
        writer.close()

    async def resolve(_host, _port):
        return ["127.0.0.1"]

    server = await asyncio.start_server(answer_all, "127.0.0.1", 0)
    async with server:
        port = server.sockets[0].getsockname()[1]
        request = (
            b"GET http://localhost:%d/a?b HTTP/1.1\r\nHost: other\r\nProxy-Authorization: x\r\nA: b\r\n\r\n" % port
        )
        answer, refused = await ask(Proxy(patterns("localhost"), resolve=resolve), request)

    assert answer.endswith(b"ok")
    assert refused == []
    assert heard == [b"GET /a?b HTTP/1.1\r\nHost: localhost:%d\r\nConnection: close\r\nA: b\r\n\r\n" % port]


async def test_a_name_without_an_address_is_told():
    async def resolve(_host, _port):
        raise OSError

    answer, _ = await ask(Proxy(patterns("*"), resolve=resolve), b"CONNECT a.example:443 HTTP/1.1\r\n\r\n")

    assert answer.startswith(b"HTTP/1.1 502 Bad Gateway\r\n")


@pytest.mark.parametrize(
    "head",
    [
        b"GET / HTTP/1.1",
        b"GET https://example.com/ HTTP/1.1",
        b"GET http://user@example.com/ HTTP/1.1",
        b"CONNECT example.com HTTP/1.1",
        b"CONNECT example.com:https HTTP/1.1",
        b"CONNECT example.com:443:80 HTTP/1.1",
        b"GET ftp://example.com/ HTTP/1.1",
        b"nonsense",
        b"GET http://example.com\\@evil.example/ HTTP/1.1",
    ],
)
def test_what_is_no_request_to_a_proxy_is_refused(head):
    with pytest.raises(RefusalError):
        parse_request(head + b"\r\n\r\n")


@given(st.binary(max_size=200))
def test_any_bytes_are_a_request_or_refused(head):
    try:
        request = parse_request(head)
    except RefusalError:
        return
    assert parse_host(request.host) == request.host
    # It is shown to people.
    assert request.host.isascii()
    assert request.host.isprintable()


@given(st.from_regex(r"[a-zA-Z0-9.\-\[\]:_%]{1,40}", fullmatch=True), st.integers(1, 65_535))
def test_only_the_very_name_passes_an_exact_pattern(text, port):
    name = parse_host(text)
    if name is not None and name != "example.com":
        assert judge_name(name, port, patterns("example.com"), []) is None
