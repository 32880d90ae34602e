"""langchain-anthropic, as its documentation uses it: bound tools, a stream, an answer of a type, a count."""

import json
import os

from langchain_anthropic import ChatAnthropic
from langchain_core.messages import HumanMessage
from langchain_core.tools import tool
from pydantic import BaseModel

model = ChatAnthropic(
    model="claude-opus-5", base_url=os.environ["MODEL_SERVER"], api_key="any", max_tokens=1000, max_retries=0
)
ran = []


@tool
def get_weather(location: str) -> str:
    """The weather in a place."""
    ran.append(location)
    return "sunny"


@tool
def get_time(zone: str = "UTC") -> str:
    """The time in a zone."""
    ran.append(zone)
    return "12:00"


class Person(BaseModel):
    """Somebody."""

    name: str
    age: int


tools = {"get_weather": get_weather, "get_time": get_time}
bound = model.bind_tools(list(tools.values()))
messages = [HumanMessage("What weather?")]
messages.append(bound.invoke(messages))
messages += [tools[call["name"]].invoke(call) for call in messages[-1].tool_calls]
answer = bound.invoke(messages)
told = {
    "answer": answer.content,
    "tokens": answer.usage_metadata["total_tokens"],
    "ran": ran,
    "streamed": "".join(piece.content for piece in model.stream("Hello")),
    "parsed": model.with_structured_output(Person, method="json_schema").invoke("As JSON").model_dump(),
    "counted": model.get_num_tokens_from_messages([HumanMessage("Hello")]),
}
print(json.dumps(told))  # noqa: T201 - a program
