"""Patterns of rules mean what a regular expression would mean, without its dangers."""

import re

from hypothesis import given
from hypothesis import strategies as st

from everturn.permissions.rules.rule import Rule
from everturn.permissions.shell.approval.command_pattern import Patterns, parse_pattern
from everturn.ports.policy import Ruling

TEXTS = st.text("ab *:", max_size=10)


def meaning(specifier):
    """The same, said with a regular expression."""

    def render(text):
        return ".*".join(re.escape(piece) for piece in text.strip(" ").split("*"))

    if specifier.endswith((":*", " *")):
        return re.compile(rf"{render(specifier[:-2])}(?: .*)?", re.DOTALL)
    return re.compile(render(specifier), re.DOTALL)


@given(TEXTS, TEXTS)
def test_a_pattern_covers_what_its_expression_matches(specifier, text):
    assert parse_pattern(specifier).covers(text) == bool(meaning(specifier).fullmatch(text))


@given(st.lists(TEXTS.filter(lambda text: ":" not in text), max_size=8), TEXTS)
def test_sorted_rules_find_what_each_of_them_would_find(specifiers, text):
    rules = [Rule(ruling=Ruling.DENY, tool="Bash", specifier=specifier) for specifier in specifiers]

    found = Patterns(rules).find(text)

    covering = [rule for rule in rules if parse_pattern(rule.specifier).covers(text)]
    assert (found in covering) if covering else found is None


def test_rules_about_parameters_match_scalars_that_are_there():
    rules = [Rule(ruling=Ruling.DENY, tool="Bash", specifier=text) for text in ("run_in_background:true", "timeout:9*")]
    patterns = Patterns(rules)

    found = [
        patterns.find_parameter(given)
        for given in (
            {"run_in_background": True},
            {"timeout": 9000},
            {"timeout": 10},
            {},
            {"run_in_background": [True]},
        )
    ]

    assert found == [rules[0], rules[1], None, None, None]
