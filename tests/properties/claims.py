"""What must hold of a transcript, of a request and of the calls of a query; each claim fails with a readable value."""

import json
from collections import Counter
from typing import Any

from tests.properties.fakes import Asked
from tests.properties.scenes import CARRIED
from tests.properties.stage import LARGE, Query
from tests.properties.tools import WITH_EFFECTS

from everturn.core.events import BlockFinished, CallBegan, CallEnded, Retracted
from everturn.core.messages import Message, ToolUse
from everturn.models.anthropic.encode import encode_request
from everturn.modelserver.rules import Violation, check_request


def find_violation(asked: Asked) -> Violation | None:
    """What the API would say against the request. A block that no rule knows came from the API itself: it is let pass."""
    body = json.loads(encode_request(asked.request, LARGE.card(asked.request.model)))
    for message in body["messages"]:
        message["content"] = [_known(block) for block in message["content"]]
    return check_request(body)


def _known(block: dict[str, Any]) -> dict[str, Any]:
    return block if block.get("type") != CARRIED["novelty"]["type"] else {"type": "text", "text": "news"}


def find_misplaced(transcript: tuple[Message, ...]) -> list[str]:
    """Uses that are not answered exactly once, by the first message with results after them, in their order."""
    wrong = []
    answered = Counter(result.tool_use_id for message in transcript for result in message.results)
    asked = Counter(use.id for message in transcript for use in message.uses)
    if answered != asked:
        wrong.append(f"uses {dict(asked)}, results {dict(answered)}")
    for index, message in enumerate(transcript):
        if uses := [use.id for use in message.uses]:
            following = next((later for later in transcript[index + 1 :] if later.results or later.uses), None)
            results = [result.tool_use_id for result in following.results] if following else []
            if uses != results:
                wrong.append(f"{message.id} asks {uses}, answered by {results}")
    return wrong


def find_loose_calls(query: Query) -> list[str]:
    """Calls that began and never ended, ended twice, or did anything once their message was retracted."""
    wrong: list[str] = []
    owners: dict[str, str] = {}
    retracted: set[str] = set()
    open_: dict[str, str] = {}
    for event in query.events:
        match event:
            case BlockFinished(message_id=message, block=block) if isinstance(block.view, ToolUse):
                owners[block.view.id] = message
            case Retracted(message_id=message):
                retracted.add(message)
                open_ = {use: owner for use, owner in open_.items() if owner != message}
            case CallBegan(tool_use_id=use) | CallEnded(tool_use_id=use) if owners.get(use) in retracted:
                wrong.append(f"{type(event).__name__} of {use}, which was retracted")
            case CallBegan(tool_use_id=use):
                open_[use] = owners.get(use, "")
            case CallEnded(tool_use_id=use):
                open_.pop(use, None)
    return wrong + [f"{use} never ended" for use in open_]


def find_ghosts(query: Query) -> list[str]:
    """Events that carry the id of a message after it was retracted."""
    wrong: list[str] = []
    retracted: set[str] = set()
    for event in query.events:
        id_ = event.message.id if hasattr(event, "message") else getattr(event, "message_id", None)
        if id_ in retracted:
            wrong.append(f"{type(event).__name__} of {id_}, which was retracted")
        if isinstance(event, Retracted):
            retracted.add(event.message_id)
    return wrong


def find_miscounted_ends(query: Query) -> list[str]:
    """Calls of the query's answers that did not end exactly once."""
    kept = [use.id for event in query.events if hasattr(event, "message") for use in event.message.uses]
    ends = Counter(event.tool_use_id for event in query.of(CallEnded))
    return [f"{use} ended {ends[use]} times" for use in kept if ends[use] != 1]


def find_stray_effects(query: Query, transcript: tuple[Message, ...]) -> list[str]:
    """Calls with effects that ran twice, or whose message is not in the transcript."""
    kept = {use.id for message in transcript for use in message.uses}
    runs = Counter(id_ for id_, tool in query.runs if tool in WITH_EFFECTS)
    return [
        f"{id_} ran {times} times, kept: {id_ in kept}" for id_, times in runs.items() if times > 1 or id_ not in kept
    ]
