"""Administrators of a tenant read and change its settings, and those of no other tenant."""

from urllib.parse import urljoin

import pytest
import requests
from aiohttp import ClientResponse

from identity.foundation.events.event import EVENTS
from identity.foundation.events.kinds import EventType
from server.platform.call import TenantId
from tests.edge.oidc.tenants.world import EMAIL, World
from tests.people.person import SECONDS, Person

CHANGED = {
    "sign_in": {
        "email_first": "off",
        "email_codes": "off",
        "sign_in_notice": "new_device",
        "support_role": "",
        "support_minutes": 30,
    },
    "registration": {
        "require_email_confirmation": False,
        "confirmation_link_hours": 1,
        "unconfirmed_account_days": 0,
        "default_groups": [],
    },
    "clients": {"security_profile": "none"},
}


@pytest.fixture
async def provider(provider: World) -> World:
    """A provider with an administrator and another user in tenant acme."""
    await provider.add_app("acme")
    await provider.add_user("acme", "boss", roles=("admin",))
    await provider.add_user("acme", "clerk", email="clerk@example.com")
    return provider


def put(person: Person, tenant: str) -> requests.Response:
    headers = {"x-csrf-token": str(person.session()["csrf_token"])}
    address = urljoin(person.issuer, f"tenants/{tenant}/settings")
    return person.browser.put(address, json=CHANGED, headers=headers, timeout=SECONDS)


async def settings(provider: World, tenant: str) -> object:
    return await (await provider.administer("GET", f"tenants/{tenant}/settings")).json()


async def test_an_administrator_changes_the_settings_of_the_own_tenant(provider: World) -> None:
    def act(person: Person) -> tuple[int, object, object]:
        person.sign_in(provider.authorization("acme"))
        changed = put(person, "acme")
        read = person.browser.get(urljoin(person.issuer, "tenants/acme/settings"), timeout=SECONDS)
        return changed.status_code, changed.json(), read.json()

    assert await provider.person("acme", act) == (200, CHANGED, CHANGED)

    events = await provider.store.of(EVENTS).page(TenantId("default"))
    events = [*events, *await provider.store.of(EVENTS).page(TenantId("acme"))]
    actors = [event.actor for event in events if event.type is EventType.TENANT_CHANGED]
    assert [actor.name for actor in actors if actor is not None] == [EMAIL]
    assert await settings(provider, "acme") == CHANGED


async def test_of_other_tenants_the_settings_stay_and_are_not_shown(provider: World) -> None:
    before = await settings(provider, "umbrella")

    def act(person: Person) -> list[tuple[int, str]]:
        person.sign_in(provider.authorization("acme"))
        answers = [put(person, tenant) for tenant in ("umbrella", "default", "nobody")]
        answers += [
            person.browser.get(urljoin(person.issuer, f"tenants/{tenant}/settings"), timeout=SECONDS)
            for tenant in ("umbrella", "default", "nobody")
        ]
        return [(answer.status_code, answer.json()["message"]) for answer in answers]

    assert len(set(answers := await provider.person("acme", act))) == 1
    assert answers[0][0] == 401
    assert await settings(provider, "umbrella") == before


async def test_a_user_without_the_role_changes_no_settings(provider: World) -> None:
    before = await settings(provider, "acme")

    def act(person: Person) -> list[int]:
        person.email = "clerk@example.com"
        person.sign_in(provider.authorization("acme"))
        read = person.browser.get(urljoin(person.issuer, "tenants/acme/settings"), timeout=SECONDS)
        return [put(person, "acme").status_code, read.status_code]

    assert await provider.person("acme", act) == [403, 403]
    assert await settings(provider, "acme") == before


@pytest.mark.parametrize(("tenant", "status"), [("acme", 200), ("umbrella", 401)])
async def test_a_program_reads_the_settings_of_its_own_tenant(
    provider: World, tenant: str, status: int
) -> None:
    access = [{"group": "Tenants", "access_rights": ["read"]}]
    made = await provider.administer("POST", "acme/api_keys", json={"name": "robot", "access": access})
    headers = {"Authorization": f"API-Key {await made.text()}"}

    async def send(method: str) -> ClientResponse:
        path = f"/auth/v1/acme/tenants/{tenant}/settings"
        return await provider.http.request(
            method, path, headers=headers, json=CHANGED if method == "PUT" else None
        )

    assert (await send("GET")).status == status
    assert (await send("PUT")).status in {401, 403}
