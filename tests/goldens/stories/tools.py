"""Scenarios of tools and of what stands around them: permissions, sandbox, plan mode, background tasks, ToolSearch."""

import asyncio
import json
from typing import Any

from tests.conftest import wait_for_tasks
from tests.goldens.catalogue import scenario
from tests.goldens.stage import Stage
from tests.goldens.stories.context import filling
from tests.goldens.stories.turns import OWN, append

from everturn import tool
from everturn.modelserver import call, calls, hold, text, when
from everturn.ports.policy import Ruling, Scope, Verdict
from everturn.ports.tool import ToolContext


class Person:
    """Says no to what names one of these words; to anything else yes, as long as the scope says where that is offered."""

    def __init__(self, *refused: str, scope: Scope = Scope.ONCE) -> None:
        self._refused, self._scope = refused, scope

    async def approve(self, call: Any, _reason: str) -> Verdict:
        if any(word in call.line for word in self._refused):
            return Verdict(ruling=Ruling.DENY, reason="not now")
        if call.name == "AskUserQuestion":
            answers = {question["question"]: question["options"][0]["label"] for question in call.input["questions"]}
            return Verdict(ruling=Ruling.ALLOW, reason="", input={**call.input, "answers": answers})
        offer = next((offer for offer in call.offers if offer.scope is self._scope), None)
        if offer is None:
            return Verdict(ruling=Ruling.ALLOW, reason="yes")
        return Verdict(ruling=Ruling.ALLOW, reason="yes", grants=offer.rules, mode=offer.mode, scope=offer.scope)


def bash(command: str, **more: Any) -> Any:
    return call("Bash", {"command": command, **more})


def write(name: str) -> tuple[str, dict[str, str]]:
    return "Write", {"file_path": name, "content": "x\n"}


@scenario()
async def every_tool_is_offered(stage: Stage) -> None:
    @tool(deferred=True)
    def rare(subject: str) -> str:
        """Seldom needed."""
        return subject

    stage.plays(filling(20_000, "Hello."))
    options = {"web_search": "brave", "web_search_key": "made-up-key", "approver": Person(), "tools": [rare]}
    await stage.ask(stage.engine(builtin_tools=True, system_prompt=None, **options))


@scenario()
async def everything_by_default(stage: Stage) -> None:
    """The prompt, the environment and the tools that a program gives that says nothing."""
    stage.plays(filling(20_000, "Hello."))
    await stage.ask(stage.engine(builtin_tools=True, system_prompt=None, environment=True, streaming_tools=True))


@scenario()
async def files_written_and_edited(stage: Stage) -> None:
    stage.write("a.txt", "alpha\nbeta\n")
    edit = {"file_path": str(stage.folder / "a.txt"), "old_string": "beta", "new_string": "gamma"}
    stage.plays(stage.read("a.txt"), call("Edit", edit), calls(write("b.txt")), call("Glob", {"pattern": "*"}), "Done.")
    await stage.ask(stage.engine(builtin_tools=["Read", "Edit", "Write", "Glob"], permission_mode="acceptEdits"))


@scenario()
async def denied_by_rules_and_mode(stage: Stage) -> None:
    stage.plays(calls(write("a.txt"), write("secret.txt"), ("append", {"word": "a"})), text("Then not."))
    options = {"builtin_tools": ["Write"], "tools": [append], "disallowed_tools": ["Edit(secret.txt)"]}
    await stage.ask(stage.engine(**options, permission_mode="dontAsk", allowed_tools=["Edit(a.txt)"]))


@scenario()
async def a_persons_no(stage: Stage) -> None:
    stage.plays(calls(write("a.txt"), write("b.txt"), write("c.txt"), ("Glob", {"pattern": "*"})), text("I see."))
    await stage.ask(stage.engine(builtin_tools=["Write", "Glob"], approver=Person("b.txt")))


@scenario()
async def a_yes_for_the_session(stage: Stage) -> None:
    stage.plays(bash("touch a.txt"), bash("touch a.txt"), calls(write("b.txt")), calls(write("c.txt")), text("Done."))
    await stage.ask(stage.engine(builtin_tools=["Bash", "Write"], approver=Person(scope=Scope.SESSION)))


@scenario()
async def a_yes_for_ever(stage: Stage) -> None:
    stage.plays(bash("touch a.txt"), bash("touch a.txt"), text("Done."))
    await stage.ask(stage.engine(builtin_tools=["Bash"], approver=Person(scope=Scope.ALWAYS)))
    settings = json.loads((stage.folder / ".everturn" / "settings.local.json").read_bytes())
    assert settings["permissions"]["allow"]


@scenario()
async def a_question_to_the_person(stage: Stage) -> None:
    options = [{"label": "Tabs", "description": "Wide"}, {"label": "Spaces", "description": "Narrow"}]
    question = {"question": "Tabs or spaces?", "header": "Indent", "options": options, "multiSelect": False}
    stage.plays(call("AskUserQuestion", {"questions": [question]}), text("Tabs, then."))
    await stage.ask(stage.engine(builtin_tools=["AskUserQuestion"], approver=Person()))


@scenario()
async def aborted_while_a_person_is_asked(stage: Stage) -> None:
    class Waiting:
        async def approve(self, _call: Any, _reason: str) -> Verdict:
            engine.abort()
            await asyncio.Event().wait()
            raise AssertionError("nobody sets it")

    stage.plays(calls(write("a.txt"), write("b.txt")))
    engine = stage.engine(builtin_tools=["Write"], approver=Waiting())
    await stage.ask(engine)


@scenario()
async def commands_without_a_sandbox(stage: Stage) -> None:
    stage.joins_output = True
    stage.plays(bash("mkdir sub; cd sub; export WHO=you"), bash('echo "$WHO in $PWD"'), bash("exit 3"), text("Done."))
    await stage.ask(stage.engine(builtin_tools=["Bash"], permission_mode="bypassPermissions"))


@scenario("bubblewrap")
async def commands_in_a_sandbox(stage: Stage) -> None:
    stage.joins_output = True
    outside = stage.home / "outside"
    stage.plays(
        bash("echo a > a"), bash(f"echo b > {outside}"), bash("true", dangerouslyDisableSandbox=True), text("Done.")
    )
    await stage.ask(stage.engine(builtin_tools=["Bash"], sandbox={"enabled": True}))
    assert not outside.exists()


@scenario("Landlock")
async def commands_that_only_read(stage: Stage) -> None:
    """Nobody approved them, so that they are held."""
    stage.joins_output = True
    outside = stage.home / "outside.txt"
    outside.write_text("the treasure is below the oak")
    (stage.folder / "notes.txt").symlink_to(outside)
    stage.write("a.txt", "inside\n")
    stage.plays(bash("cat a.txt"), bash("cat notes.txt"), text("Done."))
    await stage.ask(stage.engine(builtin_tools=["Bash"]))


@scenario("Landlock")
async def commands_tried_while_held(stage: Stage) -> None:
    stage.joins_output = True
    stage.plays(bash("touch made.txt"), text("Done."))
    await stage.ask(stage.engine(builtin_tools=["Bash"], try_held=True, approver=Person("touch")))


@scenario()
async def plan_mode(stage: Stage) -> None:
    plan = {"plan": "# Split the parser\n\n1. Move the lexer."}
    stage.plays(
        calls(("EnterPlanMode", {}), write("made.txt")), call("ExitPlanMode", plan), calls(write("made.txt")), "Done."
    )
    tools = ["Write", "EnterPlanMode", "ExitPlanMode"]
    engine = stage.engine(builtin_tools=tools, approver=Person(), permission_mode="acceptEdits", system_prompt=None)
    await stage.ask(engine)


@scenario()
async def plan_that_is_refused(stage: Stage) -> None:
    stage.plays(call("ExitPlanMode", {"plan": "Everything anew."}), text("I see."))
    engine = stage.engine(builtin_tools=["ExitPlanMode"], approver=Person("plan", "Plan"), permission_mode="plan")
    await stage.ask(engine)


@scenario()
async def mode_switched_between_prompts(stage: Stage) -> None:
    stage.plays(text("Planned."), text("Done."))
    engine = stage.engine(builtin_tools=["Write"], permission_mode="plan", system_prompt=None)
    await stage.ask(engine, "Plan it.")
    engine.policy.mode = "acceptEdits"
    await stage.ask(engine, "Do it.")


@scenario()
async def tasks_in_the_background(stage: Stage) -> None:
    stage.plays(bash("exit 2", run_in_background=True), call("Wait", {}), text("It failed."))
    options = {"builtin_tools": ["Bash", "TaskOutput", "TaskStop"], "tools": [wait_for_tasks]}
    await stage.ask(stage.engine(**options, permission_mode="bypassPermissions"))


@scenario()
async def tasks_looked_at_and_stopped(stage: Stage) -> None:
    def with_task(name: str, **more: Any) -> Any:
        return lambda _: call(name, {"task_id": engine.tasks.running[0].id, **more})

    stage.plays(
        *(bash("sleep 1000", run_in_background=True), with_task("TaskOutput", block=False), with_task("TaskStop")),
        text("It is stopped."),
    )
    options = {"builtin_tools": ["Bash", "TaskOutput", "TaskStop"]}
    engine = stage.engine(**options, permission_mode="bypassPermissions")
    await stage.ask(engine)


@scenario()
async def queued_commands(stage: Stage) -> None:
    @tool
    async def overhear() -> str:
        """The user says something meanwhile."""
        engine.enqueue("Use tabs.")
        engine.enqueue("For somebody else.", address="agent:7")
        return "heard"

    stage.plays(call("overhear", {}), text("With tabs."), text("Fine."), text("Good."))
    engine = stage.engine(tools=[overhear], allowed_tools=["overhear"])
    await stage.ask(engine)
    engine.enqueue("One more thing.")
    await stage.ask(engine, "And now?")
    for command in engine.take_queued():
        await stage.ask(engine, command.text)


@scenario()
async def summaries_of_tools(stage: Stage) -> None:
    """Each batch is worded while the model is held up in its next answer."""
    gates = iter(("first", "second"))

    def release(event: Any) -> None:
        if getattr(event, "purpose", "") == "tool_summary":
            stage.server.release(next(gates))

    stage.plays(
        *(call("look", {"word": "a"}), hold(call("look", {"word": "b"}), gate="first")),
        *(hold(text("Done."), gate="second"), when("Looked at a word.", model="claude-haiku-4-5")),
    )
    await stage.ask(stage.engine(**OWN, tool_summaries=True, small_model="claude-haiku-4-5"), on_event=release)


@scenario()
async def deferred_tools_found(stage: Stage) -> None:
    @tool(deferred=True, reads_only=True)
    def create_issue(title: str) -> str:
        """Creates an issue in the tracker."""
        return f"#1 {title}"

    @tool(deferred=True, reads_only=True)
    def close_issue(number: int) -> str:
        """Closes an issue in the tracker."""
        return f"closed #{number}"

    options = {"tools": [create_issue, close_issue], "allowed_tools": ["create_issue", "close_issue"]}
    early, search = call("close_issue", {"number": 1}), call("ToolSearch", {"query": "create issue", "max_results": 1})
    stage.plays(early, search, call("create_issue", {"title": "It leaks"}), text("Done."), text("Yes."))
    engine = stage.engine(builtin_tools=["ToolSearch"], **options)
    await stage.ask(engine)
    resumed = await stage.reopen(engine, builtin_tools=["ToolSearch"], **options)
    await stage.ask(resumed, "Is it there?")


@scenario()
async def todos_and_progress(stage: Stage) -> None:
    @tool
    async def count_up(context: ToolContext) -> str:
        """Shows how far it is."""
        for number in range(2):
            context.progress(f"{number}\n")
        return "counted"

    todo = {"content": "Count", "status": "in_progress", "activeForm": "Counting"}
    stage.plays(call("TodoWrite", {"todos": [todo]}), call("count_up", {}), text("Done."))
    await stage.ask(stage.engine(builtin_tools=["TodoWrite"], tools=[count_up], allowed_tools=["count_up"]))


@scenario()
async def a_side_question_of_a_tool(stage: Stage) -> None:
    from everturn.core.messages import Kind, Message, text_block
    from everturn.ports.ask import Question

    @tool(reads_only=True)
    async def consult(context: ToolContext) -> str:
        """Asks the small model."""
        assert context.ask is not None
        asked = Message(id="question", role="user", kind=Kind.HIDDEN, blocks=(text_block("What is it?"),))
        reply = await context.ask.ask(
            Question(purpose="consult", messages=(asked,), model="claude-haiku-4-5", max_tokens=500)
        )
        return reply.text

    stage.plays(call("consult", {}), text("So it is."), when("A parser.", model="claude-haiku-4-5"))
    await stage.ask(stage.engine(tools=[consult], allowed_tools=["consult"]))
