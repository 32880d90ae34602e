"""Two hundred facts come in by normal traffic; five summaries by a model that forgets nine tenths of it lose none of them."""

from random import Random

from everturn import Engine
from everturn.core.messages import ToolResult, ToolUse, result_text
from everturn.core.state import Reason
from everturn.ports.policy import Ruling, Verdict
from everturn.testing import ScriptedModel, call, say, too_long

COMPACTIONS = 5
PARTS = {
    "prompt": 30,
    "meanwhile": 10,
    "rule": 20,
    "plan": 20,
    "task": 30,
    "pin": 20,
    "file": 40,
    "error": 10,
    "answer": 20,
}
NEEDLES = {
    kind: [f"{kind}-needle-{number:03d}-{number * 7919 % 1000:03d}" for number in range(count)]
    for kind, count in PARTS.items()
}
QUESTION = {
    "question": "Which ones?",
    "header": "Ones",
    "options": [{"label": "These", "description": "a"}, {"label": "Those", "description": "b"}],
}


class Person:
    """Approves everything, and answers the question in their own words."""

    async def approve(self, call, reason):
        filled = {**call.input, "answers": {"Which ones?": " ".join(NEEDLES["answer"])}}
        input_ = filled if call.name == "AskUserQuestion" else None
        return Verdict(ruling=Ruling.ALLOW, reason="yes", input=input_)


class Forgetful:
    """A summariser that keeps a random tenth of the words it is shown."""

    def __init__(self, seed):
        self._random = Random(seed)  # noqa: S311 (nothing secret)

    def __call__(self, request):
        words = read(request).split()
        return say(" ".join(word for word in words if self._random.random() < 0.1)[:12_000])


def read(request):
    """All that the model sees, tools apart."""
    texts = list(request.system)
    for wire in request.messages:
        for block in wire.blocks:
            match block.view:
                case ToolResult() as result:
                    texts.append(result_text(result))
                case ToolUse(input=input_):
                    texts.append(bytes(input_).decode())
                case view:
                    texts.append(getattr(view, "text", ""))
    return "\n".join(texts)


def work(bench):
    """Every kind of fact, then enough chatter that nothing of it is near the end."""
    tasks = [{"content": needle, "status": "pending", "activeForm": "Working"} for needle in NEEDLES["task"]]
    paths = [str(bench.folder / f"{needle}.txt") for needle in NEEDLES["file"]]
    yield call("EnterPlanMode")
    yield call("ExitPlanMode", {"plan": "\n".join(NEEDLES["plan"])})
    yield call("TodoWrite", {"todos": tasks})
    yield call("AskUserQuestion", {"questions": [QUESTION]})
    for path in paths:
        yield call("Write", {"file_path": path, "content": "new\n"})
    yield call("Bash", {"command": f"echo {' '.join(NEEDLES['error'])} >&2; exit 3"})
    yield from (call("Bash", {"command": f"seq {number} {number + 1_500}"}) for number in range(12))


async def test_every_fact_is_still_in_the_context(bench):
    model = ScriptedModel(say("Yes."), *work(bench))
    rules, more = "\n".join(NEEDLES["rule"][:10]), "\n".join(NEEDLES["rule"][10:])
    contexts = iter(({"rules": rules, "more": "Nothing."}, {"rules": rules, "more": more}))
    for seed in range(COMPACTIONS):
        chatter = [call("Bash", {"command": f"seq {seed} {2_000 + number}"}) for number in range(4)]
        model.plays(too_long(), Forgetful(seed), *chatter)
    model.plays(say("Done."))
    options = bench.options(
        permission_mode="bypassPermissions",
        approver=Person(),
        user_context=lambda: next(contexts),
        limits={"max_repeated_calls": 0},
    )

    async with Engine(options, env=bench.env, model=model) as engine:
        for needle in NEEDLES["pin"]:
            engine.pin(needle)
        await bench.go_on(engine, "Are you there?")
        said = iter(NEEDLES["meanwhile"])

        def send_meanwhile(event):
            if event.__struct_config__.tag == "tool_end" and (words := next(said, None)):
                engine.enqueue(words)

        run = await bench.go_on(engine, f"Do this: {' '.join(NEEDLES['prompt'])}", on_event=send_meanwhile)

    bench.runs.clear()
    assert run.reason is Reason.COMPLETED
    assert run.transitions.count("reactive_compact_retry") == COMPACTIONS
    assert sum(PARTS.values()) == 200
    seen = read(model.requests[-1])
    assert [needle for kind in NEEDLES.values() for needle in kind if needle not in seen] == []


async def test_what_has_passed_or_was_taken_back_is_not_kept_for_ever(bench):
    (bench.folder / "ok").write_text("")
    check = call("Bash", {"command": "test ! -e ok || (echo broken-needle >&2; exit 3)"})
    model = ScriptedModel(
        *(check, call("Bash", {"command": "rm ok"}), check, say("Fixed. " * 200)),
        *(too_long(), say("A summary."), say("Done.")),
    )
    options = bench.options(permission_mode="bypassPermissions")
    async with Engine(options, env=bench.env, model=model) as engine:
        engine.pin("pin-needle")
        await bench.go_on(engine, "First.")
        assert engine.unpin(1) == "pin-needle"
        await bench.go_on(engine, "Second.")

    seen = read(model.requests[-1])
    assert "broken-needle" not in seen
    assert seen.count("pin-needle") == seen.count("it no longer applies:\npin-needle") == 1
    assert "First." in seen
