"""What git keeps of a rebase, a series of patches or a search that is not over, and reads again when somebody goes on with it.

Some of it is run then, or decides what is. A command may well leave such a state behind; only what would run something may not be
in it, unless it was before.
"""

import re
from collections.abc import Mapping

_TODO = re.compile(
    rb"\s*(?:[^A-Za-z\s].*|(?:p|pick|r|reword|e|edit|s|squash|f|fixup|d|drop|b|break|l|label|t|reset|m|merge|u|update-ref|noop|"
    rb"revert)(?:\s.*)?)?"
)
"""All orders but `exec`; and remarks, whatever they begin with."""
_AUTHOR = re.compile(rb"(?:GIT_AUTHOR_(?:NAME|EMAIL|DATE)='(?:[^'\n]|'\\'')*')?")
_STRATEGY = re.compile(rb"(?:ort|recursive|resolve|octopus|ours|subtree)?")
"""For any other name git looks for a program."""
_OPTIONS = re.compile(
    rb"(?:\[options\]|\s*(?:(?:no-commit|edit|allow-empty|allow-empty-message|drop-redundant-commits|keep-redundant-commits|signoff|"
    rb"record-origin|allow-ff|mainline|strategy-option|gpg-sign|allow-rerere-auto|default-msg-cleanup) = [^\\\r]*|"
    rb"strategy = (?:ort|recursive|resolve|octopus|ours|subtree)))?"
)
_PATCHING = re.compile(
    rb"(?:\s*'(?:-[pC]\d+|--(?:whitespace=[a-z-]+|ignore-space-change|ignore-whitespace|reject|3way))')*\s*"
)
_QUOTED = re.compile(rb"(?:\s*(?:--|'[^'\n]*'))*\s*")

STATES: Mapping[str, Mapping[str, re.Pattern[bytes]]] = {
    "rebase-merge": {
        "git-rebase-todo": _TODO,
        "author-script": _AUTHOR,
        "strategy": _STRATEGY,
    },
    "rebase-apply": {"author-script": _AUTHOR, "apply-opt": _PATCHING, "strategy": _STRATEGY},
    "sequencer": {"todo": _TODO, "opts": _OPTIONS},
    "": {"BISECT_NAMES": _QUOTED},
}
"""Folders of a repository, the files in them that are judged, and what each line of these must look like."""


def is_harmless_state(folder: str, name: str, data: bytes, before: bytes) -> bool:
    """`before`: what the file held before the command. Lines that were in it are the person's."""
    allowed = STATES[folder][name]
    known = frozenset(before.split(b"\n"))
    return all(line in known or allowed.fullmatch(line) for line in data.split(b"\n"))
