import json

import pytest
from joserfc import jws

from identity.clients.client import CLIENTS
from identity.logout.logout_token import LogoutTokens
from identity.logout.records import BackChannelLogout
from identity.randomness import SystemRandomness
from identity.tenants import Tenant
from server.platform.call import TenantId
from tests.identity.deployment import ISSUER, NOON, Deployment


@pytest.mark.parametrize("issuer", [f"{ISSUER}acme/", "https://login.acme.example/auth/v1/"])
async def test_t22_a_logout_token_is_of_the_tenants_issuer(deployment: Deployment, issuer: str) -> None:
    acme = TenantId("acme")
    client = await deployment.store.of(CLIENTS).get(TenantId("default"), "worker")
    logout = BackChannelLogout(
        tenant_id=acme, id="1", client_id="worker", user_id="alice", sid="s1", attempts=0, next_at=NOON
    )
    tokens = LogoutTokens(deployment.identity.keys, clock=deployment.clock, randomness=SystemRandomness())
    assert client is not None

    token = await tokens.issue(Tenant(acme, issuer), client, logout)

    assert json.loads(jws.extract_compact(token.encode()).payload)["iss"] == issuer
