"""URLs and addresses: taken apart one way only, and judged by what they carry."""

import ipaddress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from everturn.core.errors import ToolFault
from everturn.permissions.rules.domains import judge_domain, plan_pattern
from everturn.ports.web import WebUrl, parse_web_url
from everturn.tools.web.addresses import is_public


@pytest.mark.parametrize(
    ("text", "whole"),
    [
        ("https://example.com", "https://example.com/"),
        ("HTTP://Example.COM.:80/A?b=c#d", "http://example.com/A?b=c"),
        ("https://example.com:8443/x", "https://example.com:8443/x"),
        ("https://example.com?q=1", "https://example.com/?q=1"),
        ("https://bücher.example/ä b", "https://xn--bcher-kva.example/%C3%A4%20b"),
        ("https://example\u3002com/", "https://example.com/"),
        ("https://[2606:2800:220:1:248:1893:25C8:1946]/", "https://[2606:2800:220:1:248:1893:25c8:1946]/"),
        ("  https://example.com/%7Euser/ ", "https://example.com/%7Euser/"),
        ("https://example.com/a\\b", "https://example.com/a%5Cb"),
    ],
)
def test_a_url_has_one_form(text, whole):
    assert str(parse_web_url(text)) == whole


@pytest.mark.parametrize(
    "text",
    ["", "https://", "example.com", "//example.com/", "ftp://example.com/", "file:///etc/passwd", "javascript:alert(1)",
     "https://user@example.com/", "https://user:pw@example.com/", "https://example.com\\@evil.com/", "https:///x",
     "https://exa mple.com/", "https://example.com:0/", "https://example.com:99999/", "https://example.com:x/",
     "https://2130706433/", "https://0x7f000001/", "https://127.1/", "https://0177.0.0.1/", "https://1.2.3.4.5/",
     "https://[::1", "https://[fe80::1%25eth0]/", "https://[1.2.3.4]/", "https://ex%61mple.com/", "https://a..b/",
     "https://-a.com/", "https://example.com/\x00", "https://example.com/\r\nHost: x", "https://\ud800.com/",
     "https://example.com/\ud800", f"https://example.com/{'a' * 5_000}", "http:/example.com", "https://.com/"],
)  # fmt: skip
def test_what_two_programs_could_read_differently_is_refused(text):
    with pytest.raises(ToolFault):
        parse_web_url(text)


@given(st.text(st.sampled_from("htps:/@.\\?#[]%0127xa。 -"), max_size=30))
def test_any_text_is_a_url_or_a_fault(text):
    try:
        url = parse_web_url(f"https://{text}")
    except ToolFault:
        return
    assert parse_web_url(str(url)) == url
    assert isinstance(url, WebUrl)


@pytest.mark.parametrize(
    "address",
    ["0.0.0.1", "10.1.2.3", "100.64.0.1", "127.0.0.1", "127.255.255.254", "169.254.169.254", "172.16.0.1",
     "172.31.255.255", "192.0.0.8", "192.0.2.1", "192.168.1.1", "198.18.0.1", "203.0.113.9", "224.0.0.1",
     "255.255.255.255", "240.0.0.1", "::", "::1", "fd00:ec2::254", "fe80::1", "fe80::1%eth0", "fec0::1", "ff02::1",
     "::ffff:127.0.0.1", "::ffff:169.254.169.254", "64:ff9b::a9fe:a9fe", "64:ff9b:1::1", "::127.0.0.1", "2002:7f00:1::",
     "2002:a9fe:a9fe::1", "2001:0:53aa:64c:0:fff:80ff:fffe", "2001:db8::1", "100::1", "", "localhost", "1.2.3"],
)  # fmt: skip
def test_what_is_not_on_the_open_internet_is_closed(address):
    assert not is_public(address)


@pytest.mark.parametrize(
    "address",
    [
        "93.184.216.34",
        "1.1.1.1",
        "172.32.0.1",
        "100.128.0.1",
        "2606:4700::1111",
        "64:ff9b::5db8:d822",
        "::ffff:8.8.8.8",
    ],
)
def test_what_is_on_the_open_internet_is_open(address):
    assert is_public(address)


@given(st.ip_addresses(v=4))
def test_an_address_is_as_public_as_the_one_it_carries(address):
    number = int(address)
    carriers = [
        ipaddress.IPv6Address((0xFFFF << 32) | number),
        ipaddress.IPv6Address((0x64FF9B << 96) | number),
        ipaddress.IPv6Address((0x2002 << 112) | (number << 80)),
    ]

    assert {is_public(str(carrier)) for carrier in carriers} == {is_public(str(address))}


@pytest.mark.parametrize(
    ("pattern", "host", "covers"),
    [
        ("example.com", "example.com", True),
        ("example.com", "www.example.com", False),
        ("example.com", "example.com.evil.com", False),
        ("example.com", "exampleXcom", False),
        ("*.example.com", "a.b.example.com", True),
        ("*.example.com", "example.com", False),
        ("*.example.com", "evilexample.com", False),
        ("example.*", "example.org", True),
        ("example.*", "example.evil.com", False),
        ("*", "anything.org", True),
    ],
)
def test_a_domain_rule_covers_whole_labels(pattern, host, covers):
    assert judge_domain(plan_pattern(f"domain:{pattern}"), host) is covers
