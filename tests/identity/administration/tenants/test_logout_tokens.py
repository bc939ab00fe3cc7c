import json

import pytest
from joserfc import jws

from identity.access.sessions.logout_records import BackChannelLogout
from identity.directory.client import CLIENTS
from identity.foundation.randomness import SystemRandomness
from identity.foundation.tenants import Tenant
from identity.protocol.logout.logout_token import LogoutTokens
from server.platform.call import TenantId
from tests.identity.deployment import ISSUER, NOON, Deployment
from tests.identity.protocol.provider import SUBJECTS


@pytest.mark.parametrize("issuer", [f"{ISSUER}acme/", "https://login.acme.example/auth/v1/"])
async def test_t22_a_logout_token_is_of_the_tenants_issuer(deployment: Deployment, issuer: str) -> None:
    acme = TenantId("acme")
    client = await deployment.store.of(CLIENTS).get(TenantId("default"), "worker")
    logout = BackChannelLogout(
        tenant_id=acme, id="1", client_id="worker", user_id="alice", sid="s1", attempts=0, next_at=NOON
    )
    tokens = LogoutTokens(
        deployment.identity.keys,
        SUBJECTS,
        clock=deployment.clock,
        randomness=SystemRandomness(),
    )
    assert client is not None

    token = await tokens.issue(Tenant(acme, issuer), client, logout)

    assert json.loads(jws.extract_compact(token.encode()).payload)["iss"] == issuer
