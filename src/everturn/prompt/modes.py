"""What each permission mode means to the model: the section on permissions of the system prompt, and the mode in one line."""

from everturn.core.marks import one_line
from everturn.core.modes import PermissionMode
from everturn.prompt.briefing import ASKING, PLANNING, Briefing

READING = (
    "Reading in the working folders, commands that only read there, and writing in the temporary folder run unasked."
)
MAX_RULES = 1_000
"""Characters of rules that are told."""
EDITING = (
    "Reading and changing files, in the working folders and in the temporary folder, run unasked; so do commands that only "
    "read there. Some files stay protected, such as those that steer git, shells and editors."
)
ASKED = (
    "For everything else the user is asked, unless their settings allow it. A no comes back as the call's result, often with "
    "the reason: follow it."
)
REFUSED = (
    "Everything else is refused, unless the user's settings allow it: nobody is here to approve. Try what the task needs, "
    "once. After a refusal do what is allowed, and end with what the user has to do: the patch, and the commands to run."
)
NOBODY_ASKED = REFUSED.replace("nobody is here to approve", "in this mode nobody is asked")
QUESTIONS_REFUSED = f"Questions ({ASKING}) are refused, too: take the likeliest reading of the task, and say which."
BYPASSED = (
    "Every call runs unasked, except what a rule of the user denies or wants to be asked about. Nobody looks at a call "
    "before it runs: take care with whatever cannot be undone, and stay within the task."
)
PLANNED = (
    "Nothing may be changed: edits, and commands that do more than read, are refused, also in the temporary folder, and trying "
    "them is of no use. Read what matters; then your result is a plan: what to change, in which files, in which order, and how "
    "to check it."
)
SUBMITTED = (
    f"Give the plan to {PLANNING}: the user approves it, and then you carry it out, or they say what to change. A question that "
    "only wants an answer gets that, and no plan."
)
ANSWERED = (
    "The plan is your final message, whole and as long as it has to be: nobody can approve it now, and the user decides later. "
    "A question that only wants an answer gets that, and no plan."
)
ALONE = " Put git and edits that no rule allows into calls of their own: in one line with an allowed command they are refused."
LINES = {
    PermissionMode.DEFAULT: "reading runs unasked, changes need approval",
    PermissionMode.ACCEPT_EDITS: "reading and changing files in the working folders run unasked, commands need approval",
    PermissionMode.PLAN: "nothing may be changed; your result is a plan",
    PermissionMode.DONT_ASK: "what no rule allows is refused",
    PermissionMode.BYPASS: "every call runs unasked",
}


def render_permissions(mode: str, briefing: Briefing) -> str:
    """The section, as it reads in this mode."""
    allowed = _list_rules(briefing) if mode not in {PermissionMode.PLAN, PermissionMode.BYPASS} else ()
    return " ".join((f"The permission mode is {mode}.", *_list_sentences(mode, briefing), *allowed))


def _list_rules(briefing: Briefing) -> tuple[str, ...]:
    """What else runs: whoever knows it does not try in vain."""
    told = one_line(", ".join(briefing.rules))
    if len(told) > MAX_RULES:
        told = f"{told[:MAX_RULES]} …"
    if not told:
        return ()
    # The cause of most refusals where a rule allows some commands: the line as a whole can then not be held.
    alone = ALONE if any(rule.startswith("Bash(") for rule in briefing.rules) else ""
    return (f"The user's settings allow: {told}.{alone}",)


def render_mode_line(mode: str, briefing: Briefing) -> str:
    """For those who have a system prompt of their own."""
    asked = "somebody can approve" if briefing.person and mode != PermissionMode.DONT_ASK else "nobody can approve"
    return f"{mode} ({LINES[PermissionMode(mode)]}; {asked})"


def _list_sentences(mode: str, briefing: Briefing) -> tuple[str, ...]:
    beyond = ASKED if briefing.person else REFUSED
    match mode:
        case PermissionMode.ACCEPT_EDITS:
            return EDITING, beyond
        case PermissionMode.PLAN:
            return PLANNED, SUBMITTED if briefing.can_submit_plan else ANSWERED
        case PermissionMode.DONT_ASK:
            return (READING, NOBODY_ASKED, QUESTIONS_REFUSED) if briefing.can_ask else (READING, NOBODY_ASKED)
        case PermissionMode.BYPASS:
            return (BYPASSED,)
        case _:
            return READING, beyond
