"""The EnterPlanMode and ExitPlanMode tools: look first, change nothing, and go on when the person has approved the plan."""

from typing import Annotated

import msgspec
from msgspec import Meta

from everturn.core.errors import ToolFault
from everturn.core.modes import PermissionMode
from everturn.ports.tool import Access, Modes, ToolContext, ToolResult
from everturn.tools.definition.decorator import FunctionTool, tool
from everturn.tools.result_types import PlanShown


class ExitPlanModeInput(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    plan: Annotated[str, Meta(min_length=1, description="The plan in Markdown: what will be changed, where and how")]


def enter_plan_mode_tool() -> FunctionTool:
    @tool(
        name="EnterPlanMode",
        needs_person=True,
        concurrent=False,
        access=Access.READ,
        line=lambda _: "EnterPlanMode",
        description="""Asks the person to switch to plan mode, in which you look around and plan, and nothing is changed.
Use it before larger work: when several ways are open, when many files are concerned, or when it is not yet clear what
is wanted. Not for small and clear changes, nor where only an answer is wanted.""",
    )
    async def enter_plan_mode(context: ToolContext) -> ToolResult:
        _modes(context).switch(PermissionMode.PLAN)
        return ToolResult(
            content="Plan mode is on: nothing may be changed now. Look around with the tools that only read, ask what is "
            "unclear, and then call ExitPlanMode with the plan. The person decides whether you go on with it."
        )

    return enter_plan_mode


def exit_plan_mode_tool() -> FunctionTool:
    @tool(
        name="ExitPlanMode",
        needs_person=True,
        concurrent=False,
        access=Access.READ,
        line=lambda call: f"ExitPlanMode {call.plan.lstrip('# ').partition(chr(10))[0]}",
        description="""Shows your plan to the person, in plan mode, and asks whether to go on with it. When they approve,
plan mode ends and you carry it out; when not, you hear why, and plan mode stays on. Call it when the plan is whole and
open questions are settled. Not for work that only finds something out.""",
    )
    async def exit_plan_mode(call: ExitPlanModeInput, context: ToolContext) -> ToolResult:
        mode, plan = _modes(context).leave_plan(), call.plan
        context.notepad.notes = msgspec.structs.replace(context.notepad.notes, plan=plan)
        changed = f" They changed it; this is the plan now:\n\n{plan}" if context.input_changed else ""
        return ToolResult(
            content=f"The person approved the plan. Plan mode is off (permission mode: {mode}); carry it out.{changed}",
            shown=PlanShown(plan=plan, is_agent=False, plan_was_edited=context.input_changed),
        )

    return exit_plan_mode


def _modes(context: ToolContext) -> Modes:
    if context.modes is None:
        raise ToolFault("There are no permission modes here, and so no plan mode.")
    return context.modes
