"""The AskUserQuestion tool: questions with options to the person, whose answers come back through the approver."""

from typing import Annotated, Any

import msgspec
from msgspec import Meta

from everturn.core.errors import ToolFault
from everturn.ports.tool import Access, ToolResult
from everturn.tools.definition.decorator import FunctionTool, tool
from everturn.tools.result_types import AskedShown


class Option(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    label: Annotated[str, Meta(min_length=1, description="One to five words; this is what an answer names")]
    description: Annotated[str, Meta(description="What it means and what follows from it")]
    preview: Annotated[str, Meta(description="A sketch to compare, such as a piece of code")] = ""


class AskedQuestion(msgspec.Struct, frozen=True, kw_only=True):
    question: Annotated[str, Meta(min_length=1, description="The whole question")]
    header: Annotated[str, Meta(description="A word or two above it, such as: Database")]
    options: Annotated[
        tuple[Option, ...],
        Meta(min_length=2, max_length=4, description="What to choose from; the person can always say something else"),
    ]
    multiSelect: Annotated[bool, Meta(description="Several options may be chosen")] = False  # noqa: N815 - its public name

    def __post_init__(self) -> None:
        if len({option.label for option in self.options}) < len(self.options):
            raise ValueError("Expected options with different labels")


class AskUserQuestionInput(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    questions: Annotated[tuple[AskedQuestion, ...], Meta(min_length=1, max_length=4)]
    answers: dict[str, str] = {}
    """The person's: by question, the label or their own words; several are joined by commas."""
    annotations: dict[str, Any] = {}
    """The person's: remarks, by question."""
    response: str = ""
    """The person's: something else than answers to the questions."""
    metadata: dict[str, Any] = {}
    """The host's own."""

    def __post_init__(self) -> None:
        if len({asked.question for asked in self.questions}) < len(self.questions):
            raise ValueError("`questions`: expected different questions, got the same one twice")


def ask_user_tool() -> FunctionTool:
    @tool(
        name="AskUserQuestion",
        needs_person=True,
        concurrent=False,
        access=Access.READ,
        person_fields=("answers", "annotations", "response", "metadata"),
        line=_line,
        description="""Asks the person one to four questions, each with two to four options, and waits for the answers.
Ask when the choice is theirs and you cannot find it out: what they prefer, which of two good ways, what a vague wish
means. Do not ask what the files can tell, nor whether to go on. Put the option that you advise first and say so in its
label. In plan mode, settle open questions this way; whether the plan itself is good is asked by ExitPlanMode.""",
    )
    async def ask_user_question(call: AskUserQuestionInput) -> ToolResult:
        if not call.answers and not call.response:
            raise ToolFault("The person gave no answer. Go on with what you know, or ask in your own words.")
        return ToolResult(
            content=_render(call),
            shown=AskedShown(
                questions=call.questions,
                answers=call.answers,
                response=call.response,
                annotations=call.annotations,
            ),
        )

    return ask_user_question


def _line(call: AskUserQuestionInput) -> str:
    more = len(call.questions) - 1
    return f"AskUserQuestion {call.questions[0].question}{f' (and {more} more)' if more else ''}"


def _render(call: AskUserQuestionInput) -> str:
    asked = {each.question: "(no answer)" for each in call.questions} if call.answers else {}
    lines = [f"{question} {answer}" for question, answer in (asked | call.answers).items()]
    lines += [f"On {question} they remark: {_render_remark(said)}" for question, said in call.annotations.items()]
    if call.response:
        lines.append(call.response)
    return "The person answered:\n" + "\n".join(lines)


def _render_remark(said: Any) -> str:
    if isinstance(said, dict) and isinstance(said.get("notes"), str):
        said = said["notes"]
    return said if isinstance(said, str) else msgspec.json.encode(said).decode()
