"""API keys and clients that administer: no right of a key gives access to the credentials of such a client."""

from dataclasses import replace

import pytest
from aiohttp import ClientResponse

from identity.access.callers import AdministrationArea, Right
from identity.directory.client import CLIENTS, Client
from identity.directory.labels import GROUPS, ROLES, Group, Role
from identity.directory.mapping_rule import MAPPING_RULES, MappingRule
from identity.foundation.vocabulary import AuthenticationMethod, GrantType, Permission
from server.platform.call import TenantId
from tests.edge.oidc.administration.administrator import Administrator
from tests.edge.oidc.administration.test_clients import KEYS, KEYS_URI, WHOLE
from tests.edge.oidc.administration.test_screens import DEFAULTS
from tests.identity.administration.images.pictures import form, uploaded
from tests.identity.deployment import Deployment

WRITE = Permission.IDENTITY_WRITE
PUBLIC = {"confidential": False, "flows_enabled": ["authorization_code"], "challenges": ["S256"]}

# Ways by which the client `app` becomes an administrator.
WAYS = {
    "a permission": {"permissions": (WRITE,)},
    "a scope for people": {"oauth_scopes": ("openid", "email", WRITE)},
    "the built-in role": {"roles": ("admin",)},
    "a role of the tenant": {"roles": ("owner",)},
    "a group with the built-in role": {"groups": ("board",)},
    "a group with a role of the tenant": {"groups": ("owners",)},
    "a mapping rule for its id": {"id": "ruled"},
    "a mapping rule for its claims": {"claims": '{"branch":["hq"]}', "claims_at_root": True},
}

# Operations that take over, disable or impersonate a client; `None` sends no body.
OPERATIONS: dict[str, tuple[str, str, object]] = {
    "a new secret": ("PUT", "/secret", None),
    "a new secret beside the old one": ("PUT", "/secret", {"cache_current_hours": 24}),
    "a name": ("PUT", "", {"name": "Another name"}),
    "redirect URIs": ("PUT", "", {"redirect_uris": ["https://evil.example/cb"]}),
    "post-logout redirect URIs": ("PUT", "", {"post_logout_redirect_uris": ["https://evil.example/cb"]}),
    "origins": ("PUT", "", {"allowed_origins": ["https://evil.example"]}),
    "grant types": ("PUT", "", {"flows_enabled": ["client_credentials"]}),
    "no secret any more": ("PUT", "", PUBLIC),
    "an authentication method": ("PUT", "", {"token_endpoint_auth_method": "client_secret_post"}),
    "keys": ("PUT", "", {"jwks": KEYS}),
    "the address of keys": ("PUT", "", {"jwks_uri": KEYS_URI}),
    "addresses of request objects": ("PUT", "", {"request_uris": ["https://evil.example/request"]}),
    "a logout address": ("PUT", "", {"backchannel_logout_uri": "https://evil.example/logout"}),
    "no challenge": ("PUT", "", {"challenges": None}),
    "FedCM": ("PUT", "", {"fed_cm": True}),
    "an end": ("PUT", "", {"enabled": False}),
    "removal": ("DELETE", "", None),
    "screens": ("PUT", "/screens", DEFAULTS),
}


async def program(administrator: Administrator, tenant: str = "") -> Administrator:
    """Return a caller with an API key that has every right."""
    access = [{"group": area.value, "access_rights": list(map(str, Right))} for area in AdministrationArea]
    created = await administrator.send("POST", f"{tenant}api_keys", {"name": "all", "access": access})
    assert created.status == 200, await created.text()
    return replace(administrator, authorization=f"API-Key {await created.text()}")


async def populate(deployment: Deployment, tenant_id: TenantId, **fields: object) -> Client:
    """Create the client, and the labels and rules that may make it an administrator."""
    store = deployment.store
    owner = Role(tenant_id=tenant_id, id="r", name="owner", permissions=(WRITE,))
    await store.of(ROLES).insert(owner)
    for name, role in (("board", "admin"), ("owners", "owner")):
        await store.of(GROUPS).insert(Group(tenant_id=tenant_id, id=name, name=name, roles=(role,)))
    for claim, text in (("azp", "ruled"), ("branch", "hq")):
        rule = MappingRule(
            tenant_id=tenant_id, id=claim, name=claim, claim_name=claim, claim_value=text, groups=("owners",)
        )
        await store.of(MAPPING_RULES).insert(rule)
    client = Client(
        tenant_id=tenant_id,
        id="app",
        secret_hash=b"hash",
        token_endpoint_auth_method=AuthenticationMethod.CLIENT_SECRET_BASIC,
        tenant_ids=(tenant_id,),
        oauth_scopes=("openid", "email"),
        grant_types=frozenset({GrantType.AUTHORIZATION_CODE}),
        redirect_uris=("https://app.example.com/callback",),
    )
    return await store.of(CLIENTS).insert(replace(client, **fields))  # type: ignore[arg-type]  # fields of a client


async def sent(
    caller: Administrator, client_id: str, operation: tuple[str, str, object], tenant: str = ""
) -> ClientResponse:
    method, path, body = operation
    if method == "PUT" and not path and isinstance(body, dict):
        body = WHOLE | {"id": client_id, "claims": None, "claims_at_root": False} | body
    return await caller.send(method, f"{tenant}clients/{client_id}{path}", body)


@pytest.mark.parametrize("operation", OPERATIONS.values(), ids=OPERATIONS)
async def test_an_api_key_does_so_to_a_client_that_does_not_administer(
    administrator: Administrator, deployment: Deployment, operation: tuple[str, str, object]
) -> None:
    await populate(deployment, TenantId("default"))
    key = await program(administrator)

    answer = await sent(key, "app", operation)

    assert answer.status == 200, await answer.text()


@pytest.mark.parametrize("fields", WAYS.values(), ids=WAYS)
async def test_an_api_key_does_nothing_to_a_client_that_administers(
    administrator: Administrator, deployment: Deployment, fields: dict[str, object]
) -> None:
    before = await populate(deployment, TenantId("default"), **fields)
    key = await program(administrator)

    statuses = {
        name: (await sent(key, before.id, operation)).status for name, operation in OPERATIONS.items()
    }

    assert dict.fromkeys(OPERATIONS, 403) == statuses
    assert before == await deployment.store.of(CLIENTS).get(TenantId("default"), before.id)


@pytest.mark.parametrize("fields", WAYS.values(), ids=WAYS)
async def test_a_tenants_api_key_does_nothing_to_a_client_that_administers_the_tenant(
    administrator: Administrator, deployment: Deployment, fields: dict[str, object]
) -> None:
    before = await populate(deployment, TenantId("acme"), **fields)
    key = await program(administrator, "acme/")

    rotated = await sent(key, before.id, OPERATIONS["a new secret"], "acme/")
    redirected = await sent(key, before.id, OPERATIONS["redirect URIs"], "acme/")

    assert (rotated.status, redirected.status) == (403, 403)


async def test_an_api_key_gives_no_logo_to_a_client_that_administers(
    administrator: Administrator, deployment: Deployment
) -> None:
    await populate(deployment, TenantId("default"), roles=("admin",))
    key = await program(administrator)

    put = await key.send("PUT", "clients/app/logo", data=form(uploaded(size=(20, 10))))
    await administrator.send("PUT", "clients/app/logo", data=form(uploaded(size=(20, 10))))
    removed = await key.send("DELETE", "clients/app/logo")

    assert (put.status, removed.status) == (403, 403)


@pytest.mark.parametrize("operation", OPERATIONS.values(), ids=OPERATIONS)
async def test_an_administrator_does_so_to_any_client(
    administrator: Administrator, deployment: Deployment, operation: tuple[str, str, object]
) -> None:
    await populate(deployment, TenantId("default"), roles=("admin",))

    answer = await sent(administrator, "app", operation)

    assert answer.status == 200, await answer.text()


@pytest.mark.parametrize(
    "change",
    [{"claims": {"branch": "hq"}, "claims_at_root": True}, {"scopes": ["openid", WRITE]}],
    ids=["claims that a rule wants", "a scope"],
)
async def test_an_api_key_makes_no_client_an_administrator(
    administrator: Administrator, deployment: Deployment, change: dict[str, object]
) -> None:
    before = await populate(deployment, TenantId("default"))
    key = await program(administrator)

    answer = await sent(key, "app", ("PUT", "", change))

    assert answer.status == 403
    assert before == await deployment.store.of(CLIENTS).get(TenantId("default"), "app")


async def test_an_api_key_creates_no_client_that_a_rule_makes_an_administrator(
    administrator: Administrator, deployment: Deployment
) -> None:
    await populate(deployment, TenantId("default"))
    key = await program(administrator)
    new = {"id": "ruled", "name": "x", "confidential": True, "redirect_uris": []}

    answer = await key.send("POST", "clients", new)

    assert answer.status == 403
    assert await deployment.store.of(CLIENTS).get(TenantId("default"), "ruled") is None


async def test_no_api_key_takes_over_the_client_of_the_configuration(administrator: Administrator) -> None:
    secrets = await administrator.key("secr", Secrets=["update"])
    clients = await administrator.key("clis", Clients=["update"])

    rotated = await secrets.send("PUT", "clients/service/secret", {"cache_current_hours": 24})
    redirected = await sent(clients, "service", OPERATIONS["redirect URIs"])

    assert (rotated.status, redirected.status) == (403, 403)
