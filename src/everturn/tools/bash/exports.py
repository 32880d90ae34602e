"""What commands have exported for those that follow: taken over when it is small enough, and never unseen where it matters."""

import re
from collections.abc import Mapping

import msgspec

from everturn.tools.bash.report import Changes

MOST_BYTES = 786_432
"""Of all names and values: beyond some megabytes the kernel starts no program any more."""
LONGEST = 98_304
"""Of one value: the kernel's own limit is not much higher."""
_MATTER = re.compile(
    r"PATH|BASH_ENV|ENV|BASHOPTS|SHELLOPTS|PS4|IFS|PROMPT_COMMAND|BASH_FUNC_.*|(?:LD|GIT|DYLD)_.*|GCONV_PATH|LOCPATH|"
    r"PYTHON(?:PATH|HOME|STARTUP|INSPECT|USERBASE|WARNINGS|BREAKPOINT)|NODE_OPTIONS|NODE_PATH|PERL5(?:LIB|OPT|DB)|PERLLIB|"
    r"RUBY(?:OPT|LIB)|JAVA_TOOL_OPTIONS|_JAVA_OPTIONS|LESSOPEN|LESSCLOSE|RIPGREP_CONFIG_PATH|HOME|EDITOR|VISUAL|PAGER|"
    r"SSH_ASKPASS|SUDO_ASKPASS|HTTPS?_PROXY|ALL_PROXY|https?_proxy|all_proxy|SSL_CERT_FILE|SSL_CERT_DIR|SSLKEYLOGFILE|"
    r"EVERTURN_.*|CLAUDE_.*|ANTHROPIC_.*"
)
"""They decide which programs run, what these load, or whom they speak to."""
_BY_SCRIPTS = frozenset({"PATH", "PYTHONHOME"})
"""What activating an environment changes: kept, and told."""


class Taken(msgspec.Struct, frozen=True):
    changes: Changes
    notice: str = ""


def judge_exports(changes: Changes, known: Mapping[str, str], command: str) -> Taken:
    """What of it counts from now on. `known`: what earlier commands have set; `command`: what whoever approved it has seen."""
    together = {**known, **changes.set}
    if sum(len(name) + len(value) for name, value in together.items()) > MOST_BYTES or any(
        len(value) > LONGEST for value in changes.set.values()
    ):
        return Taken(
            Changes({}, frozenset()), "What the command exported was not kept: it is too large for programs to start"
        )
    unseen = [name for name in changes.set if matters(name) and not is_named(name, command) and name not in _BY_SCRIPTS]
    kept = Changes({name: value for name, value in changes.set.items() if name not in unseen}, changes.unset)
    told = [f"{name} is now {value[:200]!r}" for name, value in kept.set.items() if matters(name)]
    if unseen:
        told.append(
            f"{', '.join(sorted(unseen)[:8])} was exported and not kept, since it changes what later commands run: "
            "set it in the command that needs it"
        )
    return Taken(kept, "; ".join(told))


def matters(name: str) -> bool:
    return _MATTER.fullmatch(name) is not None


def is_named(name: str, command: str) -> bool:
    return re.search(rf"(?<![A-Za-z0-9_]){re.escape(name)}=", command) is not None
