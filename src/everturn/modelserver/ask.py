"""One Messages request as the matcher, the rules and the usage see it; reads only, and stumbles over nothing."""

from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Any, NamedTuple

from everturn.modelserver.models import KNOWN_MODELS, Model, Models, permissive
from everturn.modelserver.signatures import IssuedThinking
from everturn.modelserver.threads import Threads

Block = Mapping[str, Any]
THINKING_TYPES = ("thinking", "redacted_thinking")


class PlacedBlock(NamedTuple):
    """A block and where it stands, in the words of the API's errors."""

    path: str
    role: str
    block: Block
    message: int


def blocks_of(content: Any) -> list[Block]:
    """Content as blocks: a string is one text block, whatever is neither list nor string is none."""
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    if isinstance(content, list):
        return [block for block in content if isinstance(block, dict)]
    return []


def text_of(content: Any) -> str:
    """The text blocks of a content, a line each."""
    texts = [block.get("text") for block in blocks_of(content) if block.get("type") == "text"]
    return "\n".join(text for text in texts if isinstance(text, str))


class Ask:
    def __init__(
        self,
        body: Mapping[str, Any],
        headers: Mapping[str, str] | None = None,
        *,
        models: Models = KNOWN_MODELS,
        window: int | None = None,
        handed: IssuedThinking | None = None,
        threads: Threads | None = None,
        counting: bool = False,
    ) -> None:
        self.threads = threads or Threads()
        self.sent = body
        """The body as it came."""
        self.body = self.threads.rebuild(body)
        """The whole request: with what is held of the thread that it continues."""
        self.headers = {name.lower(): value for name, value in (headers or {}).items()}
        self.models = models
        self.handed = handed or IssuedThinking()
        self.counting = counting
        """A request to count tokens: there is no answer to limit."""
        self._window = window

    @cached_property
    def model(self) -> Model:
        """The model asked for; a permissive one when it is unknown, which only the rule about models minds."""
        name = self.body.get("model")
        known = self.models.find(name) if isinstance(name, str) else None
        return known or permissive(str(name))

    @property
    def window(self) -> int:
        return self._window or self.model.window

    @cached_property
    def betas(self) -> frozenset[str]:
        return frozenset(beta.strip() for beta in self.headers.get("anthropic-beta", "").split(",") if beta.strip())

    @property
    def streams(self) -> bool:
        return self.body.get("stream") is True

    @cached_property
    def messages(self) -> list[Mapping[str, Any]]:
        messages = self.body.get("messages")
        return [message for message in messages if isinstance(message, dict)] if isinstance(messages, list) else []

    @cached_property
    def tools(self) -> list[Mapping[str, Any]]:
        tools = self.body.get("tools")
        return [tool for tool in tools if isinstance(tool, dict)] if isinstance(tools, list) else []

    @property
    def system(self) -> list[Block]:
        return blocks_of(self.body.get("system"))

    @property
    def thinking(self) -> Mapping[str, Any]:
        return self._object("thinking")

    @property
    def output_config(self) -> Mapping[str, Any]:
        return self._object("output_config")

    def _object(self, field: str) -> Mapping[str, Any]:
        value = self.body.get(field)
        return value if isinstance(value, dict) else {}

    @cached_property
    def blocks(self) -> list[PlacedBlock]:
        """The blocks of all messages, in order, without those inside tool results."""
        return [
            PlacedBlock(f"messages.{at}.content.{position}", str(message.get("role")), block, at)
            for at, message in enumerate(self.messages)
            for position, block in enumerate(blocks_of(message.get("content")))
        ]

    def of_type(self, *types: str) -> Iterator[PlacedBlock]:
        return (placed for placed in self.blocks if placed.block.get("type") in types)

    @cached_property
    def nested_blocks(self) -> list[PlacedBlock]:
        """The blocks of all messages, each tool result followed by the blocks inside it."""
        found: list[PlacedBlock] = []
        for placed in self.blocks:
            found.append(placed)
            if placed.block.get("type") == "tool_result" and isinstance(placed.block.get("content"), list):
                inner = blocks_of(placed.block["content"])
                found += [
                    placed._replace(path=f"{placed.path}.content.{at}", block=block) for at, block in enumerate(inner)
                ]
        return found

    @property
    def last_user(self) -> Mapping[str, Any]:
        return next((message for message in reversed(self.messages) if message.get("role") == "user"), {})

    @property
    def last_user_text(self) -> str:
        return text_of(self.last_user.get("content"))

    @property
    def last_results(self) -> list[Block]:
        """The tool results in the last user message."""
        return [block for block in blocks_of(self.last_user.get("content")) if block.get("type") == "tool_result"]

    @cached_property
    def tool_names(self) -> dict[str, Any]:
        """The name of the tool behind each call of the conversation, by the call's id."""
        return {str(placed.block.get("id")): placed.block.get("name") for placed in self.of_type("tool_use")}

    @cached_property
    def trajectory(self) -> int:
        """Index of the first message after the last real prompt: a user message that brings no tool results."""
        for at in range(len(self.messages) - 1, -1, -1):
            message = self.messages[at]
            kinds = [block.get("type") for block in blocks_of(message.get("content"))]
            if message.get("role") == "user" and "tool_result" not in kinds:
                return at + 1
        return 0
