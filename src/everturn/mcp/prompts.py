"""Words behind a slash command of a server, as the arguments that its prompt takes. Pure."""

import shlex

from everturn.core.errors import OptionError
from everturn.mcp.definitions import PromptDefinition


def read_arguments(prompt: PromptDefinition, given: str) -> dict[str, str]:
    """Words in their order, in quotes where they hold blanks; the last argument takes all that is left. Raises `OptionError`."""
    declared = prompt.arguments or ()
    names = [argument.name for argument in declared]
    try:
        words = shlex.split(given)
    except ValueError:
        words = given.split()
    if words and not names:
        raise OptionError(prompt.name, "takes no arguments")
    if len(words) > len(names):
        words = [*words[: len(names) - 1], " ".join(words[len(names) - 1 :])]
    filled = dict(zip(names, words, strict=False))
    if missing := [argument.name for argument in declared if argument.required and argument.name not in filled]:
        raise OptionError(prompt.name, f"needs {', '.join(missing)}")
    return filled
