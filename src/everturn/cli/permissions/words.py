"""The words behind `everturn permissions ACTION`; who forgets the quotes around a command to test is reminded. Pure."""

from collections.abc import Mapping

from everturn.cli.words import Words, parse_words

SEE = "everturn permissions --help"


def parse_action_words(action: str, words: list[str], known: Mapping[str, str]) -> Words:
    """Raises `UsageError`."""
    hint = "a command stands in quotes" if action == "test" else ""
    return parse_words(f"permissions {action}", words, known, see=SEE, hint=hint)
