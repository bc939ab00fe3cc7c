"""Token exchange over HTTP, from the administrator's rule to introspection."""

from typing import Any

import pytest
from aiohttp import encode_basic_auth

from identity.crypto.signed_jwt import parse
from tests.edge.oidc.tenants.world import CALLBACK, World

EXCHANGE = "urn:ietf:params:oauth:grant-type:token-exchange"
ACCESS_TOKEN = "urn:ietf:params:oauth:token-type:access_token"

APP = {
    "id": "app",
    "enabled": True,
    "confidential": False,
    "redirect_uris": [CALLBACK],
    "flows_enabled": ["authorization_code"],
    "challenges": ["S256"],
    "scopes": ["openid", "email"],
    "default_scopes": [],
    "may_act": ["api"],
}
API = {
    "id": "api",
    "enabled": True,
    "confidential": True,
    "redirect_uris": [],
    "flows_enabled": [EXCHANGE],
    "scopes": ["email"],
    "default_scopes": [],
}


async def put(provider: World, client: dict[str, Any]) -> Any:
    answer = await provider.administer("PUT", f"clients/{client['id']}", json=client)
    assert answer.status == 200, await answer.text()
    return await answer.json()


@pytest.fixture
async def secret(provider: World) -> str:
    """Return the secret of `api`; Alice has an account and `app` signs her in."""
    await provider.add_user("default", "alice")
    new = {"id": "app", "confidential": False, "redirect_uris": [CALLBACK]}
    assert (await provider.administer("POST", "clients", json=new)).status == 200
    created = await provider.administer(
        "POST", "clients", json={"id": "api", "confidential": True, "redirect_uris": []}
    )
    await put(provider, APP)
    await put(provider, API)
    return str((await created.json())["secret"])


async def send(provider: World, path: str, secret: str, **form: str) -> tuple[int, Any]:
    answer = await provider.http.post(
        f"{provider.issuer()}oidc/{path}",
        data=form,
        headers={"Authorization": encode_basic_auth("api", secret)},
    )
    return answer.status, await answer.json()


async def test_a_service_acts_for_the_user_whose_token_it_got(provider: World, secret: str) -> None:
    token = await provider.access_token()
    asked = {"grant_type": EXCHANGE, "subject_token": token, "subject_token_type": ACCESS_TOKEN}

    status, issued = await send(provider, "token", secret, **asked)

    _, found = await send(provider, "introspect", secret, token=issued["access_token"])
    claims = parse(issued["access_token"]).claims
    assert (status, issued["issued_token_type"], issued["token_type"]) == (200, ACCESS_TOKEN, "Bearer")
    assert issued.keys() == {"access_token", "token_type", "expires_in", "scope", "issued_token_type"}
    assert (claims["sub"], claims["azp"], claims["act"]) == ("alice", "api", {"sub": "api"})
    assert (found["active"], found["sub"], found["act"]) == (True, "alice", {"sub": "api"})


async def test_without_the_rule_of_the_administrator_the_exchange_is_refused(
    provider: World, secret: str
) -> None:
    token = await provider.access_token()
    kept = await put(provider, APP | {"may_act": None})
    asked = {"grant_type": EXCHANGE, "subject_token": token, "subject_token_type": ACCESS_TOKEN}

    status, refusal = await send(provider, "token", secret, **asked)

    assert kept["may_act"] is None
    assert (status, refusal["error"]) == (400, "invalid_request")


@pytest.mark.parametrize(
    "change",
    [
        {"may_act": [f"client-{number}" for number in range(21)]},
        {"may_act": ["not a client id"]},
        {"flows_enabled": [EXCHANGE]},
    ],
)
@pytest.mark.usefixtures("secret")
async def test_rules_that_cannot_hold_are_refused(provider: World, change: dict[str, object]) -> None:
    answer = await provider.administer("PUT", "clients/app", json=APP | change)

    assert answer.status == 400


@pytest.mark.usefixtures("secret")
async def test_a_client_names_twenty_others(provider: World) -> None:
    names = [f"client-{number}" for number in range(20)]

    assert (await put(provider, APP | {"may_act": names}))["may_act"] == names
