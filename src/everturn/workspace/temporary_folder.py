"""Where temporary files go, by the environment; read in one place."""

import os
from collections.abc import Mapping

_VARIABLES = ("TMPDIR", "TEMP", "TMP")
SYSTEM = "/tmp"  # noqa: S108 (each folder in it is made by `mkdtemp`)


def find_temporary_folder(env: Mapping[str, str]) -> str:
    """The first folder that the environment names and that can be written, or else the system's. Real."""
    named = filter(None, map(env.get, _VARIABLES))
    return os.path.realpath(next((place for place in named if os.access(place, os.W_OK | os.X_OK)), SYSTEM))
