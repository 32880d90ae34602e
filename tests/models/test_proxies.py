"""Which proxy is taken, and what goes through it: a real little proxy that forwards and tunnels."""

import pytest

from everturn.core.errors import RETRYABLE, FaultKind, ModelFault, OptionError
from everturn.models.transport.choose import choose_transport
from everturn.models.transport.http1_transport import Http1Transport
from everturn.models.transport.httpx2_transport import Httpx2Transport, name_proxy
from everturn.models.transport.proxy import plan_proxy

API = "https://api.anthropic.com/v1/messages"


async def read(response):
    try:
        return b"".join([piece async for piece in response.body()])
    finally:
        await response.aclose()


@pytest.mark.parametrize(
    ("env", "url", "proxy"),
    [
        ({}, API, None),
        ({"HTTPS_PROXY": "http://p:1"}, API, "http://p:1"),
        ({"https_proxy": "http://small:1", "HTTPS_PROXY": "http://big:1"}, API, "http://small:1"),
        ({"HTTPS_PROXY": "p:8080"}, API, "http://p:8080"),
        ({"HTTP_PROXY": "http://p:1"}, API, None),
        ({"HTTP_PROXY": "http://p:1"}, "http://host/", "http://p:1"),
        ({"HTTP_PROXY": "http://p:1", "REQUEST_METHOD": "GET"}, "http://host/", None),
        ({"ALL_PROXY": "http://p:1"}, API, "http://p:1"),
        ({"HTTPS_PROXY": "  "}, API, None),
        ({"HTTPS_PROXY": "http://p:1", "NO_PROXY": "*"}, API, None),
        ({"HTTPS_PROXY": "http://p:1", "NO_PROXY": "anthropic.com"}, API, None),
        ({"HTTPS_PROXY": "http://p:1", "NO_PROXY": "x, .anthropic.com"}, API, None),
        ({"HTTPS_PROXY": "http://p:1", "NO_PROXY": "*.anthropic.com"}, API, None),
        ({"HTTPS_PROXY": "http://p:1", "no_proxy": "API.Anthropic.com"}, API, None),
        ({"HTTPS_PROXY": "http://p:1", "NO_PROXY": "thropic.com"}, API, "http://p:1"),
        ({"HTTPS_PROXY": "http://p:1", "NO_PROXY": "api.anthropic.com:8443"}, API, "http://p:1"),
        ({"HTTPS_PROXY": "http://p:1", "NO_PROXY": "host:8443"}, "https://host:8443/", None),
        ({"HTTP_PROXY": "http://p:1", "NO_PROXY": "127.0.0.0/8"}, "http://127.0.0.1:80/", None),
        ({"HTTP_PROXY": "http://p:1", "NO_PROXY": "::1"}, "http://[::1]:80/", None),
        ({"HTTP_PROXY": "http://p:1", "NO_PROXY": "10.0.0.0/8"}, "http://host/", "http://p:1"),
    ],
)
def test_the_variables_decide_which_proxy_a_url_takes(env, url, proxy):
    assert plan_proxy(env, url) == proxy


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        ("socks5://p:1", "socks5 proxies are not supported; give an http or https proxy"),
        ("http://", "is not a URL; it should look like http://host:port"),
        ("http://p:many", "is not a URL; it should look like http://host:port"),
    ],
)
def test_a_proxy_that_cannot_be_used_names_its_variable(value, problem):
    with pytest.raises(OptionError) as caught:
        plan_proxy({"HTTPS_PROXY": value}, API)

    assert (caught.value.field, caught.value.problem) == ("HTTPS_PROXY", problem)


def test_httpx2_is_chosen_for_proxies_only():
    proxied = {"HTTPS_PROXY": "http://p:1"}

    assert [type(choose_transport(env, API)) for env in ({}, proxied)] == [Http1Transport, Httpx2Transport]


@pytest.mark.parametrize("variable", ["SSL_CERT_FILE", "NODE_EXTRA_CA_CERTS"])
async def test_authorities_are_taken_from_the_environment(stage, certificates, variable):
    server = await stage.serve(lambda exchange: exchange.reply(200, b"safe"), "good")
    transport = choose_transport({variable: str(certificates / "good.pem")}, server.url)

    assert await read(await transport.post(server.url, {}, b"")) == b"safe"
    await transport.aclose()


@pytest.mark.parametrize("certificate", [None, "good"])
async def test_a_request_goes_through_the_proxy(stage, certificates, certificate):
    server = await stage.serve(lambda exchange: exchange.reply(200, exchange.body), certificate)
    proxy = await stage.proxy()
    env = {"ALL_PROXY": proxy.url, "SSL_CERT_FILE": str(certificates / "good.pem")}
    transport = choose_transport(env, server.url)

    answer = await read(await transport.post(f"{server.url}/v1/messages", {"x-api-key": "k"}, b"hello"))
    await transport.aclose()

    tunnel = [("CONNECT", f"127.0.0.1:{server.port}")]
    assert (answer, server.requests[0].headers["x-api-key"]) == (b"hello", "k")
    assert proxy.seen == (tunnel if certificate else [("POST", f"{server.url}/v1/messages")])


async def test_user_and_password_are_given_to_the_proxy(stage, certificates):
    server = await stage.serve(lambda exchange: exchange.reply(200, b"x"), "good")
    proxy = await stage.proxy(b"dXNlcjpwYXNz")
    env = {"HTTPS_PROXY": proxy.url.replace("//", "//user:pass@"), "SSL_CERT_FILE": str(certificates / "good.pem")}
    transport = choose_transport(env, server.url)

    assert await read(await transport.post(server.url, {}, b"")) == b"x"
    await transport.aclose()


async def test_a_proxy_that_wants_a_password_is_told_so_and_is_not_asked_again(stage):
    server = await stage.serve(lambda exchange: exchange.reply(), "good")
    proxy = await stage.proxy(b"something else")
    env = {"HTTPS_PROXY": proxy.url.replace("//", "//user:hunter2secret@")}
    transport = choose_transport(env, server.url)

    with pytest.raises(ModelFault) as caught:
        await transport.post(server.url, {}, b"")
    await transport.aclose()

    fault = caught.value
    assert (fault.kind, fault.status, fault.kind in RETRYABLE) == (FaultKind.AUTHENTICATION, 407, False)
    assert "The proxy wants a user name and password" in fault.text
    assert "hunter2" not in fault.text
    assert len(proxy.seen) == 1


@pytest.mark.parametrize(
    ("url", "name"),
    [
        ("http://user:hunter2@proxy.example:3128", "proxy.example:3128"),
        ("http://proxy.example", "proxy.example:80"),
        ("https://[::1]", "[::1]:443"),
    ],
)
def test_a_proxy_is_named_with_its_port_and_without_its_user(url, name):
    assert name_proxy(url) == name


async def test_a_proxy_that_is_not_there_is_named_without_its_password(closed_port):
    env = {"HTTPS_PROXY": f"http://user:hunter2secret@127.0.0.1:{closed_port}"}
    transport = choose_transport(env, API)

    with pytest.raises(ModelFault) as caught:
        await transport.post(API, {}, b"")
    await transport.aclose()

    expected = f"No connection to api.anthropic.com by way of the proxy 127.0.0.1:{closed_port}: connection refused."
    assert (caught.value.kind, caught.value.text) == (FaultKind.CONNECTION, expected)
