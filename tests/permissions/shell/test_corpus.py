"""The corpus of bypasses, and cases of our own and of a review in the same groups: no breach, no weak denial, little over-blocking."""

from collections import Counter
from pathlib import Path

import pytest
from tests.permissions.shell.scoring import accept_read_forms, load_read_forms, score
from tests.permissions.shell.worlds import judge, load_cases

HERE = Path(__file__).parent
CORPUS = HERE.parents[1] / "corpora" / "bash_bypass.jsonl"
OWN = HERE / "own_cases.jsonl"
REVIEW = HERE / "review_cases.jsonl"
ATTACK = HERE / "attack_cases.jsonl"
FILES = pytest.mark.parametrize("path", [CORPUS, OWN, REVIEW, ATTACK], ids=["corpus", "own", "review", "attack"])


@FILES
def test_nothing_is_allowed_that_must_not_be_and_nothing_denied_is_merely_asked_about(path):
    cases = accept_read_forms(load_cases(path))

    counts, missed = score(
        cases, [str(judge(case["command"], case["rules"], given=case.get("input")).ruling) for case in cases]
    )

    assert missed == []
    assert (counts["breaches"], counts["weak denials"], counts["wrong denials"]) == (0, 0, 0)
    assert counts["overblocked"] < 0.02 * counts["must allow"]


def test_the_list_of_forms_that_only_read_names_cases_that_were_asked_about_and_are_allowed_now():
    cases = {case["id"]: case for path in (CORPUS, OWN, REVIEW, ATTACK) for case in load_cases(path)}

    told = {
        form: (cases[form]["expect"], cases[form]["rules"].get("deny"), str(judge(cases[form]["command"]).ruling))
        for form in load_read_forms()
    }

    assert told == dict.fromkeys(load_read_forms(), ("ask", [], "allow"))


@FILES
def test_every_group_of_the_corpus_has_ten_cases(path):
    groups = Counter(case["group"] for case in load_cases(path))

    assert {case["group"] for case in load_cases(CORPUS)} == set(groups)
    assert min(groups.values()) >= 10


@FILES
def test_what_must_be_allowed_says_why_and_what_decides_is_named(path):
    for case in load_cases(path):
        judgement = judge(case["command"], case["rules"], given=case.get("input"))
        assert judgement.why
        if judgement.rule is not None:
            assert judgement.rule.text in [rule for rules in case["rules"].values() for rule in rules]
