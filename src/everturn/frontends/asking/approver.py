"""The approver that asks a person at the terminal: one question after the other, with the terminal restored after each."""

from everturn.frontends.asking.consent import ask_consent
from everturn.frontends.asking.dialogue import Dialogue
from everturn.frontends.asking.floor import Floor
from everturn.frontends.asking.plans import ask_about_plan, ask_to_plan
from everturn.frontends.asking.questions import ask_questions
from everturn.frontends.asking.settings import ask_about_settings
from everturn.ports.policy import SETTINGS_QUESTION, Call, Verdict


class TerminalApprover:
    """`ports.policy.Approver`. An abort ends a question in the middle; the terminal is as before then, too."""

    one_at_a_time = True

    def __init__(self, dialogue: Dialogue, floor: Floor) -> None:
        self._dialogue = dialogue
        self._floor = floor

    async def approve(self, call: Call, reason: str) -> Verdict:
        async with self._floor.taken(call.id):
            with self._dialogue.keyboard.held(self._dialogue.redraw):
                try:
                    return await self._ask(call, reason)
                finally:
                    self._dialogue.leave()

    async def _ask(self, call: Call, reason: str) -> Verdict:
        match call.name:
            case "AskUserQuestion":
                return await ask_questions(self._dialogue, call)
            case "ExitPlanMode":
                return await ask_about_plan(self._dialogue, call)
            case "EnterPlanMode":
                return await ask_to_plan(self._dialogue)
            case name if name == SETTINGS_QUESTION:
                return await ask_about_settings(self._dialogue, call)
            case _:
                return await ask_consent(self._dialogue, call, reason)
