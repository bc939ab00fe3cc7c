"""Administrators of the deployment create, change, disable and delete tenants."""

import pytest

from identity.crypto.keys.stored import KEY_SETS
from identity.directory.client import CLIENTS
from identity.directory.own_clients import CONSOLE_CLIENT_ID, PAGES_CLIENT_ID
from identity.directory.user import USERS
from identity.foundation.events.event import EVENTS
from identity.foundation.events.kinds import EventType
from identity.records import KINDS
from server.platform.call import TenantId
from tests.edge.oidc.tenants.world import DISCOVERY, PASSWORD, World, world
from tests.people.person import Page, Person
from tests.waits import until_so

DEFAULT = TenantId("default")
SETTINGS = {
    "sign_in": {
        "email_first": "auto",
        "email_codes": "off",
        "sign_in_notice": "new_device",
        "support_role": "",
        "support_minutes": 30,
    },
    "registration": {
        "require_email_confirmation": True,
        "confirmation_link_hours": 24,
        "unconfirmed_account_days": 30,
        "default_groups": [],
    },
    "clients": {"security_profile": "none"},
}


async def test_a_tenant_is_created_listed_and_read(provider: World) -> None:
    created = await provider.administer("POST", "tenants", json={"id": "new", "name": "New & Sons"})

    listed = await (await provider.administer("GET", "tenants")).json()
    read = await (await provider.administer("GET", "tenants/new")).json()
    assert created.status == 201
    assert await created.json() == read
    assert [tenant["id"] for tenant in listed] == ["acme", "default", "new", "umbrella"]
    assert read == {
        "id": "new",
        "name": "New & Sons",
        "enabled": True,
        "issuer": provider.issuer("new"),
        "created_at": read["created_at"],
        "settings": SETTINGS,
    }
    assert await provider.status(f"/auth/v1/new/{DISCOVERY}") == 200


async def test_a_new_tenant_publishes_the_keys_that_its_metadata_names(provider: World) -> None:
    await provider.create("new")

    keys = await (await provider.http.get("/auth/v1/new/oidc/certs")).json()

    metadata = await provider.metadata(f"/auth/v1/new/{DISCOVERY}")
    assert metadata["id_token_signing_alg_values_supported"] == [key["alg"] for key in keys["keys"]]


async def test_other_processes_publish_all_keys_of_a_tenant_as_soon_as_they_serve_it(provider: World) -> None:
    async with world(store=provider.store) as other:
        await provider.create("new")

        async def is_served() -> bool:
            return await other.status(f"/auth/v1/new/{DISCOVERY}") == 200

        await until_so(is_served)
        keys = await (await other.http.get("/auth/v1/new/oidc/certs")).json()

        metadata = await other.metadata(f"/auth/v1/new/{DISCOVERY}")
        assert metadata["id_token_signing_alg_values_supported"] == [key["alg"] for key in keys["keys"]]


async def test_the_keys_of_a_new_tenant_are_made_before_anybody_asks(provider: World) -> None:
    await provider.create("new")

    async def is_complete() -> bool:
        [stored] = await provider.store.of(KEY_SETS).page(TenantId("new")) or [None]
        return stored is not None and stored.is_complete

    await until_so(is_complete)


@pytest.mark.parametrize(
    ("client_id", "pages"),
    [
        (PAGES_CLIENT_ID, ("device", "sign-in", "account", "sign-in-requests")),
        (CONSOLE_CLIENT_ID, ("admin/callback",)),
    ],
)
async def test_a_tenant_has_the_providers_own_clients_wherever_its_issuer_is(
    provider: World, client_id: str, pages: tuple[str, ...]
) -> None:
    await provider.create("new")
    await provider.administer("PUT", "tenants/new", json={"name": "New", "hostname": "new.example"})

    client = await provider.store.of(CLIENTS).get(TenantId("new"), client_id)

    assert client is not None
    assert client.redirect_uris == tuple(
        f"http://new.example:{provider.port}/auth/v1/{page}" for page in pages
    )


async def test_every_change_of_a_tenant_is_an_event_that_names_who_did_it(provider: World) -> None:
    await provider.create("new")
    await provider.administer("PUT", "tenants/new", json={"enabled": False})
    await provider.administer("DELETE", "tenants/new")

    events = [event for event in await provider.store.of(EVENTS).page(DEFAULT) if event.text == "new"]
    assert {EventType.TENANT_CREATED, EventType.TENANT_CHANGED, EventType.TENANT_DELETED} == {
        event.type for event in events
    }
    assert {"service"} == {event.actor.id for event in events if event.actor}


def but_the_request_id(page: Page) -> str:
    words, name, _ = page.words.partition("Request ID")
    assert name
    return words


async def test_t04_a_disabled_tenant_is_as_good_as_unknown(provider: World) -> None:
    await provider.add_user("acme", "acme-alice")
    await provider.add_app("acme")
    token = await provider.access_token("acme")
    pages = await provider.person("acme", lambda person: person.visit(provider.authorization("acme")))

    await provider.administer("PUT", "tenants/acme", json={"enabled": False})

    unknown = provider.authorization().replace("/auth/v1/", "/auth/v1/nobody/")
    refused = await provider.person("acme", lambda person: person.visit(provider.authorization("acme")))
    of_nobody = await provider.person("acme", lambda person: person.visit(unknown))
    assert isinstance(pages, Page)
    assert isinstance(refused, Page)
    assert isinstance(of_nobody, Page)
    assert pages.asks_for_a_password
    assert (404, but_the_request_id(of_nobody)) == (refused.status, but_the_request_id(refused))
    assert await provider.status(f"/auth/v1/acme/{DISCOVERY}") == 404
    assert (await provider.with_token("oidc/userinfo", token, "acme")).status == 404
    assert not await provider.is_active(token)


async def test_t04_what_a_disabled_tenant_issued_lets_nobody_in(provider: World) -> None:
    issued = await provider.deployment.issue(tenant_id="acme", client_id="operator")
    authorization = f"Bearer {issued.access_token}"

    async def is_admitted() -> bool:
        provider.deployment.authenticator.invalidate()
        return await provider.is_admitted(authorization)

    before = await is_admitted()
    await provider.administer("PUT", "tenants/acme", json={"enabled": False})

    assert before
    assert not await is_admitted()


async def test_a_token_of_a_tenant_at_a_host_of_its_own_lets_its_bearer_in(provider: World) -> None:
    await provider.administer("PUT", "tenants/acme", json={"hostname": "login.acme.example"})

    issued = await provider.deployment.issue(tenant_id="acme", client_id="operator")

    assert await provider.is_admitted(f"Bearer {issued.access_token}")


async def test_the_host_of_a_disabled_tenant_is_not_the_default_tenants(provider: World) -> None:
    await provider.create("hosted", hostname="hosted.example", enabled=False)

    assert await provider.status(f"/{DISCOVERY}", Host="hosted.example") == 404


@pytest.mark.parametrize("name", ["oidc", ".well-known", "Acme", "a/b", "", "a" * 33, "tenants", "ä", "a\n"])
async def test_t18_a_tenant_may_not_be_called(provider: World, name: str) -> None:
    answer = await provider.administer("POST", "tenants", json={"id": name})

    assert answer.status == 400


@pytest.mark.parametrize(
    "hostname",
    ["localhost", "127.0.0.1", "a..b", "https://a.example", "a.example:80", "-a.example", "ä.example"],
)
async def test_a_tenant_may_not_have_what_is_no_hostname(provider: World, hostname: str) -> None:
    answer = await provider.administer("POST", "tenants", json={"id": "new", "hostname": hostname})

    assert answer.status == 400


async def test_an_id_and_a_hostname_are_one_tenants(provider: World) -> None:
    await provider.create("hosted", hostname="hosted.example")

    statuses = [
        (await provider.administer("POST", "tenants", json=members)).status
        for members in ({"id": "acme"}, {"id": "new", "hostname": "HOSTED.example"})
    ]

    assert statuses == [409, 409]


@pytest.mark.parametrize("members", [{"enabled": False}, {"hostname": "default.example"}])
async def test_the_default_tenant_is_enabled_at_the_configured_address(
    provider: World, members: dict[str, object]
) -> None:
    changed = await provider.administer("PUT", "tenants/default", json=members)
    deleted = await provider.administer("DELETE", "tenants/default", params={"force": "true"})

    assert [changed.status, deleted.status] == [409, 409]


async def test_t19_a_tenant_with_users_goes_with_all_that_is_its_own_when_that_is_forced(
    provider: World,
) -> None:
    await provider.create("gone", hostname="gone.example")
    await provider.add_user("gone", "gone-alice")
    await provider.add_app("gone")
    await provider.access_token("gone")
    kept_before = await _kinds_of(provider, "gone")

    refused = await provider.administer("DELETE", "tenants/gone")
    still_there = await provider.status(f"/auth/v1/gone/{DISCOVERY}")
    forced = await provider.administer("DELETE", "tenants/gone", params={"force": "true"})

    assert [refused.status, still_there, forced.status] == [409, 200, 204]
    assert {kind.name for kind in (USERS, CLIENTS, KEY_SETS)} <= kept_before
    assert await _kinds_of(provider, "gone") == set()
    assert await provider.status(f"/auth/v1/gone/{DISCOVERY}") == 404
    shown = await (await provider.administer("GET", "tenants/gone")).json()
    assert (shown["enabled"], shown["removal"].keys()) == (False, {"started_at"})
    assert (await provider.administer("DELETE", "tenants/gone")).status == 404
    assert await provider.status(f"/auth/v1/{DISCOVERY}") == 200


async def _kinds_of(provider: World, tenant: str) -> set[str]:
    return {kind.name for kind in KINDS if await provider.store.of(kind).page(TenantId(tenant), most=1)}


async def test_t27_settings_are_heeded_by_every_process_at_once(provider: World) -> None:
    async with world(store=provider.store) as other:
        await provider.add_app("acme")
        await provider.add_user("acme", "acme-alice", is_self_registered=True, is_email_verified=False)

        def attempt(person: Person) -> int:
            page = person.visit(other.authorization("acme"))
            assert isinstance(page, Page)
            return person.submit_credentials(page, PASSWORD).status_code

        before = await other.person("acme", attempt)
        settings = {"registration": {"require_email_confirmation": "off"}}
        changed = await provider.administer("PUT", "tenants/acme/settings", json=settings)
        after = await other.person("acme", attempt)

        assert [before, changed.status, after] == [403, 200, 202]
        assert await changed.json() == await (await other.administer("GET", "tenants/acme/settings")).json()


async def test_t27_other_processes_hear_of_a_tenant_that_comes_and_goes(provider: World) -> None:
    async with world(store=provider.store) as other:

        async def has_status(expected: int) -> bool:
            return await other.status(f"/auth/v1/new/{DISCOVERY}") == expected

        await provider.create("new")
        await until_so(lambda: has_status(200))
        await provider.administer("DELETE", "tenants/new")
        await until_so(lambda: has_status(404))


async def default_groups(provider: World) -> object:
    settings = await (await provider.administer("GET", "tenants/default/settings")).json()
    return settings["registration"]["default_groups"]


async def test_default_groups_that_the_tenant_does_not_have_are_refused_by_name(provider: World) -> None:
    await provider.administer("POST", "groups", json={"group": "people"})
    settings = {"registration": {"default_groups": ["people", "nosuch", "neither"]}}

    own = await provider.administer("PUT", "tenants/default/settings", json=settings)
    new = await provider.administer("POST", "tenants", json={"id": "new", "settings": settings})

    message = "registration.default_groups: the tenant has no group"
    assert (own.status, new.status) == (400, 400)
    assert (await own.json())["message"] == f"{message} 'nosuch', 'neither'"
    assert (await new.json())["message"] == f"{message} 'people', 'nosuch', 'neither'"
    assert await default_groups(provider) == []


async def test_a_group_that_is_renamed_or_removed_is_so_among_the_default_groups(provider: World) -> None:
    ids = [
        (await (await provider.administer("POST", "groups", json={"group": name})).json())["id"]
        for name in ("people", "readers")
    ]
    settings = {"registration": {"default_groups": ["people", "readers"]}}
    changed = await provider.administer("PUT", "tenants/default/settings", json=settings)

    renamed = await provider.administer("PUT", f"groups/{ids[0]}", json={"group": "everybody"})
    after_renaming = await default_groups(provider)
    removed = await provider.administer("DELETE", f"groups/{ids[1]}")
    after_removal = await default_groups(provider)

    assert [changed.status, renamed.status, removed.status] == [200, 200, 200]
    assert [after_renaming, after_removal] == [["everybody", "readers"], ["everybody"]]


@pytest.mark.parametrize(
    "registration",
    [
        {"confirmation_link_hours": 0},
        {"confirmation_link_hours": 169},
        {"confirmation_link_hours": 1.5},
        {"confirmation_link_hours": "24"},
        {"unconfirmed_account_days": -1},
        {"unconfirmed_account_days": 3651},
        {"default_groups": [""]},
        {"require_email_confirmation": "maybe"},
        {"unheard_of": 1},
    ],
)
async def test_settings_out_of_bounds_are_refused(provider: World, registration: dict[str, object]) -> None:
    answer = await provider.administer("PUT", "tenants/acme/settings", json={"registration": registration})

    assert answer.status == 400


async def test_a_stranger_keeps_no_tenants(provider: World) -> None:
    answer = await provider.http.post("/auth/v1/tenants", json={"id": "new"})

    assert answer.status == 401
