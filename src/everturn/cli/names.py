"""What an option is called by the person who set it: its flag if that was typed, else its key in the settings."""

from collections.abc import Collection, Sequence

from everturn.cli.flags import BY_SPELLING, FLAGS_OF_OPTION
from everturn.settings.keys import KEYS

NAMES = {"cwd": "the working folder"}
"""What no flag and no setting names."""


def name_option(field: str, typed: Collection[str]) -> str:
    """`typed` are names of flags."""
    flag = next((flag for flag in FLAGS_OF_OPTION.get(field, ()) if flag in typed), None)
    if flag is not None:
        return flag
    return next((name for name, key in KEYS.items() if key.option == field), NAMES.get(field, field))


def find_typed(words: Sequence[str]) -> set[str]:
    """Names of the flags in a command line, whether or not it can be understood as a whole."""
    spelled = (word.partition("=")[0] for word in words)
    return {BY_SPELLING[word].name for word in spelled if word in BY_SPELLING}
