"""Files that a command has printed whole: the model has seen them as if it had read them.

Which they are is not guessed from the command: the whole text of the file stands in its output, or it does not count.
"""

import re
from itertools import islice

from msgspec.structs import replace

from everturn.core.errors import ToolFault
from everturn.ports.files import FileState
from everturn.ports.tool import ToolContext
from everturn.tools.bash.changes import list_named
from everturn.workspace.files import load_text
from everturn.workspace.opening import open_for_reading

_PRINTS = re.compile(r"\b(?:cat|sed|head|tail|awk|tac|less|more|bat|git)\b")
_MOST_FILES = 20


def remember_printed(command: str, folder: str, context: ToolContext, text: str) -> tuple[str, ...]:
    """Which they are. `text`: all that the command printed, as the model reads it."""
    if not text or not _PRINTS.search(command):
        return ()
    printed: list[str] = []
    lines = f"\n{text}\n"
    for path in islice(list_named(command, folder, context.folder), _MOST_FILES):
        try:
            with open_for_reading(path) as file:
                loaded = load_text(file, most=4 * len(text))
        except (ToolFault, OSError, ValueError):
            continue
        content = loaded.text.rstrip("\n")
        if content and f"\n{content}\n" in lines:
            known = context.files.get(file.path)
            same = known if known is not None and known.stamp.digest == loaded.stamp.digest else None
            state = replace(same, partial=False) if same else FileState(stamp=loaded.stamp)
            context.files.remember(file.path, state)
            printed.append(file.path)
    return tuple(printed)
