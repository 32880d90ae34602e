"""The question whether settings files that changed during the session, and would let more run, count now."""

from everturn.frontends.ansi import CYAN
from everturn.frontends.asking.consent import NO_ANSWER, SAID_YES, refuse
from everturn.frontends.asking.dialogue import NO, Dialogue, Shown
from everturn.frontends.asking.keyboard import END
from everturn.ports.policy import Call, Ruling, Verdict

YES = "y"


async def ask_about_settings(dialogue: Dialogue, call: Call) -> Verdict:
    """Every change is shown: what is not seen is not agreed to."""
    dialogue.open("Settings changed while the session runs, and would let more run: shall they count?")
    dialogue.show([Shown(str(change), CYAN) for change in call.input["changes"]])
    choices = {YES: "yes, they count from now on", NO: "no, not in this session"}
    match await dialogue.choose(choices):
        case "y":
            return Verdict(ruling=Ruling.ALLOW, reason=SAID_YES)
        case key:
            return Verdict(ruling=Ruling.DENY, reason=NO_ANSWER) if key == END else refuse("")
