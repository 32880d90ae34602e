"""Rules for domains of the web: judged on the host that the tool would reach, deny before allow, whatever the mode."""

import pytest
from tests.permissions.rules_of import rules_of

from everturn.permissions.policy import RulePolicy
from everturn.ports.policy import Call, Ruling
from everturn.ports.tool import Access, Traits

TRAITS = Traits(read_only=True, concurrent=True, access=Access.NETWORK)


def judge(url, mode="default", **rules):
    call = Call(id="toolu_1", name="WebFetch", input={"url": url}, traits=TRAITS, line="WebFetch")
    return RulePolicy(mode, "/", rules=rules_of(**rules)).judge(call)


@pytest.mark.parametrize("mode", ["default", "acceptEdits", "plan"])
def test_going_to_the_web_is_asked_for_in_plan_mode_too(mode):
    assert judge("https://example.com/", mode).ruling is Ruling.ASK


@pytest.mark.parametrize("mode", ["default", "plan", "dontAsk"])
def test_an_allowed_domain_is_not_asked_for_and_the_rule_is_named(mode):
    verdict = judge("https://example.com/", mode, allow=["WebFetch(domain:example.com)"])

    assert (verdict.ruling, verdict.reason) == (
        Ruling.ALLOW,
        "the rule WebFetch(domain:example.com) (command line) allows it",
    )


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


def test_many_rules_for_domains_find_the_one_that_covers_the_host():
    many = [f"WebFetch(domain:host{number}.example)" for number in range(10_000)]
    rules = [
        *many,
        "WebFetch(domain:*.wide.example)",
        "WebFetch(domain:b*r.example)",
        "WebFetch(domain:Bücher.example)",
    ]

    hosts = ["host7.example", "a.b.wide.example", "wide.example", "bar.example", "b.r.example", "xn--bcher-kva.example"]
    rulings = [judge(f"https://{host}/", allow=rules).ruling for host in hosts]

    assert rulings == [Ruling.ALLOW, Ruling.ALLOW, Ruling.ASK, Ruling.ALLOW, Ruling.ASK, Ruling.ALLOW]
