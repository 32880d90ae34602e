"""The rules as a table: `python -m everturn.modelserver --rules` prints it, and the manual has it."""

from everturn.modelserver.rules import RULES


def render_table() -> str:
    rows = [f"| `{rule.id}` | {rule.summary} | {rule.status} `{rule.type}` | {rule.source} |" for rule in RULES]
    return "\n".join(["| rule | what must hold | else | source |", "|---|---|---|---|", *rows])
