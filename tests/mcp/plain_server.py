"""A server in the standard library alone: what it offers stands in a JSON file, which may change while it runs.

`python plain_server.py FILE`; the file is an object with

- `tools`: definitions; `answers`: by the name of a tool the result of a call, where `$arguments` stands for what was given;
- `instructions`: what it says of its tools in general;
- `prompts`, `filled`, `resources`, `read`: the same for prompts and resources;
- `begins_with`: a file without which it does not answer at all; `dies`: it ends at once; `asks`: what it asks the person in each call.

Each call is noted as a line in `FILE.log`, and so is each start.
"""

import json
import os
import sys
import time
from pathlib import Path
from typing import Any

FILE = Path(sys.argv[1])
LOG = FILE.with_name(f"{FILE.name}.log")


def note(text: str) -> None:
    with LOG.open("a", encoding="utf-8") as log:
        log.write(f"{text}\n")


def say(**message: Any) -> None:
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def put_in(value: Any, arguments: Any) -> Any:
    if isinstance(value, str):
        return value.replace("$arguments", json.dumps(arguments, sort_keys=True)).replace("$pid", str(os.getpid()))
    if isinstance(value, list):
        return [put_in(each, arguments) for each in value]
    return {key: put_in(each, arguments) for key, each in value.items()} if isinstance(value, dict) else value


def answer(method: str, params: dict[str, Any], offer: dict[str, Any]) -> dict[str, Any] | None:
    kinds = {"tools", "prompts", "resources"} & set(offer)
    match method:
        case "initialize":
            return {
                "protocolVersion": "2025-06-18",
                "capabilities": {kind: {"listChanged": True} for kind in kinds},
                "serverInfo": {"name": "plain", "version": "1"},
                "instructions": offer.get("instructions", ""),
            }
        case "tools/list":
            return {"tools": offer["tools"]}
        case "prompts/list":
            return {"prompts": offer["prompts"]}
        case "resources/list":
            return {"resources": offer["resources"]}
        case "resources/read":
            return {"contents": [offer["read"][params["uri"]]]}
        case "prompts/get":
            text = put_in(offer["filled"][params["name"]], params.get("arguments", {}))
            return {"messages": [{"role": "user", "content": {"type": "text", "text": text}}]}
        case "tools/call":
            note(f"call {params['name']} {json.dumps(params.get('arguments'), sort_keys=True)}")
            made = put_in(offer["answers"][params["name"]], params.get("arguments", {}))
            return made if isinstance(made, dict) else {"content": [{"type": "text", "text": made}]}
    return None


def ask_person(question: dict[str, Any]) -> dict[str, Any]:
    say(id="q1", method="elicitation/create", params=question)
    for line in sys.stdin:
        message = json.loads(line)
        if message.get("id") == "q1":
            return dict(message.get("result") or {"error": message.get("error")})
    raise SystemExit


def main() -> None:
    note(f"start {os.getpid()} {sorted(name for name in os.environ if name not in ('LC_CTYPE', 'PWD', 'SHLVL', '_'))}")
    offer = json.loads(FILE.read_text("utf-8"))
    if offer.get("dies"):
        sys.stderr.write("no such database\n")
        raise SystemExit(3)
    while "begins_with" in offer and not Path(offer["begins_with"]).exists():
        time.sleep(0.01)
    for line in sys.stdin:
        message = json.loads(line)
        if "id" not in message or "method" not in message:
            continue
        offer = json.loads(FILE.read_text("utf-8"))
        if message["method"] == "tools/call" and "asks" in offer:
            note(f"answered {json.dumps(ask_person(offer['asks']), sort_keys=True)}")
        result = answer(message["method"], message.get("params", {}), offer)
        if result is None:
            say(id=message["id"], error={"code": -32601, "message": f"there is no {message['method']}"})
        else:
            say(id=message["id"], result=result)
            if offer.get("changes") and message["method"] == "tools/call":
                say(method="notifications/tools/list_changed")


if __name__ == "__main__":
    main()
