from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

import pytest
from aiohttp import web
from aiohttp.test_utils import TestClient, TestServer

from edge.kept_documents import KeptDocuments
from edge.oidc.config import OidcConfig
from edge.oidc.routes import routes
from identity.authentication.federation.config import FederationConfig
from identity.directory.provider import PROVIDER_LINKS, PROVIDERS, ProviderLink
from identity.directory.user import USERS, AccountType
from identity.foundation.provider_config import ProviderConfig, Scheme
from server.platform.call import TenantId
from tests.edge.oidc.administration.administrator import Administrator
from tests.edge.oidc.conftest import Http
from tests.identity.deployment import CONFIG, LOOPBACK, Deployment, deployed

SECRET = "s3cret-of-ours"
WHOLE: dict[str, Any] = {
    "name": "Umbrella's people",
    "typ": "workspace",
    "enabled": True,
    "issuer": "https://up.example.com",
    "authorization_endpoint": "https://up.example.com/authorize",
    "token_endpoint": "https://up.example.com/token",
    "userinfo_endpoint": "https://up.example.com/userinfo",
    "jwks_endpoint": "https://up.example.com/keys",
    "client_id": "gnomon",
    "client_secret_basic": True,
    "client_secret_post": False,
    "scope": "openid email",
    "forward_sign_in_hints": False,
    "workspace_domain": "example.com",
    "mfa_claim_path": "amr",
    "mfa_claim_value": "mfa",
    "auto_onboarding": True,
    "auto_link": True,
    "form_post": False,
    "text_booleans": False,
    "mappings": [{"claim": "realm_access.roles", "value": "boss", "roles": ["admin"], "groups": []}],
}
NEW = WHOLE | {"client_secret": SECRET}
MODEST = NEW | {"mappings": []}
EVERYTHING = ["read", "create", "update", "delete"]
DEFAULT = TenantId("default")


@pytest.fixture
async def deployment() -> AsyncIterator[Deployment]:
    """With federation, in development, of providers on this machine too."""
    identity = ProviderConfig(public_url="id.example.com", scheme=Scheme.HTTP)
    federation = FederationConfig(enabled=True)
    config = replace(CONFIG, identity=identity, federation=federation, outgoing=LOOPBACK)
    async with deployed(config) as running:
        yield running


async def created(administrator: Administrator, **fields: object) -> str:
    """Create a provider and return its id."""
    answer = await administrator.send("POST", "providers/create", NEW | fields)
    assert answer.status == 200, await answer.text()
    return str((await answer.json())["id"])


async def link(deployment: Deployment, provider_id: str) -> str:
    """Link the administrator's account to the provider; returns the id of the account."""
    (user,) = await deployment.store.of(USERS).page(DEFAULT)
    await deployment.store.of(PROVIDER_LINKS).insert(
        ProviderLink(tenant_id=DEFAULT, id=f"{provider_id} 7", provider_id=provider_id, user_id=user.id)
    )
    return user.id


async def test_a_provider_is_kept_and_listed(administrator: Administrator) -> None:
    answer = await administrator.send("POST", "providers/create", NEW)

    provider = await answer.json()
    assert answer.status == 200
    assert {name: provider[name] for name in WHOLE} == WHOLE
    assert provider.keys() == WHOLE.keys() | {"id"}
    assert await (await administrator.send("POST", "providers")).json() == [provider]


async def test_a_secret_goes_in_and_never_comes_out(
    administrator: Administrator, deployment: Deployment, caplog: pytest.LogCaptureFixture
) -> None:
    provider_id = await created(administrator)

    (kept,) = await deployment.store.of(PROVIDERS).page(DEFAULT)
    texts = [
        await (await administrator.send("POST", "providers")).text(),
        await (await administrator.send("PUT", f"providers/{provider_id}", NEW)).text(),
        await (await administrator.send("POST", "events", {"from": 0})).text(),
        *(repr(kept), caplog.text),
    ]

    assert not any(SECRET in text for text in texts)
    assert kept.client_secret is not None
    assert SECRET.encode() not in kept.client_secret.content


async def test_a_provider_is_changed_whole(administrator: Administrator) -> None:
    provider_id = await created(administrator)
    changed = WHOLE | {"name": "Renamed", "typ": "directory", "scope": "openid", "enabled": False}

    answer = await administrator.send("PUT", f"providers/{provider_id}", changed)

    assert answer.status == 200
    assert await answer.json() == changed | {"id": provider_id}


async def test_a_secret_stays_until_there_is_a_new_one_or_none(
    administrator: Administrator, deployment: Deployment
) -> None:
    provider_id = await created(administrator)
    path, seen = f"providers/{provider_id}", []

    for body in (WHOLE, NEW, WHOLE | {"client_secret_basic": False}):
        (before,) = await deployment.store.of(PROVIDERS).page(DEFAULT)
        await administrator.send("PUT", path, body)
        (after,) = await deployment.store.of(PROVIDERS).page(DEFAULT)
        seen.append((after.client_secret == before.client_secret, after.client_secret is not None))

    assert seen == [(True, True), (False, True), (False, False)]


@pytest.mark.parametrize("member", ["issuer", "token_endpoint"])
async def test_a_secret_is_not_sent_to_somebody_else(administrator: Administrator, member: str) -> None:
    provider_id = await created(administrator)
    elsewhere = {member: "https://evil.example.com/token"}

    kept = await administrator.send("PUT", f"providers/{provider_id}", WHOLE | elsewhere)
    given_anew = await administrator.send("PUT", f"providers/{provider_id}", NEW | elsewhere)

    assert (kept.status, given_anew.status) == (400, 200)


@pytest.mark.parametrize(
    "change",
    [
        {"name": "x"},
        {"typ": "saml"},
        {"issuer": ""},
        {"issuer": "https://up.example.com?x=1"},
        {"issuer": "https://up.example.com#x"},
        {"authorization_endpoint": ""},
        {"authorization_endpoint": "javascript:alert(1)"},
        {"token_endpoint": "http://up.example.com/token"},
        {"userinfo_endpoint": "ftp://up.example.com/"},
        {"jwks_endpoint": None},
        {"jwks_endpoint": "https://me:secret@up.example.com/"},
        {"jwks_endpoint": "https://10.0.0.7/keys"},
        {"token_endpoint": "https://192.168.1.1/token"},
        {"userinfo_endpoint": "https://[fd00::1]/userinfo"},
        {"client_id": ""},
        {"client_secret": None},
        {"client_secret_post": True},
        {"scope": "email"},
        {"scope": 'openid "x"'},
        {"workspace_domain": "no domain"},
        {"mfa_claim_value": None},
        {"mfa_claim_path": ""},
        {"mappings": [{"claim": "c", "value": "v", "roles": ["nobody-has-it"]}]},
        {"mappings": [{"claim": "", "value": "v", "roles": ["admin"]}]},
        {"surprise": True},
    ],
    ids=str,
)
async def test_what_no_provider_may_be_is_refused(
    administrator: Administrator, deployment: Deployment, change: dict[str, object]
) -> None:
    answer = await administrator.send("POST", "providers/create", NEW | change)

    assert (answer.status, (await answer.json())["error"]) == (400, "BadRequest")
    assert await deployment.store.of(PROVIDERS).page(DEFAULT) == []


async def test_a_tenant_has_100_providers_at_most(administrator: Administrator) -> None:
    for _ in range(100):
        await created(administrator)

    assert (await administrator.send("POST", "providers/create", NEW)).status == 409


async def test_a_provider_that_is_removed_is_known_no_more(
    administrator: Administrator, deployment: Deployment
) -> None:
    provider_id = await created(administrator)
    await link(deployment, provider_id)

    removed = await administrator.send("DELETE", f"providers/{provider_id}")
    again = await administrator.send("DELETE", f"providers/{provider_id}")

    assert (removed.status, again.status) == (200, 404)
    assert await (await administrator.send("POST", "providers")).json() == []
    assert await deployment.store.of(PROVIDER_LINKS).page(DEFAULT) == []


async def test_who_would_lose_a_provider_is_told_beforehand(
    administrator: Administrator, deployment: Deployment
) -> None:
    provider_id = await created(administrator)
    before = await administrator.send("GET", f"providers/{provider_id}/delete_safe")
    user_id = await link(deployment, provider_id)

    after = await administrator.send("GET", f"providers/{provider_id}/delete_safe")

    assert (before.status, after.status) == (200, 406)
    assert await after.json() == [{"id": user_id, "email": "admin@localhost"}]
    assert (await administrator.send("GET", "providers/nobody/delete_safe")).status == 404


async def test_the_only_way_in_of_the_last_administrator_stays(
    administrator: Administrator, deployment: Deployment
) -> None:
    provider_id = await created(administrator)
    user_id = await link(deployment, provider_id)
    users = deployment.store.of(USERS)
    user = await users.get(DEFAULT, user_id)
    assert user is not None
    await users.replace(replace(user, password_hash="", account_type=AccountType.FEDERATED))

    disabled = await administrator.send("PUT", f"providers/{provider_id}", {**WHOLE, "enabled": False})
    removed = await administrator.send("DELETE", f"providers/{provider_id}")

    for refused in (disabled, removed):
        assert refused.status == 409
        assert "without an administrator" in await refused.text()
    assert (await administrator.send("GET", f"providers/{provider_id}/delete_safe")).status == 406


async def test_every_change_is_an_event(administrator: Administrator) -> None:
    provider_id = await created(administrator)
    await administrator.send("PUT", f"providers/{provider_id}", WHOLE)
    await administrator.send("DELETE", f"providers/{provider_id}")

    assert sorted(await administrator.typs()) == ["Changed", "Created", "Deleted"]


async def test_an_api_key_needs_its_right(administrator: Administrator) -> None:
    provider_id = await created(administrator, mappings=[])
    reader = await administrator.key("reader", AuthProviders=["read"])
    other = await administrator.key("other", Clients=EVERYTHING)
    asked = [
        ("POST", "providers", None),
        ("POST", "providers/create", MODEST),
        ("PUT", f"providers/{provider_id}", MODEST),
        ("POST", "providers/lookup", {"issuer": "https://up.example.com"}),
        ("GET", f"providers/{provider_id}/delete_safe", None),
        ("DELETE", f"providers/{provider_id}", None),
    ]

    assert [(await reader.send(*call)).status for call in asked] == [200, 403, 403, 403, 200, 403]
    assert [(await other.send(*call)).status for call in asked] == [403] * 6


async def test_an_api_key_makes_no_provider_of_administrators_and_changes_none(
    administrator: Administrator,
) -> None:
    key = await administrator.key("keeper", AuthProviders=EVERYTHING)
    modest, powerful = await created(administrator, mappings=[]), await created(administrator)

    refused = [
        await key.send("POST", "providers/create", NEW),
        await key.send("PUT", f"providers/{modest}", NEW),
        await key.send("PUT", f"providers/{powerful}", MODEST),
        await key.send("DELETE", f"providers/{powerful}"),
    ]

    assert [answer.status for answer in refused] == [403] * 4
    assert (await key.send("PUT", f"providers/{modest}", MODEST)).status == 200


async def test_pages_are_told_which_providers_are_offered(administrator: Administrator, http: Http) -> None:
    second = await created(administrator, name="Second")
    first = await created(administrator, name="First")
    await created(administrator, name="Third", enabled=False)

    answer = await http.get("/auth/v1/providers/minimal")

    assert await answer.json() == [{"id": first, "name": "First"}, {"id": second, "name": "Second"}]
    assert await (await http.get("/auth/v1/acme/providers/minimal")).json() == []


async def test_without_federation_there_is_administration_and_nothing_else() -> None:
    async with deployed(CONFIG) as running:
        app = web.Application()
        app.add_routes(
            routes(
                running.channel, OidcConfig(), running.clock, kept=KeptDocuments(running.identity.revision)
            )
        )
        async with TestClient(TestServer(app)) as http:
            token = (await running.issue()).access_token
            await created(Administrator(http, f"Bearer {token}"))

            assert (await http.get("/auth/v1/providers/minimal")).status == 404


async def test_tenants_keep_their_providers_apart(administrator: Administrator) -> None:
    provider_id = await created(administrator)

    assert await (await administrator.send("POST", "acme/providers")).json() == []
    assert (await administrator.send("PUT", f"acme/providers/{provider_id}", NEW)).status == 404
    assert (await administrator.send("DELETE", f"acme/providers/{provider_id}")).status == 404


async def test_a_real_provider_says_what_it_is(administrator: Administrator, http: Http) -> None:
    """The provider looks up itself; its issuer differs from its address, so the metadata is not valid there."""
    address = f"{http.make_url('/auth/v1/.well-known/openid-configuration')}"

    answer = await administrator.send("POST", "providers/lookup", {"metadata_url": address})

    assert answer.status == 400
    assert "another issuer" in (await answer.json())["message"]
