"""What a server over HTTP says in tests: the session era by default, any method of it replaced by a function of the test."""

import json

HELLO = {
    "protocolVersion": "2025-11-25",
    "capabilities": {"tools": {"listChanged": True}},
    "serverInfo": {"name": "scripted", "version": "1"},
}
DISCOVERED = {
    "resultType": "complete",
    "supportedVersions": ["2026-07-28"],
    "capabilities": {"tools": {}},
    "ttlMs": 0,
    "cacheScope": "public",
}


def event(message=None, **fields):
    lines = [f"{name}: {value}\n" for name, value in fields.items()]
    return "".join((*lines, f"data: {json.dumps(message) if message is not None else ''}\n", "\n")).encode()


def result_of(message, result):
    return {"jsonrpc": "2.0", "id": message["id"], "result": result}


def words(text):
    return {"resultType": "complete", "content": [{"type": "text", "text": text}]}


class Script:
    """`stage.serve(Script(**{"tools/call": …}))`: a function is given the exchange and the message. `GET` and `DELETE` are methods, too."""

    def __init__(self, *, stateless=False, **methods):
        self.heard = []
        self.stateless = stateless
        self.session = "s1"
        self.methods = methods

    async def __call__(self, exchange):
        if exchange.method != "POST":
            self.heard.append(exchange.method)
            await self.methods.get(exchange.method, self.refuse_method)(exchange, None)
            return
        message = json.loads(exchange.body)
        method = message.get("method", "an answer")
        self.heard.append(method)
        if (own := self.methods.get(method)) is not None:
            await own(exchange, message)
        elif "id" not in message or "method" not in message:
            await exchange.reply(202)
        elif method == "server/discover" and self.stateless:
            await self.answer(exchange, message, DISCOVERED)
        elif method == "initialize":
            await self.answer(exchange, message, HELLO, mcp_session_id=self.session)
        elif method == "tools/call":
            await self.answer(exchange, message, words(message["params"]["name"]))
        else:
            error = {"jsonrpc": "2.0", "id": None, "error": {"code": -32601, "message": "Method not found"}}
            await exchange.reply(400, json.dumps(error).encode(), content_type="application/json")

    async def answer(self, exchange, message, result, **headers):
        body = json.dumps(result_of(message, result)).encode()
        await exchange.reply(200, body, content_type="application/json", **headers)

    async def refuse_method(self, exchange, message):
        await exchange.reply(405)
