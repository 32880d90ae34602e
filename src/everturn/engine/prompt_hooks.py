"""Hooks around a prompt: SessionStart, InstructionsLoaded and UserPromptSubmit, which may refuse the prompt or add to it."""

from typing import TYPE_CHECKING

from everturn.core.messages import Block, Text
from everturn.core.outcomes import Problem
from everturn.engine.asker import Asker
from everturn.engine.hook_calls import INSTRUCTIONS, PROMPT, SESSION_END, SESSION_START, list_told
from everturn.ports.abort import AbortedError
from everturn.ports.hooks import Occasion

if TYPE_CHECKING:
    from everturn.engine.conversation import Conversation
    from everturn.engine.query_parts import QueryParts

Heard = tuple[list[str], Problem | None, str]
"""Texts for the model, why the prompt is refused or None, and the id of the prompt's message."""


async def hear_prompt(conversation: "Conversation", parts: "QueryParts", blocks: tuple[Block, ...] | None) -> Heard:
    """Asks the hooks about a prompt. An abort leaves the prompt as it is: the query ends with its next step."""
    try:
        return await parts.signal.guard(_hear(conversation, blocks))
    except AbortedError:
        return [], None, ""


async def _hear(conversation: "Conversation", blocks: tuple[Block, ...] | None) -> Heard:
    hooks, told = conversation.deps.hooks, list[str]()
    source, conversation.source = conversation.source, ""
    conversation.has_begun = True
    if source and hooks.hears(SESSION_START):
        said = await hooks.ask(
            Occasion(event=SESSION_START, fields={"source": source, "model": conversation.agent.model})
        )
        told += list_told(SESSION_START, said)
        if said.stop is not None:
            return told, _refusal(said.stop), ""
    if source and hooks.hears(INSTRUCTIONS):
        for path, kind in conversation.list_instructions():
            fields = {"file_path": path, "memory_type": kind, "load_reason": "session_start"}
            conversation.background.start(hooks.ask(Occasion(event=INSTRUCTIONS, fields=fields)))
    if (stop := await hooks.look_around()) is not None:
        return told, _refusal(stop), ""
    if blocks is None or not hooks.hears(PROMPT):
        return told, None, ""
    prompt_id = conversation.deps.ids.new()
    asker = Asker(
        deps=conversation.deps,
        limits=conversation.config.limits,
        requests=conversation.requests,
        recorder=conversation.recorder,
        agent=conversation.agent,
        turn=1,
    )
    text = "\n".join(block.view.text for block in blocks if isinstance(block.view, Text))
    said = await hooks.ask(Occasion(event=PROMPT, fields={"prompt": text, "prompt_id": prompt_id}, ask=asker))
    reason = said.block if said.block is not None else said.stop
    if reason is not None:
        return told, _refusal(reason), ""
    return told + list_told(PROMPT, said), None, prompt_id


def _refusal(reason: str) -> Problem:
    return Problem(text=f"A hook refused the prompt: {reason}", kind="prompt_blocked", by_api=False)


async def end_session(conversation: "Conversation", reason: str) -> None:
    """Asks SessionEnd hooks, once, if the session had a prompt."""
    if conversation.has_begun:
        conversation.has_begun = False
        await conversation.deps.hooks.ask(Occasion(event=SESSION_END, fields={"reason": reason}))
