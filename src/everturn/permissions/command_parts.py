"""The parts of a command line, each judged by itself, so that a person sees which part needs approval."""

import msgspec

from everturn.permissions.judgement import Judgement
from everturn.permissions.policy import RulePolicy
from everturn.ports.policy import Call

MAX_PARTS = 50
"""Nobody reads more."""


def judge_parts(policy: RulePolicy, call: Call) -> tuple[tuple[str, Judgement], ...]:
    """Empty for a command of one part, for one that is not plainly understood, and for anything else."""
    command = call.input.get("command")
    if call.name != "Bash" or not isinstance(command, str):
        return ()
    from everturn.permissions.shell.running.survey import read_command

    start = policy.elsewhere or policy.folders[0]
    reading = read_command(command, start, policy.home)
    # Of several folders that it may run in, one that it does not start in: there rules cover less.
    places = [max(part.here or (start,), key=lambda place: place != start) for part in reading.commands]
    texts = [" ".join([*(each.word.raw for each in part.assignments), part.text]) for part in reading.commands]
    written = [
        (f"{redirect.operator} {redirect.target.raw}", max(redirect.here or (start,), key=lambda place: place != start))
        for redirect in reading.redirects
        if ">" in redirect.operator and redirect.target is not None
    ]
    if reading.unsure or len(texts) + len(written) <= 1:
        return ()

    def explain(text: str, place: str) -> Judgement:
        return policy.explain(msgspec.structs.replace(call, input={**call.input, "command": text}), place)

    told = [(text, explain(text, place)) for text, place in zip(texts[:MAX_PARTS], places, strict=False)]
    # A command that does nothing, so that the redirection is judged as in the line: by the mode, in its folder.
    files = [(text, explain(f": {text}", place)) for text, place in written[:MAX_PARTS]]
    return (*told, *files)
