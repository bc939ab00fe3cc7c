"""A tenant's custom claims, from the administrator to the relying party."""

from collections.abc import Mapping
from typing import Any

import pytest
from aiohttp import encode_basic_auth

from identity.crypto.signed_jwt import parse
from tests.edge.oidc.tenants.world import CALLBACK, World
from tests.identity.deployment import SECRET

APP = {
    "id": "app",
    "enabled": True,
    "confidential": False,
    "redirect_uris": [CALLBACK],
    "flows_enabled": ["authorization_code"],
    "challenges": ["S256"],
    "scopes": ["openid", "email", "work"],
    "default_scopes": ["work"],
}
OFFICE = {"city": "Ulm", "floor": 3}


async def administer(provider: World, method: str, path: str, **json: object) -> Any:
    answer = await provider.administer(method, path, json=json or None)
    assert answer.status == 200, await answer.text()
    return await answer.json() if json else None


@pytest.fixture
async def scope_id(provider: World) -> str:
    """Return the id of the scope `work`, a default scope of the app; Alice has the attribute `office`."""
    await provider.add_user("default", "alice")
    await administer(provider, "POST", "users/attr", name="office")
    work = {"scope": "work", "attr_include_access": ["office"], "attr_include_id": ["office"]}
    scope = await administer(provider, "POST", "scopes", **work)
    new = {"id": "app", "confidential": False, "redirect_uris": [CALLBACK]}
    await administer(provider, "POST", "clients", **new)
    await administer(provider, "PUT", "clients/app", **APP)
    await administer(provider, "PUT", "users/alice/attr", values=[{"key": "office", "value": OFFICE}])
    return str(scope["id"])


async def documents(provider: World) -> dict[str, Mapping[str, Any]]:
    """Sign Alice in, and return all documents about her that the app gets."""
    issued = await provider.redeem(await provider.code())
    access_token = str(issued["access_token"])
    introspected = await provider.http.post(
        f"{provider.issuer()}oidc/introspect",
        data={"token": access_token},
        headers={"Authorization": encode_basic_auth("operator", SECRET)},
    )
    return {
        "answer": issued,
        "access_token": parse(access_token).claims,
        "id_token": parse(str(issued["id_token"])).claims,
        "userinfo": await (await provider.with_token("oidc/userinfo", access_token)).json(),
        "introspection": await introspected.json(),
    }


async def custom(provider: World) -> list[Any]:
    found = await documents(provider)
    return [claims.get("custom") for name, claims in found.items() if name != "answer"]


@pytest.mark.usefixtures("scope_id")
async def test_an_attribute_of_a_person_is_a_claim(provider: World) -> None:
    assert (await documents(provider))["answer"]["scope"] == "openid email work"
    assert await custom(provider) == [{"office": OFFICE}] * 4


@pytest.mark.usefixtures("scope_id")
async def test_a_client_gets_it_at_the_root(provider: World) -> None:
    await administer(provider, "PUT", "clients/app", **APP, claims_at_root=True)

    found = await documents(provider)

    assert [claims["office"] for name, claims in found.items() if name != "answer"] == [OFFICE] * 4
    assert found["userinfo"]["email"] == "alice@example.com"


@pytest.mark.usefixtures("scope_id")
async def test_a_claim_follows_the_name_of_its_attribute(provider: World) -> None:
    token = await provider.access_token()

    await administer(provider, "PUT", "users/attr/office", name="desk")

    assert await custom(provider) == [{"desk": OFFICE}] * 4
    user_info = await (await provider.with_token("oidc/userinfo", token)).json()
    assert user_info["custom"] == {"desk": OFFICE}


@pytest.mark.usefixtures("scope_id")
async def test_a_claim_is_gone_with_its_attribute(provider: World) -> None:
    token = await provider.access_token()

    await administer(provider, "DELETE", "users/attr/office")

    assert await custom(provider) == [None] * 4
    user_info = await (await provider.with_token("oidc/userinfo", token)).json()
    assert "custom" not in user_info


async def test_a_renamed_scope_opens_the_same_for_its_clients(provider: World, scope_id: str) -> None:
    opened = {"attr_include_access": ["office"], "attr_include_id": ["office"]}
    await administer(provider, "PUT", f"scopes/{scope_id}", scope="job", **opened)

    assert (await documents(provider))["answer"]["scope"] == "openid email job"
    assert await custom(provider) == [{"office": OFFICE}] * 4


async def test_a_claim_is_gone_with_its_scope(provider: World, scope_id: str) -> None:
    await administer(provider, "DELETE", f"scopes/{scope_id}")

    assert (await documents(provider))["answer"]["scope"] == "openid email"
    assert await custom(provider) == [None] * 4


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("users/attr", {"name": "email"}),
        ("scopes", {"scope": "more", "attr_include_id": ["email"]}),
        ("scopes", {"scope": "more", "attr_include_access": ["unheard-of"]}),
    ],
)
async def test_what_would_hide_a_claim_or_is_none_is_refused(
    provider: World, path: str, body: dict[str, object]
) -> None:
    answer = await provider.administer("POST", path, json=body)

    refusal = await answer.json()
    assert (answer.status, refusal["error"]) == (400, "BadRequest"), refusal
