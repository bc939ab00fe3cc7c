"""API keys and users who administer: no right of a key gives access to their accounts, factors or providers."""

from dataclasses import replace

import pytest

from identity.authentication.passkeys.passkey import PASSKEYS, Passkey, owned_name
from identity.directory.labels import GROUPS, ROLES, Group, Role
from identity.directory.provider import PROVIDER_LINKS, ProviderLink
from identity.directory.user import USERS, AccountType, User
from identity.foundation.vocabulary import Permission
from server.platform.call import TenantId
from tests.edge.oidc.administration.administrator import Administrator
from tests.edge.oidc.administration.test_administering_clients import program
from tests.edge.oidc.administration.test_providers import MODEST, created
from tests.identity.deployment import NOON, Deployment

DEFAULT = TenantId("default")
ANNA = "anna-anna-anna-anna-anna"

WAYS = {
    "a permission": {"permissions": (Permission.IDENTITY_WRITE,)},
    "the built-in role": {"roles": ("admin",)},
    "a role of the tenant": {"roles": ("owner",)},
    "a group with a role of the tenant": {"groups": ("owners",)},
}

OPERATIONS: dict[str, tuple[str, str, object]] = {
    "a passkey": ("DELETE", "/webauthn/delete/key", None),
    "a code generator": ("DELETE", "/one_time_codes/generator", None),
    "recovery codes": ("DELETE", "/recovery_codes", None),
    "the account": ("DELETE", "", None),
    "a username": ("PUT", "/self/preferred_username", {"preferred_username": "anna"}),
    "attributes": ("PUT", "/attr", {"values": []}),
}


async def populate(deployment: Deployment, **fields: object) -> None:
    """Create Anna, who has a passkey, and the labels that may make her an administrator."""
    store = deployment.store
    await store.of(ROLES).insert(
        Role(tenant_id=DEFAULT, id="r", name="owner", permissions=(Permission.IDENTITY_WRITE,))
    )
    await store.of(GROUPS).insert(Group(tenant_id=DEFAULT, id="g", name="owners", roles=("owner",)))
    anna = User(
        tenant_id=DEFAULT, id=ANNA, email="anna@example.com", is_email_verified=True, tenant_ids=(DEFAULT,)
    )
    await store.of(USERS).insert(replace(anna, **fields))  # type: ignore[arg-type]  # fields of a user
    await store.of(PASSKEYS).insert(
        Passkey(
            tenant_id=DEFAULT,
            id="credential",
            user_id=anna.user_id,
            name="key",
            owned_name=owned_name(anna.user_id, "key"),
            rp_id="id.example.com",
            public_key=b"key",
            sign_count=0,
            registered_at=NOON,
        )
    )


async def status(caller: Administrator, operation: tuple[str, str, object]) -> int:
    method, path, body = operation
    return (await caller.send(method, f"users/{ANNA}{path}", body)).status


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
async def test_an_api_key_changes_nothing_of_a_person_who_administers(
    administrator: Administrator, deployment: Deployment, way: dict[str, object]
) -> None:
    await populate(deployment, **way)
    key = await program(administrator)

    statuses = {name: await status(key, operation) for name, operation in OPERATIONS.items()}

    assert statuses == dict.fromkeys(OPERATIONS, 403)
    assert await deployment.store.of(USERS).get(DEFAULT, ANNA) is not None
    assert await deployment.store.of(PASSKEYS).get(DEFAULT, "credential") is not None


@pytest.mark.parametrize("operation", OPERATIONS.values(), ids=OPERATIONS)
async def test_an_api_key_does_so_to_others(
    administrator: Administrator, deployment: Deployment, operation: tuple[str, str, object]
) -> None:
    await populate(deployment)
    key = await program(administrator)

    assert await status(key, operation) != 403


async def test_an_administrator_does_so_to_administrators(
    administrator: Administrator, deployment: Deployment
) -> None:
    await populate(deployment, roles=("admin",))

    assert await status(administrator, OPERATIONS["a passkey"]) == 200
    assert await status(administrator, OPERATIONS["the account"]) == 204


async def link(deployment: Deployment, provider_id: str, user_id: str, number: int = 1) -> None:
    await deployment.store.of(PROVIDER_LINKS).insert(
        ProviderLink(
            tenant_id=DEFAULT, id=f"{provider_id} {number}", provider_id=provider_id, user_id=user_id
        )
    )


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
async def test_an_api_key_changes_no_provider_through_which_an_administrator_signs_in(
    administrator: Administrator, deployment: Deployment, way: dict[str, object]
) -> None:
    await populate(deployment, **way)
    provider_id = await created(administrator, mappings=[])
    await link(deployment, provider_id, ANNA)
    key = await program(administrator)
    elsewhere = MODEST | {"jwks_endpoint": "https://evil.example.com/keys"}

    changed = await key.send("PUT", f"providers/{provider_id}", elsewhere)
    deleted = await key.send("DELETE", f"providers/{provider_id}")
    by_administrator = await administrator.send("PUT", f"providers/{provider_id}", MODEST)

    assert (changed.status, deleted.status, by_administrator.status) == (403, 403, 200)


async def test_an_api_key_changes_a_provider_of_people_who_do_not_administer(
    administrator: Administrator, deployment: Deployment
) -> None:
    await populate(deployment)
    provider_id = await created(administrator, mappings=[])
    await link(deployment, provider_id, ANNA)
    key = await program(administrator)

    assert (await key.send("PUT", f"providers/{provider_id}", MODEST)).status == 200
    assert (await key.send("DELETE", f"providers/{provider_id}")).status == 200


async def test_an_api_key_changes_no_provider_with_too_many_people_to_look_through(
    administrator: Administrator, deployment: Deployment
) -> None:
    await populate(deployment)
    provider_id = await created(administrator, mappings=[])
    for number in range(201):
        await link(deployment, provider_id, ANNA, number)
    key = await program(administrator)

    answer = await key.send("PUT", f"providers/{provider_id}", MODEST)

    assert answer.status == 403
    assert "more than 200 people" in (await answer.json())["message"]


@pytest.mark.parametrize("path", [f"users/{ANNA}", f"scim/v2/Users/{ANNA}"])
async def test_the_last_person_who_administers_is_kept(
    administrator: Administrator, deployment: Deployment, path: str
) -> None:
    users = deployment.store.of(USERS)
    for user in await users.page(DEFAULT):
        await users.take(DEFAULT, user.id)
    await populate(deployment, roles=("admin",), account_type=AccountType.PASSKEY)

    answer = await administrator.send("DELETE", path)

    kept = await users.get(DEFAULT, ANNA)
    assert answer.status == 409
    assert "first make another person an administrator" in await answer.text()
    assert kept is not None
    assert kept.is_enabled
