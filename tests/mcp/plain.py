"""Makes servers of `plain_server.py` for a test: what they offer, their definition, and what they have noted."""

import json
import sys
from pathlib import Path
from typing import Any

PROGRAM = Path(__file__).with_name("plain_server.py")


def tool_of(name: str, description: str = "", **more: Any) -> dict[str, Any]:
    return {"name": name, "description": description or f"Does {name}.", "inputSchema": {"type": "object"}, **more}


ECHO = tool_of(
    "echo",
    "Says it again.",
    inputSchema={"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]},
)


class PlainServer:
    def __init__(self, file: Path, **offer: Any) -> None:
        self.file = file
        self.offer(**({"tools": [ECHO], "answers": {"echo": "You said $arguments"}} | offer))

    def offer(self, **offer: Any) -> None:
        self.file.parent.mkdir(parents=True, exist_ok=True)
        beside = self.file.with_suffix(".new")
        beside.write_text(json.dumps(offer), "utf-8")
        beside.replace(self.file)

    @property
    def definition(self) -> dict[str, Any]:
        return {"command": sys.executable, "args": ["-S", "-E", str(PROGRAM), str(self.file)]}

    @property
    def noted(self) -> list[str]:
        log = self.file.with_name(f"{self.file.name}.log")
        return log.read_text("utf-8").splitlines() if log.exists() else []

    @property
    def calls(self) -> list[str]:
        return [line.removeprefix("call ") for line in self.noted if line.startswith("call ")]

    @property
    def starts(self) -> list[str]:
        return [line for line in self.noted if line.startswith("start ")]
