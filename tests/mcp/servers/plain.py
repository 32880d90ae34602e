"""A server of the session era with the standard library alone: `plain.py [FAULT]`, where a fault is one way to behave badly."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

FAULT = sys.argv[1] if len(sys.argv) > 1 else ""
LONG = "n" * 128
DEEP = '{"a":' * 5_000 + "1" + "}" * 5_000


def write(text):
    sys.stdout.write(text)
    sys.stdout.flush()


def send(message):
    write(json.dumps(message) + "\n")


def answer(request, result):
    send({"jsonrpc": "2.0", "id": request["id"], "result": result})


def head(request):
    """How an answer begins."""
    return '{"jsonrpc":"2.0","id":' + str(request["id"]) + ","


def refuse(request, code, text, **data):
    send({"jsonrpc": "2.0", "id": request["id"], "error": {"code": code, "message": text, **data}})


def say(request, text, **more):
    answer(request, {"content": [{"type": "text", "text": text}], **more})


def read():
    line = sys.stdin.readline()
    if not line:
        sys.exit(0)
    return json.loads(line)


def ask(method, params):
    """A request of the server: what the client answers."""
    send({"jsonrpc": "2.0", "id": "question", "method": method, "params": params})
    while (heard := read()).get("id") != "question":
        pass
    return heard


def initialize(request):
    if FAULT == "strange-version":
        return answer(request, {"protocolVersion": "1999-01-01", "capabilities": {}, "serverInfo": {"name": "old"}})
    if FAULT == "no-hello":
        return answer(request, ["hello"])
    kinds = ("tools", "resources", "prompts")
    return answer(
        request,
        {
            "protocolVersion": request["params"]["protocolVersion"],
            "capabilities": {kind: {"listChanged": True} for kind in kinds},
            "serverInfo": {"name": "plain", "version": "1", "title": "A plain server"},
            "instructions": "Be kind.",
        },
    )


def list_tools(request):
    page = int((request.get("params") or {}).get("cursor", "0"))
    pages = [
        [{"name": "echo", "description": "Gives back.", "inputSchema": {"type": "object"}}, {"name": "bare"}],
        [
            {"name": LONG, "inputSchema": {"type": "object", "$defs": {"n": {"type": "integer"}}, "properties": {"n": {"$ref": "#/$defs/n"}}}},
            {"name": 7, "inputSchema": {}},
            {"name": "hinted", "annotations": {"readOnlyHint": True}, "_meta": {"a/b": 1}, "inputSchema": None},
        ],
    ]  # fmt: skip
    if FAULT == "endless-list":
        return answer(request, {"tools": pages[0], "nextCursor": "0"})
    if FAULT == "no-list":
        return answer(request, {"tools": "many"})
    more = {"nextCursor": str(page + 1)} if page + 1 < len(pages) else {}
    return answer(request, {"tools": pages[page], "ttlMs": 5_000, **more})


def call(request):
    params = request["params"]
    given = params.get("arguments")
    match params["name"]:
        case "echo":
            say(request, json.dumps(given))
        case "environment":
            say(request, json.dumps(dict(os.environ)))
        case "folder":
            say(request, str(Path.cwd()))
        case "process":
            say(request, str(os.getpid()))
        case "fail":
            say(request, "It does not work.", isError=True)
        case "blocks":
            blocks = [
                {"type": "text", "text": "a"},
                {"type": "image", "data": "aGk=", "mimeType": "image/png"},
                {"type": "audio", "data": "aGk=", "mimeType": "audio/wav"},
                {"type": "resource_link", "uri": "memo://1", "name": "one"},
                {"type": "resource", "resource": {"uri": "memo://2", "text": "two"}},
                {"type": "hologram", "size": 3},
                {"type": "text"},
                "no block",
            ]
            answer(request, {"content": blocks, "structuredContent": {"n": 1}})
        case "die":
            sys.stderr.write("Out of memory.\n")
            os._exit(3)
        case "die-once" if not Path(given["mark"]).exists():
            Path(given["mark"]).touch()
            os._exit(3)
        case "die-once":
            say(request, "alive")
        case "hang":
            pass
        case "progress":
            token = params["_meta"]["progressToken"]
            for at in (1, 2):
                told = {"progressToken": token, "progress": at, "total": 2, "message": f"at {at}"}
                send({"jsonrpc": "2.0", "method": "notifications/progress", "params": told})
            say(request, "done")
        case "elicit":
            say(request, json.dumps(ask("elicitation/create", given)))
        case "ask":
            say(request, json.dumps(ask(given["method"], given.get("params", {}))))
        case "heard":
            say(request, json.dumps(HEARD))
        case "change":
            send({"jsonrpc": "2.0", "method": f"notifications/{given['kind']}/list_changed"})
            say(request, "changed")
        case "twice":
            say(request, "first")
            say(request, "second")
        case "other-id":
            answer({"id": 99_999}, {"content": []})
            answer({"id": "a text"}, {"content": []})
            answer({"id": None}, {"content": []})
            say(request, "mine")
        case "flood":
            noise = {
                "jsonrpc": "2.0",
                "method": "notifications/message",
                "params": {"level": "info", "data": "x" * 1_000},
            }
            line = json.dumps(noise) + "\n"
            for _ in range(given["lines"]):
                write(line)
            say(request, "dry")
        case "flood-errors":
            for number in range(given["lines"]):
                sys.stderr.write(f"{number} " + "e" * 1_000 + "\n")
            say(request, "dry")
        case "huge":
            write(head(request) + '"result":{"content":[{"type":"text","text":"')
            for _ in range(given["megabytes"]):
                write("x" * 1_000_000)
            write('"}]}}\n')
        case "huge-id-last":
            write('{"result":{"content":[{"type":"text","text":"')
            for _ in range(given["megabytes"]):
                write("x" * 1_000_000)
            write('"}]},"jsonrpc":"2.0","id":' + str(request["id"]) + "}\n")
        case "pieces":
            text = head(request) + '"result":{"content":[{"type":"text","text":"ü"}]}}\r\n'
            for byte in text.encode():
                os.write(1, bytes([byte]))
        case "foreign":
            write("Loading the model...\n\n   \nWARNING: {not json}\n{broken\n")
            say(request, "still here")
        case "surrogate":
            write(head(request) + '"result":{"content":[{"type":"text","text":"\\ud800 half"}]}}\n')
        case "deep":
            write(head(request) + f'"result":{DEEP}}}\n')
        case "no-result":
            write(head(request).rstrip(",") + "}\n")
        case "odd-result":
            answer(request, {"content": "text"})
        case "batch":
            one = {"jsonrpc": "2.0", "id": request["id"], "result": {"content": []}}
            write(json.dumps([{"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}, one]) + "\n")
        case "children":
            child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
            say(request, str(child.pid))
        case "url":
            asked = {"mode": "url", "elicitationId": "e1", "url": "https://example.com/login", "message": "Log in."}
            if "-32042" in HEARD:
                say(request, "logged in")
            else:
                HEARD.append("-32042")
                refuse(request, -32042, "A login is needed.", data={"elicitations": [asked]})
        case _:
            refuse(request, -32602, f"Unknown tool: {params['name']}")


HEARD = []
ANSWERS = {
    "initialize": initialize,
    "tools/list": list_tools,
    "tools/call": call,
    "resources/list": lambda request: answer(request, {"resources": [{"uri": "memo://1", "name": "one"}]}),
    "resources/templates/list": lambda request: answer(
        request, {"resourceTemplates": [{"uriTemplate": "memo://{id}"}]}
    ),
    "resources/read": lambda request: answer(
        request, {"contents": [{"uri": request["params"]["uri"], "blob": "aGk="}]}
    ),
    "prompts/list": lambda request: answer(request, {"prompts": [{"name": "greet", "arguments": [{"name": "who"}]}]}),
    "prompts/get": lambda request: answer(
        request,
        {
            "messages": [
                {"role": "user", "content": {"type": "text", "text": json.dumps(request["params"]["arguments"])}}
            ]
        },
    ),
}


def main():
    if FAULT == "crash":
        sys.stderr.write("No module named 'server'\n")
        sys.exit(1)
    if FAULT == "leak":
        sys.stderr.write(f"Cannot log in with {os.environ['SERVICE_TOKEN']} in {os.environ['MODE']}\n")
        sys.exit(1)
    if FAULT == "hang":
        sys.stderr.write("Waiting for the database.\n")
        sys.stderr.flush()
        time.sleep(600)
    if FAULT == "deaf":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    while True:
        try:
            message = read()
        except SystemExit:
            if FAULT == "deaf":
                time.sleep(600)
            raise
        HEARD.append(message.get("method"))
        if message.get("method") == "notifications/cancelled":
            HEARD.append(message["params"])
        if "id" not in message or "method" not in message:
            continue
        if FAULT == "stuffed" and message["method"] == "initialize":
            initialize(message)
            time.sleep(600)
        if FAULT == "silent" and message["method"] == "server/discover":
            continue
        if FAULT == "frightened" and message["method"] == "server/discover":
            sys.exit(1)
        ANSWERS.get(message["method"], lambda request: refuse(request, -32601, "Method not found"))(message)


main()
