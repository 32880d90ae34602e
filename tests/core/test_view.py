"""A view grows without being copied: whoever holds an older one never notices."""

from hypothesis import given
from hypothesis import strategies as st

from everturn.core.messages import Kind, Message, text_block
from everturn.core.view import Joined, View


def message(number, *, kind=Kind.PROMPT, blames=()):
    return Message(id=str(number), role="user", kind=kind, blocks=(text_block(str(number)),), blames=blames)


@given(st.lists(st.tuples(st.integers(0, 5), st.booleans()), max_size=12))
def test_every_view_keeps_what_it_had_whoever_grows_it(steps):
    """Each step grows one of the views so far; a second growth of the same view must not be seen by the first."""
    views, expected = [View()], [()]
    for number, (which, blames) in enumerate(steps):
        index = which % len(views)
        added = message(number, blames=("b",) if blames else ())
        views.append(views[index].plus(added))
        expected.append((*expected[index], added))

    assert [tuple(view) for view in views] == expected
    assert all(view == told and len(view) == len(told) for view, told in zip(views, expected, strict=True))
    assert [bool(view.refused) for view in views] == [any(each.blames for each in told) for told in expected]


@given(st.integers(0, 6), st.integers(0, 6), st.slices(12))
def test_what_is_joined_is_taken_apart_like_a_tuple(size, more, part):
    shared, tail = list(range(10)), tuple(range(100, 100 + more))
    joined, whole = Joined(shared, size, tail), (*range(size), *tail)

    assert joined[part] == whole[part]
    assert [joined[place] for place in range(-len(whole), len(whole))] == [
        whole[p] for p in range(-len(whole), len(whole))
    ]
    assert (list(joined), len(joined), list(reversed(joined))) == (list(whole), len(whole), list(reversed(whole)))


def test_growth_is_known_by_what_is_shared():
    first = View([message(1)])
    second = first.plus(message(2))
    other = first.plus(message(3))

    assert (second.grew_from(first), first.grew_from(second), other.grew_from(first)) == (True, False, False)


def test_a_boundary_is_noticed_when_it_is_added():
    view = View([message(1)])

    assert (view.has_boundary, view.plus(message(2, kind=Kind.BOUNDARY)).plus(message(3)).has_boundary) == (False, True)
