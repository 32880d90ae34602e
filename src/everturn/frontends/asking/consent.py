"""The question whether a call may run: yes once, yes for this session, yes always, or no with a reason for the model."""

from collections.abc import Iterable

from everturn.frontends.ansi import DIM, YELLOW
from everturn.frontends.asking.dialogue import NO, Dialogue, Row, Shown
from everturn.frontends.asking.keyboard import END
from everturn.frontends.asking.subjects import MAX_ROWS, render_fields, render_subject
from everturn.ports.policy import Call, Offer, Ruling, Scope, Verdict

YES, SESSION, ALWAYS, WORD, EXPLAIN, MORE, EDIT = "y", "s", "a", "w", "e", "m", "d"
_OTHERS = {NO: "no", WORD: "no, and tell the model why", EXPLAIN: "explain"}
GRAVE = "yes"
SCOPES = {Scope.ONCE: "once", Scope.SESSION: "for this session", Scope.ALWAYS: "always"}
SAID_YES = "the person said yes"
SAID_NO = "the person said no"
NO_ANSWER = "the person did not answer"


async def ask_consent(dialogue: Dialogue, call: Call, reason: str) -> Verdict:
    subject = render_subject(call)
    offers = {offer.scope: offer for offer in call.offers}
    dialogue.open(subject.title)
    rows = dialogue.lay_out(subject.texts)
    dialogue.put(rows[: subject.most])
    left = rows[subject.most :]
    left += _tell_surroundings(dialogue, call, reason)
    while True:
        match await dialogue.choose(
            render_choices(offers, left=len(left), edits=dialogue.can_edit and call.name == "Bash")
        ):
            case "m":
                dialogue.put(left[: subject.most])
                left = left[subject.most :]
            case "y":
                if not call.grave or await confirm_grave(dialogue):
                    return Verdict(ruling=Ruling.ALLOW, reason=SAID_YES)
            case "s":
                return grant(offers[Scope.SESSION])
            case "a":
                if await confirm_always(dialogue, offers[Scope.ALWAYS]):
                    return grant(offers[Scope.ALWAYS])
            case "d":
                command = await dialogue.edit_line("The command that runs instead:", str(call.input["command"]))
                if command and (not call.grave or await confirm_grave(dialogue)):
                    return Verdict(
                        ruling=Ruling.ALLOW,
                        reason=f"{SAID_YES}, to another command",
                        input={**call.input, "command": command},
                    )
            case "w":
                return refuse(await dialogue.ask_line("What should the model know or do instead?"))
            case "e":
                explain(dialogue, call, reason)
                left = []
            case key:
                return Verdict(ruling=Ruling.DENY, reason=NO_ANSWER if key == END else SAID_NO)


def render_choices(offers: dict[Scope, Offer], *, left: int = 0, edits: bool = False) -> dict[str, str]:
    """`left`: rows that were not shown yet. Nobody says yes before they have been. `edits`: the command can be changed here."""
    if left:
        return {MORE: f"more: {left:,} rows are left, and a yes is possible after them"} | _OTHERS
    choices = {YES: "yes, this once"}
    if session := offers.get(Scope.SESSION):
        what = f"the mode {session.mode}" if session.mode else " ".join(session.rules)
        choices[SESSION] = f"yes, and for this session: {what}"
    if always := offers.get(Scope.ALWAYS):
        choices[ALWAYS] = f"always: {' '.join(always.rules)} (you see what it covers before it is written)"
    if edits:
        choices[EDIT] = "edit the command, and run that"
    return choices | _OTHERS


def grant(offer: Offer) -> Verdict:
    return Verdict(
        ruling=Ruling.ALLOW,
        reason=f"{SAID_YES}, {SCOPES[offer.scope]}",
        mode=offer.mode,
        grants=offer.rules,
        scope=offer.scope,
    )


def refuse(words: str) -> Verdict:
    return Verdict(ruling=Ruling.DENY, reason=f"{SAID_NO}: {words.rstrip('.')}" if words else SAID_NO)


async def confirm_grave(dialogue: Dialogue) -> bool:
    """A key that was meant for something else must not take away a home."""
    dialogue.say("This cannot be undone.", YELLOW)
    return await dialogue.ask_line(f"Type {GRAVE} to let it run, anything else to go back:") == GRAVE


async def confirm_always(dialogue: Dialogue, offer: Offer) -> bool:
    dialogue.say(f"This will be added to {offer.place}:" if offer.place else "This will apply from now on:")
    tell_offer(dialogue, offer)
    return await dialogue.choose({YES: "write it", NO: "back"}) == YES


def tell_offer(dialogue: Dialogue, offer: Offer) -> None:
    for rule, meaning in zip(offer.rules or (offer.mode or "",), offer.covers, strict=False):
        dialogue.show((Shown(rule),))
        dialogue.say(meaning, DIM, indent="    ")
    if offer.past:
        dialogue.say(
            f"Earlier calls that it would have allowed ({len(offer.past)}):",
            indent="  ",
        )
        dialogue.show([Shown(line) for line in offer.past], most=10)
    else:
        dialogue.say("It would have allowed nothing else that you were asked about in this session.", DIM, indent="  ")


def join_offers(offers: Iterable[Offer]) -> list[tuple[str, Offer]]:
    """What two of them add alike is told once: `For this session, or always`."""
    named: dict[tuple[tuple[str, ...], str | None], list[Offer]] = {}
    for offer in offers:
        named.setdefault((offer.rules, offer.mode), []).append(offer)
    joined = [(", or ".join(SCOPES[offer.scope] for offer in alike), alike[0]) for alike in named.values()]
    return [(scopes[0].upper() + scopes[1:], offer) for scopes, offer in joined]


def explain(dialogue: Dialogue, call: Call, reason: str) -> None:
    """Everything there is: what the call would do without any cut, who asks and why, what each yes would add."""
    dialogue.say(f"{call.name}, in full:")
    dialogue.show(render_fields(call.input))
    if call.exports:
        dialogue.say("With what earlier commands have exported:")
        dialogue.show([Shown(each) for each in call.exports])
    dialogue.say(f"Asked because: {reason}")
    for detail in call.details:
        dialogue.say(detail, DIM, indent="  ")
    for scopes, offer in join_offers(call.offers):
        dialogue.say(f"{scopes}:")
        tell_offer(dialogue, offer)
    if not call.offers:
        dialogue.say("No narrow rule would let it run without asking.", DIM)


def _tell_surroundings(dialogue: Dialogue, call: Call, reason: str) -> list[Row]:
    """What the command itself does not say: where it runs, and what was set before it. Rows that are left come back."""
    left: list[Row] = []
    if call.folder:
        dialogue.say("runs in another folder than the working folder:", YELLOW, indent="  ")
        dialogue.show((Shown(call.folder),))
    if call.exports:
        dialogue.say("with what earlier commands have exported:", YELLOW, indent="  ")
        rows = dialogue.lay_out([Shown(each) for each in call.exports])
        dialogue.put(rows[:MAX_ROWS])
        left = rows[MAX_ROWS:]
    dialogue.say(f"asks: {reason}", YELLOW, indent="  ")
    return left
