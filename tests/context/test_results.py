"""Stage two: which results go into files, and what is shown of them."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from everturn.context.results import fit_results, message_budget, plan_spills, render_preview
from everturn.core.limits import Limits
from everturn.core.messages import result_block
from everturn.core.records import ResultSpilled
from everturn.ports.context import Change, Fitted
from everturn.testing import MemoryShelf

LIMITS = Limits(message_results=1_000, result_preview=100)
PICTURE = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AAAA"}}


class FullShelf:
    def put(self, text):
        raise OSError("no space left")


def fit(*blocks, shelf=None, tool_limits=None):
    return fit_results(blocks, tool_limits or {}, limits=LIMITS, window=200_000, shelf=shelf)


async def test_what_fits_comes_back_as_it_is():
    blocks = (result_block("a", "x" * 500), result_block("b", "y" * 300))
    assert await fit(*blocks) == Fitted(blocks=blocks)


async def test_a_result_above_its_tools_limit_goes_into_a_file():
    shelf, whole, small = MemoryShelf(), result_block("a", "x" * 300, is_error=True), result_block("b", "y" * 300)
    fitted = await fit(whole, small, shelf=shelf, tool_limits={"a": 200, "b": 400})
    preview = render_preview("x" * 300, 100, path="/shelf/0")
    shown = result_block("a", preview, is_error=True)
    assert fitted == Fitted(
        blocks=(shown, small),
        spilled=(ResultSpilled(tool_use_id="a", path="/shelf/0", characters=300),),
        change=Change(
            stage="tool_results",
            cause="too_large",
            tokens_before=whole.tokens + small.tokens,
            tokens_after=shown.tokens + small.tokens,
        ),
    )
    assert shelf.files == {"/shelf/0": "x" * 300}


async def test_pictures_stay_beside_the_preview():
    parts = [{"type": "text", "text": "x" * 900}, PICTURE, {"type": "text", "text": "y" * 900}]
    shelf = MemoryShelf()
    [block] = (await fit(result_block("a", parts), shelf=shelf)).blocks
    text, picture = json.loads(block.raw)["content"]
    assert (text["type"], picture, block.media) == ("text", PICTURE, 1)
    assert list(shelf.files.values()) == ["x" * 900 + "\n" + "y" * 900]


@pytest.mark.parametrize("shelf", [None, FullShelf()])
async def test_without_a_file_the_middle_is_lost_and_that_is_said(shelf):
    fitted = await fit(result_block("a", "x" * 2_000), shelf=shelf)
    assert fitted.spilled == (ResultSpilled(tool_use_id="a", path="", characters=2_000),)
    assert (
        "1,900 of 2,000 characters are left out here, and there was no room"
        in json.loads(fitted.blocks[0].raw)["content"]
    )


def test_a_preview_reads_like_this():
    assert render_preview("abcdefghij" * 2, 10, path="/s/1") == (
        "abcdef\n[… 10 of 20 characters are left out here. The whole result is in /s/1; read it in pages with Read, or "
        "search it with Grep. …]\nghij"
    )


def test_the_budget_is_never_more_than_half_the_window():
    assert message_budget(Limits(), 1_000_000) == 200_000
    assert message_budget(Limits(), 20_000) == 30_000


@given(
    st.dictionaries(st.text("abcdef", min_size=1, max_size=2), st.integers(0, 500), max_size=6),
    st.integers(1, 400),
    st.integers(1, 1_000),
    st.integers(1, 100),
)
def test_what_is_left_fits_or_is_small_and_nothing_goes_without_need(sizes, limit, budget, preview):
    limits = dict.fromkeys(sizes, limit)
    chosen = plan_spills(sizes, limits, budget, preview)
    left = {id_: size for id_, size in sizes.items() if id_ not in chosen}
    assert all(size <= limit for size in left.values())
    total = sum(left.values()) + sum(min(sizes[id_], preview) for id_ in chosen)
    assert total <= budget or all(size <= preview for size in left.values())
    if sum(sizes.values()) <= budget:
        assert chosen == {id_ for id_, size in sizes.items() if size > limit}
