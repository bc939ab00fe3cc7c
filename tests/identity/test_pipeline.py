from dataclasses import replace
from datetime import timedelta

import pytest

from identity.clients.authentication import ClientAuthenticator, ClientCredentials
from identity.clients.client import Client, ClientId
from identity.clients.secrets import SecretHasher
from identity.errors import InvalidClient, UnauthorizedClient
from identity.grants.grant import TokenRequest
from identity.grants.pipeline import TokenPipeline
from identity.grants.table import grants
from identity.key_ring import KeyRing
from identity.randomness import SystemRandomness
from identity.store.records import MemoryRecords
from identity.tenants import Tenants, tenant_id_of
from identity.tokens.access_token import AccessTokens
from identity.vocabulary import AuthenticationMethod, Permission
from server.platform.clock import VirtualClock

TENANTS = Tenants("https://id.example.com", tenant_id_of("default"))
SECRETS = SecretHasher(b"0" * 32)
CLIENT = Client(
    client_id=ClientId("worker"),
    secret_hash=SECRETS.hash("right"),
    tenant_ids=(TENANTS.default.tenant_id,),
    permissions=(Permission.JOB_WORK,),
    oauth_scopes=(Permission.JOB_WORK,),
)
REQUEST = TokenRequest(
    tenant=TENANTS.default,
    grant_type="client_credentials",
    credentials=ClientCredentials(AuthenticationMethod.CLIENT_SECRET_POST, "worker", "right"),
)


def pipeline(client: Client, keys: KeyRing) -> TokenPipeline:
    authenticator = ClientAuthenticator(MemoryRecords({client.client_id: client}), SECRETS, TENANTS)
    return TokenPipeline(
        authenticator, grants(), AccessTokens(keys, TENANTS, VirtualClock(), SystemRandomness())
    )


@pytest.fixture
def keys() -> KeyRing:
    return KeyRing(SystemRandomness())


async def test_a_client_says_how_long_its_tokens_live(keys: KeyRing) -> None:
    client = replace(CLIENT, access_token_lifetime=timedelta(seconds=90))

    issued = await pipeline(client, keys).issue(REQUEST)

    assert timedelta(seconds=90) == issued.lifetime


async def test_a_client_may_not_use_a_grant_that_it_is_not_registered_for(keys: KeyRing) -> None:
    client = replace(CLIENT, grant_types=frozenset())

    with pytest.raises(UnauthorizedClient):
        await pipeline(client, keys).issue(REQUEST)


async def test_a_disabled_client_gets_nothing(keys: KeyRing) -> None:
    client = replace(CLIENT, is_enabled=False)

    with pytest.raises(InvalidClient):
        await pipeline(client, keys).issue(REQUEST)


async def test_a_secret_is_hashed_once_whether_the_client_exists_or_not() -> None:
    hashed: list[str] = []

    class CountingHasher(SecretHasher):
        def hash(self, secret: str) -> bytes:
            hashed.append(secret)
            return super().hash(secret)

    authenticator = ClientAuthenticator(MemoryRecords({}), CountingHasher(b"0" * 32), TENANTS)
    hashed.clear()

    with pytest.raises(InvalidClient):
        await authenticator.authenticate(REQUEST.credentials, TENANTS.default)

    assert hashed == ["right"]


def test_a_secret_is_not_shown() -> None:
    shown = f"{REQUEST!r} {CLIENT!r}"

    assert "right" not in shown
    assert repr(CLIENT.secret_hash) not in shown
