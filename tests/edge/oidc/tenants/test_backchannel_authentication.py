"""A client asks for a user who is elsewhere, over HTTP: CIBA Core 1.0."""

from datetime import timedelta
from typing import Any

import pytest

from identity.access.backchannel import BACKCHANNEL_REQUESTS
from identity.foundation.vocabulary import AuthenticationMethod, GrantType
from server.platform.call import TenantId
from tests.edge.oidc.tenants.world import EMAIL, World
from tests.people.person import Page, Person

CIBA = "urn:openid:params:grant-type:ciba"


class Bank:
    """A client of a tenant that asks for Alice."""

    def __init__(self, provider: World, secret: str, tenant: str = "") -> None:
        self.provider = provider
        self.tenant = tenant
        self.proof = {"client_id": "bank", "client_secret": secret}

    async def send(self, path: str, form: dict[str, str]) -> tuple[int, Any]:
        answer = await self.provider.http.post(
            f"{self.provider.issuer(self.tenant)}{path}", data=form | self.proof
        )
        return answer.status, await answer.json()

    async def start(self, **parameters: str) -> Any:
        form = {"scope": "openid email", "login_hint": EMAIL} | parameters
        status, body = await self.send("oidc/bc-authorize", form)
        assert status == 200, body
        return body

    async def poll(self, auth_req_id: str) -> tuple[int, Any]:
        return await self.send("oidc/token", {"grant_type": CIBA, "auth_req_id": auth_req_id})

    async def decide(self, decision: str) -> Page:
        return await self.provider.person(self.tenant, lambda person: decided(person, decision))


def decided(person: Person, decision: str) -> Page:
    """Sign in for the page with the requests, and press a button of the only one."""
    page = person.visit(f"{person.issuer}sign-in-requests")
    assert isinstance(page, Page)
    listed = person.submit(page)
    assert isinstance(listed, Page)
    answered = person.answer(listed, decision)
    assert isinstance(answered, Page)
    return answered


async def registered(provider: World) -> Bank:
    created = await provider.administer(
        "POST", "clients", json={"id": "bank", "name": "The bank", "confidential": True, "redirect_uris": []}
    )
    body = {
        "id": "bank",
        "name": "The bank",
        "confidential": True,
        "redirect_uris": [],
        "enabled": True,
        "flows_enabled": [CIBA, "refresh_token"],
        "scopes": ["openid", "email"],
        "default_scopes": ["openid"],
        "challenges": ["S256"],
        "token_endpoint_auth_method": "client_secret_post",
    }
    kept = await provider.administer("PUT", "clients/bank", json=body)
    assert kept.status == 200, await kept.text()
    return Bank(provider, (await created.json())["secret"])


@pytest.fixture
async def bank(provider: World) -> Bank:
    await provider.add_user("default", "alice")
    return await registered(provider)


async def test_a_user_approves_and_the_client_gets_tokens(bank: Bank) -> None:
    started = await bank.start(binding_message="XQ-17")
    pending = await bank.poll(started["auth_req_id"])

    page = await bank.decide("accept")
    bank.provider.deployment.clock.advance(timedelta(seconds=started["interval"]))
    status, tokens = await bank.poll(started["auth_req_id"])

    assert (pending[0], pending[1]["error"]) == (400, "authorization_pending")
    assert "Request approved" in page.words
    assert status == 200
    assert tokens.keys() >= {"access_token", "id_token", "refresh_token", "expires_in"}
    status_of_user_info = await bank.provider.with_token("oidc/userinfo", tokens["access_token"])
    assert (await status_of_user_info.json())["email"] == EMAIL


async def test_a_user_declines_and_the_client_is_told(bank: Bank) -> None:
    started = await bank.start()

    page = await bank.decide("decline")

    status, body = await bank.poll(started["auth_req_id"])
    assert "Request declined" in page.words
    assert (status, body["error"]) == (400, "access_denied")


async def test_metadata_names_the_endpoint_and_the_grant(provider: World) -> None:
    metadata: dict[str, Any] = await provider.metadata()

    assert metadata["backchannel_authentication_endpoint"] == f"{provider.issuer()}oidc/bc-authorize"
    assert CIBA in metadata["grant_types_supported"]
    assert metadata["backchannel_user_code_parameter_supported"] is False


async def test_a_user_of_another_tenant_is_never_reached(bank: Bank) -> None:
    """The tenant has a user with the same address."""
    provider = bank.provider
    await provider.add_user("acme", "alice-of-acme")

    await bank.start()
    found = await provider.person("acme", listed)

    [request] = await provider.store.of(BACKCHANNEL_REQUESTS).page(TenantId("default"))
    assert request.user_id == "alice"
    assert "No request waits for you." in found.words
    assert await provider.store.of(BACKCHANNEL_REQUESTS).page(TenantId("acme")) == []


def listed(person: Person) -> Page:
    page = person.visit(f"{person.issuer}sign-in-requests")
    assert isinstance(page, Page)
    found = person.submit(page)
    assert isinstance(found, Page)
    return found


@pytest.mark.parametrize(
    "change",
    [
        pytest.param({"confidential": False, "token_endpoint_auth_method": "none"}, id="public"),
        pytest.param({"subject_type": "pairwise", "redirect_uris": ["https://a.example/cb"]}, id="pairwise"),
    ],
)
async def test_only_a_confidential_client_with_public_subjects_may_ask(
    bank: Bank, change: dict[str, object]
) -> None:
    body = {
        "id": "bank",
        "confidential": True,
        "redirect_uris": [],
        "enabled": True,
        "flows_enabled": [CIBA],
        "scopes": ["openid"],
        "default_scopes": ["openid"],
        "challenges": ["S256"],
    }

    answer = await bank.provider.administer("PUT", "clients/bank", json=body | change)

    assert answer.status == 400
    assert "CIBA" in await answer.text() or CIBA in await answer.text()


async def test_a_public_client_of_an_older_version_may_not_ask(provider: World) -> None:
    await provider.add_app(
        "default",
        grant_types=frozenset({GrantType.AUTHORIZATION_CODE}),
        token_endpoint_auth_method=AuthenticationMethod.NONE,
    )
    form = {"client_id": "app", "scope": "openid", "login_hint": EMAIL}

    answer = await provider.http.post(f"{provider.issuer()}oidc/bc-authorize", data=form)

    assert (answer.status, (await answer.json())["error"]) == (400, "unauthorized_client")
