"""Changes one setting in the user's file, which is judged as a whole before it is written."""

import copy
import os
from pathlib import Path
from typing import Any

from everturn.cli.config.values import ENV_PREFIX
from everturn.cli.errors import UsageError
from everturn.core.errors import OptionError
from everturn.settings.files import SettingsText, load_settings, replace_settings
from everturn.settings.flatten import Remarks, flatten_settings
from everturn.settings.keys import ENV
from everturn.settings.places import USER, SettingsPlace
from everturn.settings.program_files import find_roots, settings_path


def change_setting(key: str, value: Any) -> Path:
    """The file that was changed. None removes the setting. A file that cannot be understood is never overwritten."""
    path = settings_path(os.environ)
    before = load_settings(path)
    # Judged as a whole first: what is written must be readable at the next start.
    refuse_unsound(path, before)
    values = copy.deepcopy(before.values) if before else {}
    place = values
    *parents, name = (ENV, key.removeprefix(ENV_PREFIX)) if key.startswith(ENV_PREFIX) else key.split(".")
    for parent in parents:
        place = place.setdefault(parent, {})
    if value is None:
        if name not in place:
            raise UsageError(f"{key} is not set in {path}")
        del place[name]
    else:
        place[name] = value
    make_home(path.parent)
    replace_settings(path, values)
    return path


def refuse_unsound(path: Path, text: SettingsText | None) -> None:
    """Raises `OptionError` for what would keep the file from being read at the next start."""
    remarks = Remarks()
    if text is not None:
        foreign = find_roots(os.environ).foreign_home
        flatten_settings(
            SettingsPlace(source=USER, path=str(path), folder=str(path.parent), foreign=foreign), text, remarks
        )
    if remarks.problems:
        raise remarks.problems[0]


def make_home(home: Path) -> None:
    try:
        home.mkdir(0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise OptionError(str(home), f"cannot be written: {error.strerror}") from None
