"""The FAPI 2.0 Security Profile as a setting of clients and of tenants. The modules of its plan are in tests/certification."""

from datetime import UTC, datetime
from typing import Any

import msgspec
import pytest
from aiohttp import encode_basic_auth
from joserfc.jwk import ECKey, RSAKey

from gnomon.identity.v1 import caller_pb2, tenant_service_pb2
from gnomon.identity.v1.tenant_service_pb2_grpc import TenantServiceStub
from identity.crypto.signed_jwt import parse
from identity.directory.client import CLIENTS
from identity.directory.client import Client as ClientRecord
from identity.directory.tenants.settings import TenantSettings
from identity.directory.tenants.tenant_record import DEPLOYMENT, TENANTS, TenantRecord
from identity.foundation.vocabulary import SecurityProfile
from server.platform.call import TenantId
from server.platform.records.contents import Contents
from tests.certification.test_fapi2 import Client
from tests.edge.oidc.tenants.world import CALLBACK, World
from tests.identity.deployment import SECRET
from tests.people.person import Arrival, Page

KEYS = {
    "keys": [each.as_dict(private=False) for each in (ECKey.generate_key("P-256"), RSAKey.generate_key(2048))]
}
BANK: dict[str, Any] = {
    "id": "bank",
    "enabled": True,
    "confidential": True,
    "redirect_uris": [CALLBACK],
    "flows_enabled": ["authorization_code"],
    "scopes": ["openid"],
    "default_scopes": [],
    "access_token_signed_response_alg": "ES256",
    "id_token_signed_response_alg": "EdDSA",
    "jwks": KEYS,
    "security_profile": "fapi2",
}


async def demand(provider: World, profile: str, tenant: str = "default") -> None:
    settings = {"clients": {"security_profile": profile}}
    answer = await provider.administer("PUT", f"tenants/{tenant}/settings", json=settings)
    assert answer.status == 200, await answer.text()


async def own_token(provider: World, tenant: str = "") -> int:
    """Ask for a token of `operator`, a client of the default tenant with a secret that all tenants serve."""
    answer = await provider.http.post(
        f"{provider.issuer(tenant)}oidc/token",
        data={"grant_type": "client_credentials"},
        headers={"Authorization": encode_basic_auth("operator", SECRET)},
    )
    return answer.status


async def test_a_tenant_that_demands_the_profile_admits_no_secret_and_no_public_client(
    provider: World,
) -> None:
    await provider.add_user("default", "alice")
    await provider.add_app("default")
    assert await own_token(provider) == 200

    await demand(provider, "fapi2")

    assert [await own_token(provider), await own_token(provider, "acme")] == [401, 200]
    outcome = await provider.person("", lambda person: person.visit(provider.authorization()))
    assert isinstance(outcome, Arrival)
    assert outcome.parameters["error"] == "invalid_request"


async def test_the_demand_ends_with_the_setting_and_changes_no_client(provider: World) -> None:
    await provider.add_user("acme", "alice")
    await provider.add_app("acme")
    address = "acme/clients/app"
    before = await (await provider.administer("GET", address)).json()
    await demand(provider, "fapi2", "acme")
    assert await own_token(provider, "acme") == 401

    await demand(provider, "none", "acme")

    assert await own_token(provider, "acme") == 200
    assert await (await provider.administer("GET", address)).json() == before
    assert await provider.access_token("acme")


@pytest.mark.parametrize("profile", ["fapi2", "fapi2_message_signing"])
async def test_an_edge_that_does_not_know_the_profile_does_not_end_it(provider: World, profile: str) -> None:
    await demand(provider, profile, "acme")
    token = (await provider.deployment.issue()).access_token
    older = tenant_service_pb2.UpdateTenantSettingsRequest(
        caller=caller_pb2.Caller(access_token=token),
        id="acme",
        settings=tenant_service_pb2.TenantSettings(email_first="off", confirmation_link_hours=24),
    )

    await TenantServiceStub(provider.deployment.channel).UpdateTenantSettings(older)

    kept = await (await provider.administer("GET", "tenants/acme/settings")).json()
    assert kept["sign_in"] == {
        "email_first": "off",
        "email_codes": "off",
        "sign_in_notice": "new_device",
        "support_role": "",
        "support_minutes": 30,
    }
    assert kept["clients"] == {"security_profile": profile}


def test_a_program_of_the_version_before_applies_the_profile_that_it_knows() -> None:
    client = ClientRecord(
        tenant_id=TenantId("acme"), id="bank", security_profile=SecurityProfile.FAPI_2_MESSAGE_SIGNING
    )
    settings = TenantSettings().with_profile(SecurityProfile.FAPI_2_MESSAGE_SIGNING)
    tenant = TenantRecord(
        tenant_id=DEPLOYMENT,
        id="acme",
        name="",
        settings=settings,
        created_at=datetime(2030, 1, 1, tzinfo=UTC),
    )

    stored = msgspec.json.decode(Contents(CLIENTS).written(client))
    stored_tenant = msgspec.json.decode(Contents(TENANTS).written(tenant))

    assert stored["security_profile"] == stored_tenant["settings"]["security_profile"] == "fapi2"
    assert (
        Contents(CLIENTS).read(msgspec.json.encode(stored).decode()).security_profile
        is SecurityProfile.FAPI_2_MESSAGE_SIGNING
    )
    assert (
        Contents(TENANTS).read(msgspec.json.encode(stored_tenant).decode()).security_profile
        is SecurityProfile.FAPI_2_MESSAGE_SIGNING
    )


async def test_pages_of_the_provider_go_on_working(provider: World) -> None:
    await provider.add_user("default", "alice")
    await demand(provider, "fapi2")

    page = await provider.person("", lambda person: person.visit(f"{provider.issuer()}account"))

    assert isinstance(page, Page)
    assert page.status == 200


async def test_a_client_of_such_a_tenant_gets_tokens_of_a_permitted_algorithm(provider: World) -> None:
    await provider.add_user("default", "alice")
    client = Client(provider, "fapi")
    await client.register()
    kept = await (await provider.administer("GET", "clients/fapi")).json()
    free = {
        name: value
        for name, value in kept.items()
        if name not in {"access_token_alg", "id_token_alg", "access_token_signed_response_alg"}
    }
    changed = await provider.administer(
        "PUT",
        "clients/fapi",
        json={**free, "security_profile": "none", "id_token_signed_response_alg": "RS256"},
    )
    assert changed.status == 200, await changed.text()
    before = await client.tokens()
    await demand(provider, "fapi2")

    tokens = await client.tokens()

    assert parse(before["id_token"]).header["alg"] == "RS256"
    assert [parse(tokens[name]).header["alg"] for name in ("id_token", "access_token")] == ["ES256", "ES256"]


@pytest.mark.parametrize(
    "change",
    [
        {"jwks": None},
        {"confidential": False, "token_endpoint_auth_method": "none", "challenges": ["S256"]},
        {"token_endpoint_auth_method": "client_secret_basic"},
        {"id_token_signed_response_alg": "RS256"},
        {"access_token_signed_response_alg": "RS512"},
        {"userinfo_signed_response_alg": "RS256"},
        {"token_endpoint_auth_signing_alg": "RS256"},
        {"request_object_signing_alg": "RS256"},
        {"auth_code_lifetime": 61},
        {"access_token_lifetime": 3601},
        {"security_profile": "fapi3"},
        {
            "security_profile": "fapi2_message_signing",
            "jwks": None,
            "token_endpoint_auth_method": "tls_client_auth",
            "tls_client_auth_subject_dn": "CN=bank",
        },
    ],
)
async def test_settings_that_the_profile_overrides_are_refused(
    provider: World, change: dict[str, object]
) -> None:
    new = {"id": "bank", "confidential": True, "redirect_uris": [CALLBACK]}
    assert (await provider.administer("POST", "clients", json=new)).status == 200
    assert (await provider.administer("PUT", "clients/bank", json=BANK)).status == 200

    answer = await provider.administer("PUT", "clients/bank", json=BANK | change)

    assert answer.status == 400
