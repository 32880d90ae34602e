"""What servers give back, as content of the Messages API."""

import base64

from everturn.mcp.content import render_outcome
from everturn.mcp.results import (
    AudioContent,
    CallOutcome,
    EmbeddedResource,
    ImageContent,
    OtherContent,
    ResourceContents,
    ResourceLink,
    TextContent,
)

PNG = base64.b64encode(b"\x89PNG\r\n\x1a\n" + bytes(20)).decode()


def render(*content, structured=None):
    return render_outcome(CallOutcome(content=content, structured=structured))


def test_texts_become_one_text():
    assert render(TextContent(text="a"), TextContent(text="b")) == "a\nb"


def test_nothing_is_said_to_be_nothing():
    assert render() == "(no result)"


def test_a_picture_stays_a_picture_beside_its_text():
    assert render(TextContent(text="a"), ImageContent(data=PNG, mime_type="image/png")) == [
        {"type": "text", "text": "a"},
        {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PNG}},
    ]


def test_a_picture_that_the_api_would_refuse_is_described():
    wrong = [
        ImageContent(data="no base64!", mime_type="image/png"),
        ImageContent(data=base64.b64encode(b"<svg>").decode(), mime_type="image/png"),
        ImageContent(data=PNG, mime_type="image/svg+xml"),
        ImageContent(data="A" * 6_000_000, mime_type="image/png"),
    ]

    assert all(isinstance(render(each), str) for each in wrong)


def test_structured_content_is_given_once():
    assert render(TextContent(text='{"a": 1}'), structured={"a": 1}) == '{"a": 1}'
    assert render(TextContent(text="One."), structured={"a": 1}) == 'One.\n{"a":1}'
    assert render(structured=[1]) == "[1]"


def test_links_resources_and_sound_are_described():
    text = render(
        ResourceLink(uri="file:///a", name="a", description="The first."),
        EmbeddedResource(resource=ResourceContents(uri="note://1", text="Milk.")),
        EmbeddedResource(resource=ResourceContents(uri="bin://1", blob="AAAA")),
        AudioContent(data="AAAA", mime_type="audio/wav"),
        OtherContent(value={"type": "new"}),
    )

    assert text.splitlines() == [
        "[resource file:///a (a): The first.; ReadMcpResource reads it]",
        "[resource note://1]",
        "Milk.",
        "[resource bin://1, application/octet-stream, about 3 bytes: not shown, since it is no text]",
        "[audio, audio/wav, about 3 bytes: not shown, since no model here can hear it]",
        '{"type":"new"}',
    ]
