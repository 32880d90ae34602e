"""Questions of the model to the person, one after the other: an option by its number, or their own words."""

from typing import Any

from everturn.frontends.ansi import BOLD, DIM
from everturn.frontends.asking.consent import NO_ANSWER
from everturn.frontends.asking.dialogue import NO, Dialogue, Shown
from everturn.frontends.asking.keyboard import END
from everturn.frontends.harmless import make_line
from everturn.ports.policy import Call, Ruling, Verdict

OTHER, DONE = "o", "d"
DECLINED = "the person does not want to answer"


async def ask_questions(dialogue: Dialogue, call: Call) -> Verdict:
    answers: dict[str, str] = {}
    for asked in call.input["questions"]:
        answer = await ask_question(dialogue, asked)
        if answer is None:
            return Verdict(ruling=Ruling.DENY, reason=DECLINED)
        if answer == END:
            return Verdict(ruling=Ruling.DENY, reason=NO_ANSWER)
        answers[asked["question"]] = answer
    return Verdict(ruling=Ruling.ALLOW, reason="the person answered", input={**call.input, "answers": answers})


async def ask_question(dialogue: Dialogue, asked: dict[str, Any]) -> str | None:
    """The answer; None where it is declined, `END` where nobody is there."""
    dialogue.open(make_line(asked["header"]) or "A question")
    dialogue.show((Shown(asked["question"], BOLD),))
    labels = [option["label"] for option in asked["options"]]
    for number, option in enumerate(asked["options"], 1):
        if preview := option.get("preview"):
            dialogue.say(f"{number}:", DIM)
            dialogue.show((Shown(preview),), most=20)
    listed = {
        str(number): f"{make_line(option['label'])}: {make_line(option['description'])}".removesuffix(": ")
        for number, option in enumerate(asked["options"], 1)
    }
    if asked.get("multiSelect") is True:
        return await _choose_several(dialogue, listed, labels)
    match await dialogue.choose(listed | {OTHER: "something else, in your own words", NO: "do not answer"}):
        case "o":
            return await dialogue.ask_line("Your answer") or None
        case "n":
            return None
        case key:
            return labels[int(key) - 1] if key else END


async def _choose_several(dialogue: Dialogue, listed: dict[str, str], labels: list[str]) -> str | None:
    """Each number puts its option in or takes it out again."""
    chosen: list[str] = []
    while True:
        marked = {key: f"{'☑' if labels[int(key) - 1] in chosen else '☐'} {told}" for key, told in listed.items()}
        done = {DONE: f"done: {', '.join(chosen)}"} if chosen else {}
        others = {OTHER: "something else, in your own words", NO: "do not answer"}
        key = await dialogue.choose(marked | done | others, steps=listed)
        match key:
            case "n":
                return None
            case "":
                return END
            case "d":
                return ", ".join(chosen)
            case "o":
                if words := await dialogue.ask_line("Your answer"):
                    return ", ".join([*chosen, words])
            case _:
                label = labels[int(key) - 1]
                chosen = [other for other in chosen if other != label] if label in chosen else [*chosen, label]
