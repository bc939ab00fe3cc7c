"""Two real providers: one sends a logout token to the other, over HTTP."""

from collections.abc import AsyncIterator
from dataclasses import dataclass, replace

import pytest

from identity.access.sessions.logout_records import BackChannelLogout
from identity.access.sessions.session import SESSIONS, Authentication, Session
from identity.crypto.jose.algorithms import SigningAlgorithm
from identity.directory.client import CLIENTS
from identity.directory.user import UserId
from identity.foundation.randomness import SystemRandomness
from identity.foundation.tenants import Tenant
from identity.protocol.logout.logout_token import LogoutTokens
from server.platform.call import TenantId
from tests.edge.oidc.tenants.world import World, world
from tests.identity.deployment import NOON
from tests.identity.protocol.provider import SUBJECTS

DEFAULT, ACME = TenantId("default"), TenantId("acme")


@dataclass(frozen=True)
class Two:
    """`upstream` is the upstream provider, as its tenant acme; users sign in at `here`."""

    here: World
    upstream: World

    async def register(self, algorithm: SigningAlgorithm) -> str:
        """Register each provider at the other; returns the id of the provider here."""
        await self.upstream.add_app("acme", id_token_signed_response_alg=algorithm)
        issuer = self.upstream.issuer("acme")
        found = await self.here.administer("POST", "providers/lookup", json={"issuer": issuer})
        assert found.status == 200, await found.text()
        # The client that is registered there is public.
        about = {"name": "Acme", "typ": "oidc", "enabled": True, "client_id": "app"}
        provider = {**await found.json(), **about, "client_secret_basic": False}
        created = await self.here.administer("POST", "providers/create", json=provider)
        assert created.status == 200, await created.text()
        return str((await created.json())["id"])

    async def signed_in(self, provider_id: str, sid: str) -> None:
        """Create a session here that began with a sign-in at the provider."""
        authentication = Authentication(user_id=UserId("alice"), at=NOON, amr=("fed",), acr="", sid=sid)
        session = Session(
            tenant_id=DEFAULT,
            id=sid,
            sid=sid,
            csrf_token="c",
            peer_address="192.0.2.1",
            idle_until=NOON,
            user_id="alice",
            authentication=authentication,
        )
        vouched = replace(session, provider_id=provider_id, upstream_sub="alice-there", upstream_sid=sid)
        await self.here.store.of(SESSIONS).insert(vouched)

    async def logout_token(self, sid: str) -> str:
        """Return the logout token of the upstream provider for a session that ended there."""
        client = await self.upstream.store.of(CLIENTS).get(ACME, "app")
        assert client is not None
        logout = BackChannelLogout(
            tenant_id=ACME, id="1", client_id="app", user_id="alice-there", sid=sid, attempts=0, next_at=NOON
        )
        deployment = self.upstream.deployment
        tokens = LogoutTokens(
            deployment.identity.keys,
            SUBJECTS,
            clock=deployment.clock,
            randomness=SystemRandomness(),
        )
        return await tokens.issue(Tenant(ACME, self.upstream.issuer("acme")), client, logout)

    async def told(self, logout_token: str) -> int:
        answer = await self.here.http.post("/auth/v1/oidc/logout", data={"logout_token": logout_token})
        return answer.status

    async def sids(self) -> set[str]:
        return {session.sid for session in await self.here.store.of(SESSIONS).page(DEFAULT)}


@pytest.fixture
async def two() -> AsyncIterator[Two]:
    async with world(is_federated=True) as here, world() as upstream:
        yield Two(here, upstream)


@pytest.mark.parametrize(
    "algorithm", [SigningAlgorithm.RS256, SigningAlgorithm.ES256, SigningAlgorithm.EDDSA]
)
async def test_a_session_ends_where_its_provider_says_so(two: Two, algorithm: SigningAlgorithm) -> None:
    provider_id = await two.register(algorithm)
    await two.signed_in(provider_id, "s1")
    await two.signed_in(provider_id, "s2")
    token = await two.logout_token("s1")

    assert [await two.told(token), await two.told(token)] == [200, 400]
    assert await two.sids() == {"s2"}


async def test_a_rotation_of_the_providers_keys_is_noticed_at_once(two: Two) -> None:
    provider_id = await two.register(SigningAlgorithm.ES256)
    await two.signed_in(provider_id, "s1")
    await two.signed_in(provider_id, "s2")
    assert await two.told(await two.logout_token("s1")) == 200

    await two.upstream.deployment.identity.keys.rotate(ACME)

    assert await two.told(await two.logout_token("s2")) == 200
    assert await two.sids() == set()


async def test_without_federation_nobody_is_told_anything(two: Two) -> None:
    provider_id = await two.register(SigningAlgorithm.ES256)
    token = await two.logout_token("s1")

    async with world(store=two.here.store) as alone:
        await two.signed_in(provider_id, "s1")
        answer = await alone.http.post("/auth/v1/oidc/logout", data={"logout_token": token})

        assert answer.status == 400
    assert await two.sids() == {"s1"}
