"""POST /oidc/rotate_jwk: administrators and authorized programs rotate the keys of the tenant at the address."""

import pytest
from aiohttp import ClientResponse

from identity.crypto.jose.algorithms import SigningAlgorithm
from identity.foundation.events.event import EVENTS, Event
from identity.foundation.events.kinds import EventType
from server.platform.call import TenantId
from tests.edge.oidc.tenants.world import EMAIL, World
from tests.people.person import SECONDS, Person

DEFAULT, NEW = TenantId("default"), TenantId("new")


@pytest.fixture
async def provider(provider: World) -> World:
    """A provider with a stored tenant, and an administrator and another user in it."""
    await provider.create("new")
    await provider.add_app("new")
    await provider.add_user("new", "boss", roles=("admin",))
    await provider.add_user("new", "clerk", email="clerk@example.com")
    return provider


async def signing_kid(provider: World, tenant_id: TenantId) -> str:
    keys = await provider.deployment.identity.keys.key_set(tenant_id)
    return keys.signing_key(SigningAlgorithm.ES256).kid


async def rotations(provider: World, tenant_id: TenantId) -> list[Event]:
    events = await provider.store.of(EVENTS).page(tenant_id)
    return [event for event in events if event.type is EventType.JWKS_ROTATED]


async def in_a_session(provider: World, email: str, *, has_csrf: bool = True) -> int:
    """Return the status of the request in a session of a user of the tenant."""

    def rotate(person: Person) -> int:
        person.email = email
        person.sign_in(provider.authorization("new"))
        proof = person.browser.get(f"{person.issuer}oidc/sessioninfo/xsrf", timeout=SECONDS).json()
        headers = {"x-csrf-token": proof["csrf_token"]} if has_csrf else {}
        answer = person.browser.post(
            f"{person.issuer}oidc/rotate_jwk", headers=headers, allow_redirects=False, timeout=SECONDS
        )
        return answer.status_code

    return await provider.person("new", rotate)


async def by_a_program(provider: World, area: str, tenant: str) -> ClientResponse:
    access = [{"group": area, "access_rights": ["read", "create", "update", "delete"]}]
    made = await provider.administer("POST", f"{tenant}api_keys", json={"name": "robot", "access": access})
    headers = {"Authorization": f"API-Key {await made.text()}"}
    return await provider.http.post(f"/auth/v1/{tenant}oidc/rotate_jwk", headers=headers)


async def test_an_administrator_rotates_in_a_session(provider: World) -> None:
    before, others = await signing_kid(provider, NEW), await signing_kid(provider, DEFAULT)

    assert await in_a_session(provider, EMAIL) == 200

    [event] = await rotations(provider, NEW)
    assert event.actor is not None
    assert (event.actor.kind, event.actor.name, event.ip) == ("user", EMAIL, "127.0.0.1")
    assert await signing_kid(provider, NEW) != before
    assert await signing_kid(provider, DEFAULT) == others


async def test_a_page_of_somebody_else_rotates_nothing(provider: World) -> None:
    assert await in_a_session(provider, EMAIL, has_csrf=False) == 401
    assert await rotations(provider, NEW) == []


async def test_a_person_without_the_role_rotates_nothing(provider: World) -> None:
    assert await in_a_session(provider, "clerk@example.com") == 403
    assert await rotations(provider, NEW) == []


@pytest.mark.parametrize(("tenant", "tenant_id"), [("", DEFAULT), ("new/", NEW)])
async def test_a_program_that_may_update_secrets_rotates(
    provider: World, tenant: str, tenant_id: TenantId
) -> None:
    answer = await by_a_program(provider, "Secrets", tenant)

    [event] = await rotations(provider, tenant_id)
    assert event.actor is not None
    assert (answer.status, await answer.read()) == (200, b"")
    assert (event.actor.kind, event.actor.name, event.ip) == ("api_key", "robot", "127.0.0.1")


@pytest.mark.parametrize("area", ["Generic", "Clients", "Tenants"])
async def test_a_program_with_other_rights_rotates_nothing(provider: World, area: str) -> None:
    answer = await by_a_program(provider, area, "new/")

    assert answer.status == 403
    assert await rotations(provider, NEW) == []


@pytest.mark.parametrize(("tenant", "tenant_id"), [("", DEFAULT), ("new/", NEW)])
async def test_an_administrator_of_the_deployment_rotates_by_a_token_where_the_address_says(
    provider: World, tenant: str, tenant_id: TenantId
) -> None:
    answer = await provider.administer("POST", f"{tenant}oidc/rotate_jwk")

    [event] = await rotations(provider, tenant_id)
    assert event.actor is not None
    assert answer.status == 200
    assert (event.actor.kind, event.actor.id, event.ip) == ("client", "service", "127.0.0.1")


async def test_an_administrator_of_a_tenant_rotates_nothing_elsewhere(provider: World) -> None:
    token = await provider.access_token("new")

    answer = await provider.http.post(
        "/auth/v1/oidc/rotate_jwk", headers={"Authorization": f"Bearer {token}"}
    )

    assert answer.status == 401
    assert await rotations(provider, DEFAULT) == []
