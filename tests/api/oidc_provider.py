"""A provider of OpenID Connect that keeps the rules, or breaks one of them when a test says so."""

from __future__ import annotations

import time
from base64 import b64decode, urlsafe_b64encode
from contextlib import asynccontextmanager
from functools import cache
from hashlib import sha256
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, parse_qsl, urlsplit

import jwt
from aiohttp import web
from cryptography.hazmat.primitives.asymmetric import rsa

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

CLIENT, SECRET = "layover", "a secret of a test"
HUGE = b'{"x": "' + b"x" * 600_000 + b'"}'


@cache
def signing_key(n: int = 0) -> rsa.RSAPrivateKey:
    """Return a key of the provider; the others are of strangers."""
    return rsa.generate_private_key(65_537, 2_048 + 8 * n)


class StrictProvider:
    """Knows one client, by its secret, and gives a token for each code once, to whoever has its verifier."""

    def __init__(self) -> None:
        self.url = ""
        self.claims: dict[str, Any] = {"sub": "ada", "roles": ["staff"]}  # of the token; None leaves one out
        self.key = signing_key()  # that tokens are signed with
        self.replies: dict[str, bytes | int] = {}  # in the place of an answer, by path: a body, or a status
        self.discovery: dict[str, Any] = {}
        self.basic = f"{CLIENT}:{SECRET.replace(' ', '%20')}"  # what the client has to show; nothing if it is public
        self.asked: list[dict[str, str]] = []  # what codes were exchanged with
        self._codes: dict[str, dict[str, str]] = {}

    def sign_in(self, location: str, **changed: str) -> str:
        """Return where a person is sent back to, who was sent here."""
        asked = dict(parse_qsl(urlsplit(location).query))
        code = f"code-{len(self._codes)}"
        self._codes[code] = asked
        answered = {"code": code, "state": asked["state"], **changed}
        return asked["redirect_uri"] + "?" + "&".join(f"{name}={value}" for name, value in answered.items())

    async def describe(self, request: web.Request) -> web.Response:
        told = {
            "issuer": self.url,
            "authorization_endpoint": f"{self.url}/authorize",
            "token_endpoint": f"{self.url}/token",
            "jwks_uri": f"{self.url}/jwks",
            **self.discovery,
        }
        return self._instead(request) or web.json_response(told)

    async def keys(self, request: web.Request) -> web.Response:
        shown = jwt.algorithms.RSAAlgorithm.to_jwk(signing_key().public_key(), as_dict=True)
        return self._instead(request) or web.json_response({"keys": [{**shown, "kid": "k", "use": "sig"}]})

    async def exchange(self, request: web.Request) -> web.Response:
        given = {name: values[0] for name, values in parse_qs(await request.text()).items()}
        self.asked.append(given)
        instead = self._instead(request)
        if instead is not None:
            return instead
        begun = self._codes.pop(given["code"], None)
        basic = request.headers.get("authorization", "").removeprefix("Basic ")
        challenge = urlsafe_b64encode(sha256(given["code_verifier"].encode()).digest()).decode().rstrip("=")
        is_right = (
            begun is not None
            and b64decode(basic).decode() == self.basic
            and given["client_id"] == CLIENT
            and (begun["code_challenge"], begun["code_challenge_method"]) == (challenge, "S256")
            and begun["redirect_uri"] == given["redirect_uri"]
        )
        if not is_right or begun is None:
            return web.json_response({"error": "invalid_grant"}, status=400)
        return web.json_response({"access_token": "x", "token_type": "Bearer", "id_token": self._token(begun)})

    def _token(self, begun: dict[str, str]) -> str:
        now = int(time.time())
        usual = {"iss": self.url, "aud": CLIENT, "iat": now, "exp": now + 300, "nonce": begun["nonce"]}
        claims = {name: value for name, value in {**usual, **self.claims}.items() if value is not None}
        return jwt.encode(claims, self.key, "RS256", headers={"kid": "k"})

    def _instead(self, request: web.Request) -> web.Response | None:
        reply = self.replies.get(request.path)
        if reply is None:
            return None
        if isinstance(reply, bytes):
            return web.Response(body=reply, content_type="application/json")
        return web.Response(status=reply, headers={"location": f"{self.url}/token"})


@asynccontextmanager
async def strict_provider() -> AsyncIterator[StrictProvider]:
    """Run a provider while the block lasts."""
    provider = StrictProvider()
    app = web.Application()
    app.router.add_get("/.well-known/openid-configuration", provider.describe)
    app.router.add_get("/jwks", provider.keys)
    app.router.add_post("/token", provider.exchange)
    runner = web.AppRunner(app)
    await runner.setup()
    try:
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        provider.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
        yield provider
    finally:
        await runner.cleanup()
