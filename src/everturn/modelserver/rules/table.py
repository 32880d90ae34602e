"""The rules as a table for the documentation, and the way to bring a page up to date."""

from everturn.modelserver.rules import RULES

BEGIN = "<!-- rules: begin (made by `python -m everturn.modelserver --rules`) -->"
END = "<!-- rules: end -->"


def render_table() -> str:
    rows = [f"| `{rule.id}` | {rule.summary} | {rule.status} `{rule.type}` | {rule.source} |" for rule in RULES]
    return "\n".join(["| rule | what must hold | else | source |", "|---|---|---|---|", *rows])


def render_page(page: str) -> str:
    """The page with the table between its two marks."""
    before, begin, rest = page.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not (begin and end):
        raise ValueError(f"the page lacks the marks {BEGIN} and {END}")
    return f"{before}{BEGIN}\n\n{render_table()}\n\n{END}{after}"
