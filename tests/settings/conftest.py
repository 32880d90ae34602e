"""Settings files in real folders: a home, a project, an administrator's place."""

import json
from pathlib import Path
from typing import Any

import pytest

from everturn.settings.places import CHOSEN, SettingsRoots, find_root
from everturn.settings.sources import Merged, load_merged
from everturn.settings.trust import TrustState

TRUSTING = TrustState(trusted=True)


class Ground:
    """`ground.write("project", {...})` writes a file; `ground.merge()` reads them all."""

    def __init__(self, place: Path) -> None:
        self.home, self.folder, self.managed = place / "home", place / "project", place / "etc" / "everturn"
        for folder in (self.home, self.folder, self.managed):
            folder.mkdir(parents=True)
        self.foreign_home = False
        self.files = {
            "user": self.home / "settings.json",
            "project": self.folder / ".everturn" / "settings.json",
            "foreign project": self.folder / ".claude" / "settings.json",
            "local": self.folder / ".everturn" / "settings.local.json",
            "foreign local": self.folder / ".claude" / "settings.local.json",
            "managed": self.managed / "managed-settings.json",
            "servers": self.folder / ".mcp.json",
        }

    @property
    def grounds(self) -> SettingsRoots:
        return SettingsRoots(
            home=str(self.home),
            folder=str(self.folder),
            root=find_root(str(self.folder), str(self.home.parent)),
            foreign_home=self.foreign_home,
            managed=(str(self.managed),),
        )

    def write(self, file: str, values: dict[str, Any] | str) -> Path:
        path = self.files[file]
        path.parent.mkdir(exist_ok=True)
        path.write_text(values if isinstance(values, str) else json.dumps(values), "utf-8")
        return path

    def merge(
        self,
        env: dict[str, str] | None = None,
        given: str | None = None,
        *,
        trust: TrustState = TRUSTING,
        wanted: tuple[str, ...] = CHOSEN,
    ) -> Merged:
        return load_merged(self.grounds, env or {}, given, trust=trust, wanted=wanted)


@pytest.fixture
def ground(tmp_path: Path) -> Ground:
    return Ground(tmp_path)
