"""Whether a command wanted somebody to type: there is no terminal and no input, and the model should be told."""

import re

_LAST_LINES = 2_000
_WANTED = re.compile(
    r"""(?xi)
      /dev/tty\b | \bnot\ a\ (?:tty|terminal)\b | \bnot\ from\ a\ terminal\b | \bmust\ be\ run\ from\ a\ terminal\b
    | \ba\ (?:terminal|password)\ is\ required\b | \bno\ tty\ present\b | \binput\ device\ is\ not\ a\ tty\b
    | \bterminal\ prompts\ disabled\b | \bcould\ not\ read\ (?:username|password)\b | \bread_passphrase\b
    | \bEOF\ (?:when|while)\ reading\b | \bEOFError\b | \bunexpected\ (?:EOF|end\ of\ file)\ on\ (?:stdin|input)\b
    | \bhost\ key\ verification\ failed\b | \bInappropriate\ ioctl\ for\ device\b
    """
)
_ASKS = re.compile(r"(?i)(?:\[y/n\]|\(y(?:es)?/no?\)|password(?:\ for\ [^:\n]*)?:|\[yes/no\]|continue\?)[^\n]{0,20}\Z")

NOTE = (
    "The command seems to have waited for input. There is no terminal and nobody types here: "
    "give the answer by an option (such as --yes), a variable, or a pipe."
)


def wanted_input(output: str) -> bool:
    """From the end of what a failed command printed."""
    end = output[-_LAST_LINES:].rstrip()
    return bool(_WANTED.search(end) or _ASKS.search(end))
