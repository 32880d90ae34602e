"""The window is shared out whole: what each kind takes, what is free, what is kept for the answer."""

from hypothesis import given
from hypothesis import strategies as st

from everturn.core.messages import Kind, Message, ToolUse, decode_block, encode_block, result_block, text_block
from everturn.core.window import Category, Item, fold_window, measure_messages

THOUGHT = decode_block(b'{"type":"thinking","thinking":"Hm.","signature":"s"}')
IMAGE = decode_block(b'{"type":"image","source":{"type":"base64","media_type":"image/png","data":"AAAA"}}')
SYSTEM = Item(category=Category.SYSTEM, name="system", tokens=1_000)


def message(kind: Kind, *blocks, id_: str = "m", blames: tuple[str, ...] = ()) -> Message:
    role = "assistant" if kind is Kind.ANSWER else "user"
    return Message(id=id_, role=role, kind=kind, blocks=blocks, blames=blames)


def test_every_block_counts_for_what_it_is():
    said, use, result = text_block("Hello."), encode_block(ToolUse("t", "Read")), result_block("t", "x" * 300)
    messages = (
        message(Kind.SUMMARY, said),
        message(Kind.PROMPT, said, IMAGE),
        message(Kind.ANSWER, THOUGHT, said, use),
        message(Kind.RESULTS, result, result_block("u", [{"type": "text", "text": "y"}])),
        message(Kind.ATTACHMENT, said),
        message(Kind.NOTICE, said),
        message(Kind.BOUNDARY, said),
    )

    assert measure_messages(messages) == {
        Category.SUMMARIES: said.tokens,
        Category.USER_TEXT: said.tokens,
        Category.MEDIA: IMAGE.tokens,
        Category.THINKING: THOUGHT.tokens,
        Category.ASSISTANT_TEXT: said.tokens,
        Category.CALLS: use.tokens,
        Category.RESULTS: messages[3].tokens,
        Category.NOTES: said.tokens,
    }


def test_media_that_the_api_refused_takes_next_to_nothing():
    messages = (message(Kind.PROMPT, IMAGE, id_="p"), message(Kind.NOTICE, text_block("gone"), blames=("p",)))

    assert measure_messages(messages)[Category.MEDIA] < 10


def test_what_the_api_counted_is_the_truth_and_the_estimates_are_scaled_to_it():
    words = message(Kind.PROMPT, text_block("x" * 2_963))

    use = fold_window((SYSTEM,), (words,), model="m", window=10_000, reserve=2_000, total=1_000)

    assert words.tokens == SYSTEM.tokens
    assert dict(use.shares) == {
        Category.SYSTEM: 500,
        Category.USER_TEXT: 500,
        Category.FREE: 7_000,
        Category.RESERVE: 2_000,
    }
    assert (use.total, use.is_counted, use.over) == (1_000, True, 0)


def test_a_request_that_no_longer_fits_leaves_neither_room_nor_reserve():
    use = fold_window((SYSTEM,), (), model="m", window=600, reserve=100)

    assert use.shares == ((Category.SYSTEM, 1_000),)
    assert (use.over, use.is_counted) == (400, False)


def test_words_beside_media_that_the_api_refused_still_count():
    shot = result_block("t", [{"type": "image", "source": {}}, {"type": "text", "text": "word " * 600}])
    messages = (message(Kind.RESULTS, shot, id_="r"), message(Kind.NOTICE, text_block("gone"), blames=("r",)))

    assert measure_messages(messages)[Category.MEDIA] > 900


@given(
    st.lists(st.integers(0, 5_000), max_size=6),
    st.none() | st.integers(0, 200_000),
    st.integers(1, 200_000),
    st.integers(0, 50_000),
)
def test_the_shares_add_up_to_the_window_or_to_what_is_sent_and_the_items_to_their_shares(
    sizes, total, window, reserve
):
    kinds = (Category.TOOLS, Category.SYSTEM, Category.MCP_TOOLS)
    items = tuple(Item(category=kinds[at % 3], name="t", tokens=size) for at, size in enumerate(sizes))
    if not sum(sizes):
        total = None

    use = fold_window(items, (), model="m", window=window, reserve=reserve, total=total)

    assert sum(tokens for _, tokens in use.shares) == max(window, use.total)
    shares = dict(use.shares)
    for kind in kinds:
        assert sum(item.tokens for item in use.items if item.category is kind) == shares.get(kind, 0)
