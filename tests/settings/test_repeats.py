"""A name that stands twice in a settings file is an error, wherever it stands."""

import json
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from everturn.settings.repeats import Repeat, find_repeat

NAMES = st.sampled_from(["deny", 'a":', "é", "\\", '"', ""])
TREES = st.recursive(
    st.one_of(st.integers(), NAMES),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.lists(st.tuples(NAMES, inner), max_size=4).map(tuple)),
    max_leaves=12,
)
"""Objects are tuples of pairs, so that a name may stand in them twice."""


def render(tree):
    if isinstance(tree, tuple):
        return "{" + ",".join(f"{json.dumps(name)} :\n {render(value)}" for name, value in tree) + "}"
    return f"[{','.join(map(render, tree))}]" if isinstance(tree, list) else json.dumps(tree)


def repeats(tree):
    if isinstance(tree, tuple):
        names = [name for name, _ in tree]
        return len(set(names)) < len(names) or any(repeats(value) for _, value in tree)
    return isinstance(tree, list) and any(map(repeats, tree))


@settings(max_examples=200)
@given(TREES)
def test_a_repeated_name_is_found_at_any_depth_and_nothing_else_is(tree):
    text = render(tree)
    assert (find_repeat(text, json.loads(text)) is not None) == repeats(tree)


def test_the_same_name_in_another_spelling_is_the_same():
    text = '{"permissions": {\n"deny": ["Bash"],\n"d\\u0065ny": ["Read"]}}'
    assert find_repeat(text, json.loads(text)) == Repeat(("permissions", "deny"), 2, 3)


@pytest.mark.parametrize("file", ["user", "project", "foreign project", "local", "managed"])
def test_of_two_lists_none_is_silently_lost(ground, file):
    path = ground.write(file, '{"permissions": {\n  "deny": ["Bash"],\n  "deny": ["Read"]\n}}')
    (problem,) = ground.merge().problems
    assert str(problem) == f"{path}:3: permissions.deny is already in line 2: write it once"


def test_a_large_file_is_searched_in_a_moment():
    text = json.dumps({"permissions": {"deny": [f'Bash(echo "{n}": *)' for n in range(20_000)], "allow": [], "x": {}}})
    started = time.process_time()
    assert find_repeat(text, json.loads(text)) is None
    assert time.process_time() - started < 1
