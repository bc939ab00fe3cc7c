"""Consents of users over HTTP, from the socket to the records."""

import pytest

from identity.directory.client import ClientId
from identity.directory.consents.consent import CONSENTS, Consent, Terms
from identity.directory.user import UserId
from server.platform.call import TenantId
from tests.edge.oidc.people.provider import Administrator
from tests.identity.deployment import NOON

BOB = {"email": "bob@example.com", "language": "en", "roles": []}
SHOP = {"id": "shop", "name": "The shop", "confidential": False, "redirect_uris": ["https://shop.example/cb"]}
TERMS = Terms(oauth_scopes=("openid", "email"), resources=("https://api.example/",), claims=("birthdate",))


@pytest.fixture
async def bob(admin: Administrator) -> str:
    """Return his id; he has given the shop a consent."""
    await admin.send("POST", "/clients", json=SHOP)
    _, bob = await admin.ask("POST", "/users", json=BOB)
    consent = Consent(
        tenant_id=TenantId("default"),
        id="c1",
        user_id=UserId(bob["id"]),
        client_id=ClientId("shop"),
        pair=f"{bob['id']} shop",
        terms=TERMS,
        granted_at=NOON,
    )
    await admin.deployment.store.of(CONSENTS).insert(consent)
    return str(bob["id"])


async def consents(admin: Administrator) -> list[Consent]:
    return list(await admin.deployment.store.of(CONSENTS).page(TenantId("default")))


async def test_consents_are_listed_and_taken_back(admin: Administrator, bob: str) -> None:
    listed = await admin.ask("GET", f"/users/{bob}/consents")

    taken_back = await admin.send("DELETE", f"/users/{bob}/consents/shop")
    again = await admin.send("DELETE", f"/users/{bob}/consents/shop")

    assert listed == (
        200,
        [
            {
                "client_id": "shop",
                "client_name": "The shop",
                "scopes": ["openid", "email"],
                "resources": ["https://api.example/"],
                "claims": ["birthdate"],
                "granted_at": int(NOON.timestamp()),
                "authorization_details": [],
            }
        ],
    )
    assert (taken_back.status, again.status) == (204, 404)
    assert await admin.ask("GET", f"/users/{bob}/consents") == (200, [])


@pytest.mark.parametrize("whose", ["users/{bob}", "clients/shop"])
async def test_a_consent_goes_with_its_person_and_its_client(
    admin: Administrator, bob: str, whose: str
) -> None:
    await admin.send("DELETE", f"/{whose.format(bob=bob)}")

    assert await consents(admin) == []


@pytest.mark.parametrize(("method", "path"), [("GET", "consents"), ("DELETE", "consents/shop")])
async def test_a_stranger_neither_sees_nor_takes_back(
    admin: Administrator, bob: str, method: str, path: str
) -> None:
    response = await admin.http.request(method, f"/auth/v1/users/{bob}/{path}")

    assert response.status == 401
    assert len(await consents(admin)) == 1
