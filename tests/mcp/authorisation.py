"""A server that wants a login, and the authorisation server beside it, at one address: `stage.serve(Guarded())`."""

import base64
import hashlib
import json
from urllib.parse import parse_qs, urlsplit

from tests.mcp.http_scripts import Script


class Guarded:
    """Gives tokens a1, a2, …; only the newest one is good. `renews`: it gives tokens to renew them, too."""

    def __init__(self, *, renews=True):
        self.renews = renews
        self.script = Script()
        self.url = ""
        self.issued = 0
        self.good = ""
        self.challenges = {}
        self.grants = []
        self.registered = []

    async def __call__(self, exchange):
        self.url = exchange.server.url
        path = urlsplit(exchange.path).path
        steps = {
            "/.well-known/oauth-protected-resource/mcp": self.describe_resource,
            "/.well-known/oauth-authorization-server": self.describe,
            "/register": self.register,
            "/authorize": self.authorise,
            "/token": self.give_token,
            "/mcp": self.serve,
        }
        await steps.get(path, self.know_nothing)(exchange)

    async def tell(self, exchange, value, status=200):
        await exchange.reply(status, json.dumps(value).encode(), content_type="application/json")

    async def know_nothing(self, exchange):
        await exchange.reply(404)

    async def describe_resource(self, exchange):
        await self.tell(exchange, {"resource": f"{self.url}/mcp", "authorization_servers": [self.url]})

    async def describe(self, exchange):
        places = {name: f"{self.url}/{path}" for name, path in PLACES.items()}
        await self.tell(exchange, {"issuer": self.url, **places, **ABILITIES})

    async def register(self, exchange):
        self.registered.append(json.loads(exchange.body))
        await self.tell(exchange, self.registered[-1] | {"client_id": "c1", "token_endpoint_auth_method": "none"}, 201)

    async def authorise(self, exchange):
        """The person says yes at once."""
        asked = {name: values[0] for name, values in parse_qs(urlsplit(exchange.path).query).items()}
        self.challenges["code1"] = asked["code_challenge"]
        back = f"{asked['redirect_uri']}?code=code1&state={asked['state']}"
        await exchange.reply(302, location=back)

    async def give_token(self, exchange):
        given = {name: values[0] for name, values in parse_qs(exchange.body.decode()).items()}
        self.grants.append(given["grant_type"])
        if given["grant_type"] == "authorization_code":
            digest = hashlib.sha256(given["code_verifier"].encode()).digest()
            assert base64.urlsafe_b64encode(digest).decode().rstrip("=") == self.challenges[given["code"]]
        elif given.get("refresh_token") != "r1" or not self.renews:
            await self.tell(exchange, {"error": "invalid_grant"}, 400)
            return
        self.issued += 1
        self.good = f"a{self.issued}"
        renewal = {"refresh_token": "r1"} if self.renews else {}
        await self.tell(exchange, {"access_token": self.good, "token_type": "Bearer", "expires_in": 3600, **renewal})

    async def serve(self, exchange):
        if exchange.headers.get("authorization") != f"Bearer {self.good}" or not self.good:
            place = f"{self.url}/.well-known/oauth-protected-resource/mcp"
            await exchange.reply(401, www_authenticate=f'Bearer resource_metadata="{place}"')
        else:
            await self.script(exchange)


PLACES = {"authorization_endpoint": "authorize", "token_endpoint": "token", "registration_endpoint": "register"}
ABILITIES = {
    "response_types_supported": ["code"],
    "grant_types_supported": ["authorization_code", "refresh_token"],
    "code_challenge_methods_supported": ["S256"],
    "token_endpoint_auth_methods_supported": ["none"],
}
