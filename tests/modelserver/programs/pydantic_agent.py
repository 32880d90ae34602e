"""pydantic-ai, as its documentation uses it: an agent with two tools, a stream, an answer of a type."""

import json
import os

from pydantic import BaseModel
from pydantic_ai import Agent
from pydantic_ai.models.anthropic import AnthropicModel
from pydantic_ai.providers.anthropic import AnthropicProvider

provider = AnthropicProvider(base_url=os.environ["MODEL_SERVER"], api_key="any")
model = AnthropicModel("claude-opus-5-5", provider=provider)
agent = Agent(model, system_prompt="Be brief.")
ran = []


@agent.tool_plain
def get_weather(location: str) -> str:
    """The weather in a place."""
    ran.append(location)
    return "sunny"


@agent.tool_plain
def get_time(zone: str = "UTC") -> str:
    """The time in a zone."""
    ran.append(zone)
    return "12:00"


class Person(BaseModel):
    name: str
    age: int


answer = agent.run_sync("What weather?")
streamed = Agent(model).run_stream_sync("Hello").get_output()
person = Agent(model, output_type=Person).run_sync("As JSON").output
told = {
    "parts": [type(part).__name__ for message in answer.all_messages() for part in message.parts],
    "answer": answer.output,
    # It runs them in threads, both at once.
    "ran": sorted(ran),
    "streamed": streamed,
    "parsed": person.model_dump(),
}
print(json.dumps(told))  # noqa: T201 - a program
