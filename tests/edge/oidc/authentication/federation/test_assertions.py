"""The JWT bearer grant over HTTP: the keys of a real upstream provider sign an assertion about one of its users."""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any

import msgspec
import pytest
from aiohttp import encode_basic_auth

from identity.crypto.jose.algorithms import SigningAlgorithm
from identity.directory.provider import PROVIDER_LINKS, ProviderLink
from server.platform.call import TenantId
from tests.edge.oidc.openapi.published import published, undocumented
from tests.edge.oidc.tenants.world import CALLBACK, World, world

DEFAULT, ACME = TenantId("default"), TenantId("acme")
JWT_BEARER = "urn:ietf:params:oauth:grant-type:jwt-bearer"


@dataclass(frozen=True)
class Two:
    """`upstream` is the upstream provider, as its tenant acme. The client `robot` at `here` has the grant."""

    here: World
    upstream: World
    provider_id: str
    secret: str

    async def assertion(self, **claims: object) -> str:
        deployment = self.upstream.deployment
        now = int(deployment.clock.now().timestamp())
        default: dict[str, object] = {
            "iss": self.upstream.issuer("acme"),
            "sub": "alice-there",
            "aud": self.here.issuer(),
            "jti": "1",
            "exp": now + 120,
        }
        key_set = await deployment.identity.keys.key_set(ACME)
        return key_set.signing_key(SigningAlgorithm.ES256).sign(msgspec.json.encode(default | claims))

    async def redeem(self, assertion: str) -> tuple[int, Any]:
        answer = await self.here.http.post(
            "/auth/v1/oidc/token",
            data={"grant_type": JWT_BEARER, "assertion": assertion, "scope": "email"},
            headers={"Authorization": encode_basic_auth("robot", self.secret)},
        )
        return answer.status, await answer.json()


async def answered(world: World, method: str, path: str, body: object) -> Any:
    answer = await world.administer(method, path, json=body)
    assert answer.status == 200, await answer.text()
    return await answer.json()


@pytest.fixture
async def two() -> AsyncIterator[Two]:
    async with world(is_federated=True) as here, world() as upstream:
        # The keys of a new tenant take seconds to make, longer than the other provider waits for them.
        assert (await upstream.http.get("/auth/v1/acme/oidc/certs")).status == 200
        await here.add_user("default", "alice")
        found = await answered(here, "POST", "providers/lookup", {"issuer": upstream.issuer("acme")})
        about = {"name": "Acme", "typ": "oidc", "enabled": True, "client_id": "app"}
        kept = await answered(
            here, "POST", "providers/create", {**found, **about, "client_secret_basic": False}
        )
        await here.store.of(PROVIDER_LINKS).insert(
            ProviderLink(
                tenant_id=DEFAULT,
                id=f"{kept['id']} alice-there",
                provider_id=str(kept["id"]),
                user_id="alice",
            )
        )
        new = {"id": "robot", "confidential": True, "redirect_uris": [CALLBACK]}
        created = await answered(here, "POST", "clients", new)
        robot = {
            **new,
            "enabled": True,
            "flows_enabled": [JWT_BEARER],
            "scopes": ["email"],
            "default_scopes": [],
            "assertion_providers": [kept["id"]],
        }
        assert (await answered(here, "PUT", "clients/robot", robot))["assertion_providers"] == [kept["id"]]
        yield Two(here, upstream, str(kept["id"]), created["secret"])


async def test_what_a_provider_says_of_itself_is_in_the_document(two: Two) -> None:
    body = {"issuer": two.upstream.issuer("acme")}

    answer = await two.here.administer("POST", "providers/lookup", json=body)

    assert await undocumented(published(), "POST", "/auth/v1/providers/lookup", answer) == []
    assert (await answer.json())["issuer"] == body["issuer"]


async def test_a_client_gets_a_token_of_the_user_whom_the_provider_asserts(two: Two) -> None:
    status, issued = await two.redeem(await two.assertion())

    token = issued["access_token"]
    assert (status, issued["token_type"], issued["scope"]) == (200, "Bearer", "email")
    assert issued.keys() == {"access_token", "token_type", "expires_in", "scope"}
    assert await two.here.is_active(token)


async def test_an_assertion_is_redeemed_once_over_all_nodes(two: Two) -> None:
    assertion = await two.assertion()
    status, issued = await two.redeem(assertion)
    assert status == 200, issued

    status, refusal = await two.redeem(assertion)

    assert (status, refusal["error"]) == (400, "invalid_grant")


async def test_an_assertion_for_somebody_else_is_refused(two: Two) -> None:
    for claims in ({"aud": two.upstream.issuer("acme")}, {"sub": "alice"}):
        status, refusal = await two.redeem(await two.assertion(**claims))

        assert (status, refusal["error"]) == (400, "invalid_grant")


async def test_without_federation_there_is_no_such_grant(two: Two) -> None:
    assert JWT_BEARER in (await two.here.metadata())["grant_types_supported"]  # type: ignore[operator]

    async with world(store=two.here.store) as alone:
        metadata = await alone.metadata()
        answer = await alone.http.post(
            "/auth/v1/oidc/token",
            data={"grant_type": JWT_BEARER, "assertion": await two.assertion()},
            headers={"Authorization": encode_basic_auth("robot", two.secret)},
        )

        assert JWT_BEARER not in metadata["grant_types_supported"]  # type: ignore[operator]
        assert (answer.status, (await answer.json())["error"]) == (400, "unsupported_grant_type")


@pytest.mark.parametrize(
    "change",
    [
        {"confidential": False, "challenges": ["S256"]},
        {"assertion_providers": [f"provider{number}" for number in range(11)]},
        {"assertion_providers": ["not an id"]},
    ],
)
async def test_what_cannot_hold_is_not_registered(two: Two, change: dict[str, object]) -> None:
    kept = await (await two.here.administer("GET", "clients/robot")).json()

    answer = await two.here.administer("PUT", "clients/robot", json=kept | change)

    assert answer.status == 400
