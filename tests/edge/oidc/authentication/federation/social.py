"""A provider with the ways of GitHub and of Apple, on this machine."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from urllib.parse import urlencode

import msgspec
from aiohttp import web
from joserfc import jws
from joserfc.jwk import ECKey

TOKEN = "gho_token-of-theirs"
SIGNING_KEY = ECKey.generate_key("P-256", {"kid": "theirs"})


@dataclass
class Social:
    """`userinfo`, `emails` and `claims` are what it says of the user who signs in."""

    origin: str = ""
    userinfo: Mapping[str, object] = field(default_factory=lambda: {"id": 583231, "login": "octocat"})
    emails: list[dict[str, object]] = field(default_factory=list)
    claims: dict[str, Any] = field(default_factory=dict)
    now: datetime | None = None
    asked: dict[str, str] = field(default_factory=dict)
    forms: list[dict[str, str]] = field(default_factory=list)

    async def authorize(self, request: web.Request) -> web.Response:
        self.asked = dict(request.query)
        members = {"state": self.asked["state"], "code": "code-of-theirs"}
        if self.asked.get("response_mode") == "form_post":
            return web.json_response(members)
        raise web.HTTPFound(f"{self.asked['redirect_uri']}?{urlencode(members)}")

    async def token(self, request: web.Request) -> web.Response:
        self.forms.append({name: str(value) for name, value in (await request.post()).items()})
        tokens = {"access_token": TOKEN, "token_type": "bearer"}
        if self.claims:
            tokens["id_token"] = self._id_token()
        return web.json_response(tokens)

    def _id_token(self) -> str:
        assert self.now is not None
        now = int(self.now.timestamp())
        standard = {
            "iss": self.origin,
            "aud": self.asked["client_id"],
            "iat": now,
            "exp": now + 60,
            "nonce": self.asked["nonce"],
        }
        content = msgspec.json.encode(standard | self.claims)
        return jws.serialize_compact({"alg": "ES256", "kid": "theirs"}, content, SIGNING_KEY)

    async def user(self, request: web.Request) -> web.Response:
        return self._for_bearer(request, self.userinfo)

    async def addresses(self, request: web.Request) -> web.Response:
        return self._for_bearer(request, self.emails)

    async def keys(self, _request: web.Request) -> web.Response:
        return web.json_response({"keys": [SIGNING_KEY.as_dict(private=False)]})

    def _for_bearer(self, request: web.Request, document: object) -> web.Response:
        if request.headers.get("Authorization") != f"Bearer {TOKEN}":
            raise web.HTTPUnauthorized
        return web.json_response(document)


@asynccontextmanager
async def social() -> AsyncIterator[Social]:
    peer = Social()
    app = web.Application()
    app.router.add_get("/authorize", peer.authorize)
    app.router.add_post("/token", peer.token)
    app.router.add_get("/user", peer.user)
    app.router.add_get("/user/emails", peer.addresses)
    app.router.add_get("/keys", peer.keys)
    runner = web.AppRunner(app, shutdown_timeout=0.1)
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        peer.origin = f"http://127.0.0.1:{runner.addresses[0][1]}"
        yield peer
    finally:
        await runner.cleanup()
