"""Rules of settings files that change while a session runs."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from everturn.permissions.policy import RulePolicy
from everturn.permissions.rule_changes import FileRules, add_restrictions, agree_to, find_loosening, tighten
from everturn.permissions.rules.rule import Source
from everturn.permissions.rules.rule_parser import parse_rule
from everturn.permissions.rules_in_force import Workplace
from everturn.ports.policy import Call, Ruling
from everturn.ports.rules import WrittenBan, WrittenFolder
from everturn.ports.tool import Access, Traits

STRICT = {Ruling.ALLOW: 0, Ruling.ASK: 1, Ruling.DENY: 2}
TEXTS = ["Bash", "Bash(npm *)", "Bash(npm test)", "Bash(touch *)", "Read(./.env)", "Edit(/src/**)", "Edit", "WebFetch"]
FOLDERS = ["/more", "/other"]


def rule(text, ruling=Ruling.ALLOW, source=Source.USER, line=1):
    return parse_rule(text, Ruling(ruling), source=source, folder="/p", origin=f"/settings.json:{line}")


def said(*, allow=(), ask=(), deny=(), folders=(), source=Source.USER, off=False, **more):
    texts = {Ruling.ALLOW: allow, Ruling.ASK: ask, Ruling.DENY: deny}
    return FileRules(
        rules=tuple(rule(text, ruling, source) for ruling, each in texts.items() for text in each),
        folders=tuple(WrittenFolder(path=path, source=source, origin="/settings.json") for path in folders),
        no_bypass=(WrittenBan(source=source, origin="/settings.json"),) if off else (),
        **more,
    )


def shown(rules):
    return sorted(f"{each.ruling} {each.text}" for each in rules.rules)


def call(name, access=Access.EXECUTE, **fields):
    return Call(id="1", name=name, input=fields, traits=Traits(access=access), line="")


CALLS = [
    call("Bash", command="npm test"),
    call("Bash", command="npm run build"),
    call("Bash", command="touch a && npm test"),
    call("Bash", command="cat .env"),
    call("Bash", command="cat /more/x"),
    call("Read", Access.READ, file_path="/p/.env"),
    call("Read", Access.READ, file_path="/other/x"),
    call("Edit", Access.EDIT, file_path="/p/src/a", old_string="a", new_string="b"),
    call("Write", Access.EDIT, file_path="/more/a", content="b"),
    call("WebFetch", Access.NETWORK, url="https://a.example/", prompt="?"),
]


def judge(rules, mode):
    policy = RulePolicy("default", Workplace(folder="/p", home="/home/ada"))
    policy.replace_rules(rules.rules, rules.paths)
    policy.forbid_bypass(off=bool(rules.no_bypass))
    policy.mode = mode
    return [STRICT[policy.judge(each).ruling] for each in CALLS]


any_texts = st.lists(st.sampled_from(TEXTS), max_size=4, unique=True)
any_source = st.sampled_from([Source.USER, Source.PROJECT, Source.LOCAL, Source.COMMAND_LINE])


@st.composite
def any_rules(draw):
    parts = [
        said(
            allow=draw(any_texts),
            ask=draw(any_texts),
            deny=draw(any_texts),
            folders=draw(st.lists(st.sampled_from(FOLDERS), max_size=2)),
            source=draw(any_source),
            off=draw(st.booleans()),
        )
        for _ in range(draw(st.integers(0, 2)))
    ]
    return FileRules(
        rules=tuple(each for part in parts for each in part.rules),
        folders=tuple(each for part in parts for each in part.folders),
        no_bypass=tuple(each for part in parts for each in part.no_bypass),
    )


@given(
    any_rules(), st.lists(any_rules(), min_size=1, max_size=3), st.sampled_from(["default", "acceptEdits", "dontAsk"])
)
def test_no_change_that_nobody_agreed_to_lets_more_run_and_what_the_files_hold_is_held(start, changes, mode):
    held = start
    for now in changes:
        before, held = judge(held, mode), tighten(held, now)
        after = judge(held, mode)
        assert all(new >= old for new, old in zip(after, before, strict=True))
        assert all(new >= said for new, said in zip(after, judge(now, mode), strict=True))
        assert bool(held.no_bypass) >= bool(now.no_bypass)


@given(any_rules(), any_rules(), st.sampled_from(["default", "acceptEdits", "bypassPermissions"]))
def test_what_is_not_told_as_held_back_makes_no_difference(start, now, mode):
    held = tighten(start, now)
    if not find_loosening(held, now):
        assert bool(held.no_bypass) == bool(now.no_bypass)
        now = msgspec.structs.replace(now, no_bypass=())
        assert judge(msgspec.structs.replace(held, no_bypass=()), mode) == judge(now, mode)


@given(any_rules(), any_rules(), any_rules())
def test_agreeing_makes_the_change_count_and_nothing_that_came_later(start, asked, later):
    held = tighten(tighten(start, asked), later)
    agreed = tighten(asked, later)
    assert judge(tighten(asked, asked), "default") == judge(asked, "default")
    assert all(new >= wanted for new, wanted in zip(judge(agreed, "default"), judge(asked, "default"), strict=True))
    assert all(old >= new for old, new in zip(judge(held, "default"), judge(agreed, "default"), strict=True))


@given(any_rules(), any_rules())
def test_files_of_which_one_cannot_be_read_only_tighten(start, now):
    held = add_restrictions(start, now)
    assert all(new >= old for new, old in zip(judge(held, "default"), judge(start, "default"), strict=True))
    assert set(start.rules) <= set(held.rules)
    assert all(each in shown(held) for each in shown(now) if not each.startswith("allow"))


@pytest.mark.parametrize(
    ("start", "now", "counts", "held_back"),
    [
        pytest.param({}, {"allow": ["Bash"]}, [], ["/settings.json:1 allows Bash"], id="a new allow"),
        pytest.param({"allow": ["Bash"]}, {}, [], [], id="an allow that is gone"),
        pytest.param(
            {}, {"deny": ["Bash"], "ask": ["Edit"]}, ["ask Edit", "deny Bash"], [], id="a new deny and a new ask"
        ),
        pytest.param(
            {"deny": ["Bash"], "ask": ["Edit"]},
            {},
            ["ask Edit", "deny Bash"],
            ["/settings.json no longer asks about Edit", "/settings.json no longer denies Bash"],
            id="a file that is gone",
        ),
        pytest.param(
            {"deny": ["Bash(npm *)"]},
            {"deny": ["Bash(npm test)"]},
            ["deny Bash(npm *)", "deny Bash(npm test)"],
            ["/settings.json no longer denies Bash(npm *)"],
            id="a narrower deny",
        ),
        pytest.param(
            {"deny": ["Edit"]},
            {"ask": ["Edit"]},
            ["ask Edit", "deny Edit"],
            ["/settings.json no longer denies Edit"],
            id="an ask in place of a deny",
        ),
        pytest.param({}, {"folders": ["/x"]}, [], ["/settings.json adds the working folder /x"], id="a folder"),
        pytest.param(
            {"off": True},
            {},
            [],
            ["/settings.json no longer switches bypassPermissions off"],
            id="bypass allowed again",
        ),
    ],
)
def test_what_counts_and_what_is_held_back(start, now, counts, held_back):
    held = tighten(said(**start), said(**now))
    assert shown(held) == counts
    assert list(find_loosening(held, said(**now)).lines) == held_back
    assert held.paths == ()


def test_what_was_tightened_is_not_loosened_by_taking_it_back():
    first = said(allow=["Bash(npm *)"])
    held = tighten(tighten(first, said(deny=["Edit"])), first)
    assert shown(held) == ["deny Edit"]


def test_a_rule_that_moves_to_another_file_or_line_goes_on():
    start = said(allow=["Bash(npm *)"], deny=["Edit"])
    moved = FileRules(
        rules=(rule("Bash(npm *)", source=Source.LOCAL, line=9), rule("Edit", Ruling.DENY, Source.PROJECT))
    )
    held = tighten(start, moved)
    assert held.rules == moved.rules
    assert not find_loosening(held, moved)


def test_the_administrators_word_counts_at_once_either_way():
    first = said(allow=["Bash(npm *)"], deny=["Edit"], folders=["/x"], source=Source.MANAGED, off=True)
    second = said(allow=["Read"], folders=["/y"], source=Source.MANAGED)
    held = tighten(first, second)
    assert (shown(held), held.paths, held.no_bypass) == (["allow Read"], ("/y",), ())
    assert not find_loosening(held, second)


def test_managed_settings_that_anybody_here_could_write_are_held_back_like_others():
    first = said(deny=["Edit"], source=Source.MANAGED, off=True)
    second = said(allow=["Read"], folders=["/y"], source=Source.MANAGED, managed_by_others=False)
    held = tighten(first, second)
    assert (shown(held), held.paths, len(held.no_bypass)) == (["deny Edit"], (), 1)
    assert len(find_loosening(held, second).lines) == 4


def test_an_allow_of_the_administrator_that_is_gone_is_not_saved_by_a_copy_elsewhere():
    first = said(allow=["Bash(npm *)"], source=Source.MANAGED)
    copied = said(allow=["Bash(npm *)"])
    assert tighten(first, copied).rules == ()


def test_what_a_person_agreed_to_counts_as_soon_as_it_is_written_and_nothing_beside_it():
    held = agree_to(said(), [rule("Bash(npm *)", source=Source.SESSION)])
    assert shown(tighten(held, said(allow=["Bash(npm *)", "Bash"], source=Source.LOCAL))) == ["allow Bash(npm *)"]


def test_many_changes_are_told_in_one_line():
    now = said(allow=[f"Bash(make {number})" for number in range(20)])
    told = find_loosening(tighten(said(), now), now).summary
    assert told.endswith("allows Bash(make 4); and 15 more")
    assert "\n" not in told
