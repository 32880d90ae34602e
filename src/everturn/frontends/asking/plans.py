"""Questions about plans: whether to make one, and whether a finished plan is approved."""

from everturn.core.modes import PermissionMode
from everturn.frontends.asking.consent import NO_ANSWER, SAID_YES, refuse
from everturn.frontends.asking.dialogue import NO, Dialogue, Shown
from everturn.frontends.asking.keyboard import END
from everturn.ports.policy import Call, Ruling, Verdict

YES, EDITS, WORD = "y", "a", "w"


async def ask_about_plan(dialogue: Dialogue, call: Call) -> Verdict:
    dialogue.open("The plan is ready: shall it be carried out?")
    dialogue.show((Shown(str(call.input.get("plan", ""))),))
    key = await dialogue.choose(
        {
            YES: "yes, with the permissions as they were",
            EDITS: f"yes, and edits in this folder run unasked (mode {PermissionMode.ACCEPT_EDITS})",
            NO: "no, plan on",
            WORD: "no, and tell the model why",
        }
    )
    match key:
        case "y":
            return Verdict(ruling=Ruling.ALLOW, reason=SAID_YES)
        case "a":
            return Verdict(ruling=Ruling.ALLOW, reason=SAID_YES, mode=PermissionMode.ACCEPT_EDITS)
        case "w":
            return refuse(await dialogue.ask_line("What should the plan say instead?"))
        case _:
            return Verdict(ruling=Ruling.DENY, reason=NO_ANSWER) if key == END else refuse("")


async def ask_to_plan(dialogue: Dialogue) -> Verdict:
    dialogue.open("The model wants to plan first: nothing is changed until you approve a plan. Shall it?")
    key = await dialogue.choose({YES: "yes", NO: "no, begin at once", WORD: "no, and tell the model why"})
    match key:
        case "y":
            return Verdict(ruling=Ruling.ALLOW, reason=SAID_YES)
        case "w":
            return refuse(await dialogue.ask_line("What should the model do instead?"))
        case _:
            return Verdict(ruling=Ruling.DENY, reason=NO_ANSWER) if key == END else refuse("")
