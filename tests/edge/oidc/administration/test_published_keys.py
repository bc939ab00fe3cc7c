"""A client that publishes its keys at `jwks_uri`, over real HTTP."""

from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

import msgspec
import pytest
from aiohttp import web
from joserfc import jws
from joserfc.jwk import ECKey

from tests.edge.oidc.administration.administrator import Administrator
from tests.edge.oidc.administration.test_clients import NEW, WHOLE
from tests.edge.oidc.conftest import Http
from tests.identity.deployment import CONFIG, ISSUER, LOOPBACK, NOON, Deployment, deployed

ASSERTION_TYPE = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"


@pytest.fixture
async def deployment() -> AsyncIterator[Deployment]:
    """With clients whose keys may be on this machine."""
    async with deployed(replace(CONFIG, outgoing=LOOPBACK)) as running:
        yield running


class App:
    """A client that publishes its keys."""

    def __init__(self, http: Http) -> None:
        self.http = http
        self.published: list[ECKey] = []
        self.assertions = 0

    async def answer(self, _: web.Request) -> web.Response:
        return web.json_response({"keys": [key.as_dict(private=False) for key in self.published]})

    def publish(self, kid: str) -> ECKey:
        self.published.append(ECKey.generate_key("P-256", {"kid": kid}))
        return self.published[-1]

    async def token_status(self, key: ECKey) -> int:
        self.assertions += 1
        claims = {"iss": "app", "sub": "app", "aud": ISSUER, "jti": str(self.assertions)}
        claims |= {"exp": int(NOON.timestamp()) + 60}
        header = {"alg": "ES256", "kid": key.kid}
        form: dict[str, Any] = {
            "grant_type": "client_credentials",
            "client_assertion_type": ASSERTION_TYPE,
            "client_assertion": jws.serialize_compact(header, msgspec.json.encode(claims), key),
            "scope": "openid",
        }
        return (await self.http.post("/auth/v1/oidc/token", data=form)).status


@pytest.fixture
async def app(http: Http, administrator: Administrator) -> AsyncIterator[App]:
    app = App(http)
    application = web.Application()
    application.router.add_get("/keys", app.answer)
    runner = web.AppRunner(application)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    await administrator.send("POST", "clients", NEW)
    keys = {"jwks_uri": f"http://127.0.0.1:{runner.addresses[0][1]}/keys"}
    registered = await administrator.send("PUT", "clients/app", WHOLE | keys)
    assert registered.status == 200
    yield app
    await runner.cleanup()


async def test_a_client_is_proved_by_a_key_that_it_publishes(app: App) -> None:
    key = app.publish("first")

    assert await app.token_status(key) == 200
    assert await app.token_status(ECKey.generate_key("P-256", {"kid": "first"})) == 401


async def test_a_rotation_of_its_keys_is_noticed_at_once(app: App) -> None:
    before = app.publish("before")
    assert await app.token_status(before) == 200

    assert await app.token_status(app.publish("after")) == 200
