"""`jq`: its programs compute, but some words in them read other files or the environment."""

from everturn.core.patterns import compile_late

_READS_MORE = compile_late(
    r"(?:(?<![\w.$])|(?<=[0-9.]\.))(?:import|include|env|modulemeta|get_search_list|input_line_number)(?![\w:])|\$ENV|\$__prog|[\w)]::"
)
"""`.env` is a field. Modules are read from places of their own, and so are names with `::`."""


def is_plain_program(program: str) -> bool:
    """Whether it reads nothing but its input. A field that is called like such a word asks, where it does not follow a dot."""
    return _READS_MORE.search(program) is None
