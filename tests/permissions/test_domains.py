"""Rules for domains of the web: judged on the host that the tool would reach, deny before allow, whatever the mode."""

import pytest

from everturn.permissions.modes import ModePolicy
from everturn.ports.policy import Call, Ruling
from everturn.ports.tool import Access, Traits

TRAITS = Traits(read_only=True, concurrent=True, access=Access.NETWORK)


def judge(url, mode="default", **rules):
    call = Call(id="toolu_1", name="WebFetch", input={"url": url}, traits=TRAITS, line="WebFetch")
    return ModePolicy(mode, "/", **rules).judge(call)


@pytest.mark.parametrize("mode", ["default", "acceptEdits", "plan"])
def test_going_to_the_web_is_asked_for_in_plan_mode_too(mode):
    assert judge("https://example.com/", mode).ruling is Ruling.ASK


@pytest.mark.parametrize("mode", ["default", "plan", "dontAsk"])
def test_an_allowed_domain_is_not_asked_for_and_the_rule_is_named(mode):
    verdict = judge("https://example.com/", mode, allow=["WebFetch(domain:example.com)"])

    assert (verdict.ruling, verdict.reason) == (Ruling.ALLOW, "the allow list names WebFetch(domain:example.com)")


@pytest.mark.parametrize(
    "url",
    [
        "https://evil.com/",
        "https://EVIL.com./",
        "http://evil.com:8080/x",
        "https://evil\u3002com/",
        "https://evil.com?a",
    ],
)
def test_a_denied_domain_is_denied_in_every_spelling_and_mode(url):
    verdict = judge(url, "bypassPermissions", allow=["WebFetch"], deny=["WebFetch(domain:evil.com)"])

    assert verdict.ruling is Ruling.DENY


@pytest.mark.parametrize("url", ["https://a@example.com/", "nonsense", 7, None])
def test_no_rule_for_a_domain_allows_what_is_no_url(url):
    assert judge(url, allow=["WebFetch(domain:*)"]).ruling is Ruling.ASK
