"""The table of rules in the manual's page on the model server."""

from everturn.modelserver.rules.table import render_table

BEGIN = "<!-- rules: begin (made by `make pages`) -->"
END = "<!-- rules: end -->"


def render_page(page: str) -> str:
    """The page with the table between its two marks."""
    before, begin, rest = page.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not (begin and end):
        raise ValueError(f"the page lacks the marks {BEGIN} and {END}")
    return f"{before}{BEGIN}\n\n{render_table()}\n\n{END}{after}"
