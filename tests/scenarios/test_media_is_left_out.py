"""The API refuses an image: it leaves what is sent, text stands for it, and the request is made again."""

import base64

import pytest

from everturn import tool
from everturn.core.state import Reason
from everturn.modelserver import call, calls, error, text
from everturn.ports.tool import ToolResult

PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
IMAGE = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PIXEL}}
DOCUMENT = {"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": "Words."}}
PROMPT = [{"type": "text", "text": "What is this?"}, IMAGE]
REFUSED = error(400, message="messages.0.content.1.image.source.base64: image exceeds 5 MB maximum: 6 > 5 bytes")


def types(messages):
    return [block["type"] for message in messages for block in message["content"]]


async def test_the_next_request_has_text_in_its_place_and_the_next_prompt_too(bench):
    bench.model(REFUSED, text("I cannot see it."))
    engine = bench.engine()

    run = await bench.go_on(engine, PROMPT)
    await bench.go_on(engine, "Never mind.")

    assert run.transitions == ["reactive_compact_retry"]
    assert run.reason is Reason.COMPLETED
    assert types(bench.sent[0]) == ["text", "image"]
    assert types(bench.sent[1]) == ["text", "text"]
    assert bench.sent[2][:1] == bench.sent[1]
    [change] = run.of("context")
    assert change.stage == "media"


async def test_the_image_stays_in_the_transcript(bench):
    bench.model(REFUSED, text("I cannot see it."))
    engine = bench.engine()

    await bench.go_on(engine, PROMPT)

    assert sum(block.media for message in engine.transcript for block in message.blocks) == 1


async def test_an_image_inside_a_tool_result_is_replaced_there(bench):
    @tool(reads_only=True)
    async def look() -> ToolResult:
        """Looks."""
        return ToolResult(content=[{"type": "text", "text": "Seen:"}, IMAGE])

    bench.model(call("look"), REFUSED, text("I cannot see it."))

    run = await bench.run(tools=[look], allowed_tools=["look"])

    assert run.transitions == ["next_turn", "reactive_compact_retry"]
    [result] = bench.sent[-1][-1]["content"]
    assert [part["type"] for part in result["content"]] == ["text", "text"]


async def test_an_image_sent_later_is_sent(bench):
    bench.model(REFUSED, text("I cannot see it."), text("A pixel."))
    engine = bench.engine()
    await bench.go_on(engine, PROMPT)

    await bench.go_on(engine, PROMPT)

    assert types(bench.sent[-1]) == ["text", "text", "text", "text", "image"]


def refuse(place):
    return error(400, message=f"{place}.image.source.base64: image exceeds 5 MB maximum: 6 > 5 bytes")


def images(count):
    return [{**IMAGE, "source": {**IMAGE["source"], "data": padded(n)}} for n in range(count)]


async def test_only_the_image_that_the_refusal_names_leaves_and_the_text_says_what_it_was(bench):
    bench.model(refuse("messages.0.content.2"), text("Three are left."))
    sent = images(4)

    run = await bench.run([{"type": "text", "text": "Which is best?"}, *sent])

    assert run.reason is Reason.COMPLETED
    content = bench.sent[1][0]["content"]
    assert content[:2] + content[3:] == [{"type": "text", "text": "Which is best?"}, sent[0], sent[2], sent[3]]
    assert content[2]["text"] == (
        "[Image (image/png, 71 bytes) is no longer sent: "
        "The API refused the request (HTTP 400): image exceeds 5 MB maximum: 6 > 5 bytes.]"
    )


async def test_an_image_that_was_read_is_named_by_its_path(bench):
    for number, each in enumerate(images(2)):
        (bench.folder / f"shot{number}.png").write_bytes(base64.b64decode(each["source"]["data"]))
    reads = [("Read", {"file_path": str(bench.folder / f"shot{number}.png")}) for number in range(2)]
    bench.model(calls(*reads), refuse("messages.2.content.1.tool_result.content.0"), text("Fine."))

    await bench.run("Look.", builtin_tools=["Read"])

    first, second = bench.sent[-1][2]["content"]
    assert [part["type"] for part in first["content"]].count("image") == 1
    assert [part["type"] for part in second["content"]].count("image") == 0
    assert f"Image {bench.folder / 'shot1.png'} (image/png, " in str(second["content"])


async def test_a_second_refusal_takes_the_newest_and_a_third_takes_all(bench):
    same = refuse("messages.0.content.0")
    bench.model(same, same, same, text("None is left."))

    run = await bench.run(images(4))

    assert run.transitions == ["reactive_compact_retry"] * 3
    assert run.reason is Reason.COMPLETED
    assert [[part["type"] == "image" for part in sent[0]["content"]] for sent in bench.sent] == [
        [True, True, True, True],
        [False, True, True, True],
        [False, True, True, False],
        [False, False, False, False],
    ]


async def test_a_second_refusal_that_names_another_image_takes_that_one(bench):
    bench.model(refuse("messages.0.content.0"), refuse("messages.0.content.1"), text("One is left."))

    await bench.run(images(3))

    assert types(bench.sent[-1]) == ["text", "text", "image"]


async def test_a_refusal_that_names_no_image_takes_the_newest(bench):
    bench.model(error(400, message="Could not process image"), text("One is left."))

    await bench.run(images(2))

    assert types(bench.sent[-1]) == ["image", "text"]


@pytest.mark.parametrize(
    ("said", "left"),
    [
        ("The PDF specified was not valid.", ["document", "text", "image"]),
        ("Could not process image", ["document", "document", "text"]),
        ("Too much media: 2 images and a document", ["document", "document", "text"]),
    ],
)
async def test_a_refusal_that_names_only_the_kind_takes_the_newest_of_that_kind(bench, said, left):
    bench.model(error(400, message=said), text("The others are left."))

    run = await bench.run([DOCUMENT, DOCUMENT, IMAGE])

    assert run.reason is Reason.COMPLETED
    assert types(bench.sent[-1]) == left


async def test_whatever_is_wrong_with_an_image_it_goes_and_the_conversation_goes_on(bench):
    bench.model(
        error(400, message="messages.0.content.1.image.source.base64.data: Invalid base64 data"), text("One is left.")
    )

    run = await bench.run(images(2))

    assert run.reason is Reason.COMPLETED
    assert types(bench.sent[-1]) == ["image", "text"]


async def test_each_tool_round_begins_to_count_anew(bench):
    @tool(reads_only=True)
    async def look() -> ToolResult:
        """Looks."""
        return ToolResult(content=[IMAGE])

    unnamed = error(400, message="Could not process image")
    rounds = [call("look"), unnamed, unnamed]
    bench.model(*rounds, *rounds, text("Enough."))

    run = await bench.run([IMAGE, IMAGE, IMAGE], tools=[look], allowed_tools=["look"])

    assert run.reason is Reason.COMPLETED
    assert run.transitions == (["next_turn"] + ["reactive_compact_retry"] * 2) * 2


async def test_what_is_left_out_stays_left_out_after_a_resume(bench):
    bench.model(refuse("messages.0.content.1"), text("Two are left."), text("Still two."))
    engine = bench.engine()
    await bench.go_on(engine, images(3))
    await engine.aclose()

    await bench.go_on(bench.engine(resume=engine.session_id), "And now?")

    assert bench.sent[2][0] == bench.sent[1][0]
    assert types(bench.sent[2][:1]) == ["image", "text", "image"]


async def test_image_error_when_the_refusal_stays(bench):
    bench.model(REFUSED)

    run = await bench.run(PROMPT)

    assert run.transitions == ["reactive_compact_retry"]
    assert run.reason is Reason.IMAGE_ERROR
    assert [released.problem.kind for released in run.of("error")] == ["media_too_large"]


async def test_image_error_when_the_refusal_stays_although_all_images_are_gone(bench):
    bench.model(REFUSED)

    run = await bench.run(images(5))

    assert run.transitions == ["reactive_compact_retry"] * 3
    assert run.reason is Reason.IMAGE_ERROR


async def test_image_error_when_there_is_nothing_to_take_out(bench):
    bench.model(REFUSED)

    run = await bench.run("No image here.")

    assert run.transitions == []
    assert run.reason is Reason.IMAGE_ERROR


async def test_image_error_without_reactive_compaction(bench):
    bench.model(REFUSED)

    run = await bench.run(PROMPT, reactive_compact=False)

    assert run.reason is Reason.IMAGE_ERROR
    assert len(bench.requests) == 1


@pytest.mark.parametrize("reactive", [True, False])
async def test_after_an_image_error_the_next_prompt_goes_without_the_image(bench, reactive):
    bench.model(REFUSED, *([REFUSED] if reactive else []), text("Fine."))
    engine = bench.engine(reactive_compact=reactive)
    assert (await bench.go_on(engine, PROMPT)).reason is Reason.IMAGE_ERROR

    run = await bench.go_on(engine, "Never mind.")

    assert run.reason is Reason.COMPLETED
    assert "image" not in types(bench.sent[-1])


@pytest.mark.parametrize("most", [1, 2])
async def test_media_beyond_the_limit_of_the_model_is_dropped_oldest_first_and_without_an_error(bench, most):
    bench.model(text("Three pixels."))
    three = images(3)

    run = await bench.run(three, models=[{"id": "claude-sonnet-5", "max_media": most}])

    assert run.reason is Reason.COMPLETED
    assert types(bench.sent[0]) == ["text"] * (3 - most) + ["image"] * most
    assert bench.sent[0][0]["content"][-1] == three[-1]


def padded(count):
    """The same picture in other bytes."""
    return base64.b64encode(base64.b64decode(PIXEL) + b"\0" * count).decode()


async def test_pictures_beyond_the_models_limit_are_dropped_and_the_change_is_recorded_once(bench):
    bench.model(text("One."), text("Two."), text("Three."))
    few = {"id": "claude-sonnet-5", "window": 200_000, "max_output": 8_192, "max_media": 1}
    engine = bench.engine(models=[few])
    runs = [await bench.go_on(engine, PROMPT), await bench.go_on(engine, PROMPT), await bench.go_on(engine, "And?")]

    assert [types(sent).count("image") for sent in bench.sent] == [1, 1, 1]
    assert [[(change.stage, change.cause) for change in run.of("context")] for run in runs] == [
        [],
        [("media", "too_many")],
        [],
    ]
