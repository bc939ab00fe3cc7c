"""Pairwise subjects: OpenID Connect Core 1.0 §8.1."""

import json
from dataclasses import replace
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st
from joserfc import jws

from identity.access.client_authentication.authenticator import ClientCredentials
from identity.access.sessions.hints import IdTokenHints
from identity.access.sessions.logout_records import BackChannelLogout
from identity.access.sessions.session import Session
from identity.access.tokens.claims_of_access_token import access_token_claims
from identity.access.tokens.verification import verified
from identity.crypto.keys.root_secret import RootSecret
from identity.directory.client import CLIENTS, Client, ClientId
from identity.directory.subjects import Subjects, UnknownSubject
from identity.directory.user import UserId
from identity.foundation.errors import InvalidToken
from identity.foundation.tenants import Tenant
from identity.foundation.vocabulary import AuthenticationMethod, GrantType, SubjectType
from identity.protocol.grants.grant import ExchangeRequest, TypedToken
from identity.protocol.grants.token_exchange import ACCESS_TOKEN
from identity.protocol.logout.front_channel import FrontChannel
from identity.protocol.logout.logout_token import LogoutTokens
from identity.protocol.userinfo.presented import PresentedToken
from server.platform.call import TenantId
from tests.identity.protocol.provider import (
    ADA,
    AS_APP,
    SECRET,
    SIGNED_IN,
    SUBJECTS,
    TENANT,
    Provider,
    app,
)

PAIRWISE = SubjectType.PAIRWISE
SECTOR = "https://sector.example.com/clients"


def as_client(client_id: str) -> ClientCredentials:
    return ClientCredentials(AuthenticationMethod.CLIENT_SECRET_BASIC, client_id, SECRET)


@pytest.fixture
async def pairwise(provider: Provider) -> Provider:
    """The client of the tests gets pairwise subjects; `sibling` is of its sector, `stranger` of another one."""
    await provider.change_client(
        subject_type=PAIRWISE, access_token_lifetime=app(provider.secrets).access_token_lifetime
    )
    own = replace(app(provider.secrets), subject_type=PAIRWISE)
    await provider.add_client(replace(own, id="sibling"))
    await provider.add_client(replace(own, id="stranger", redirect_uris=("https://other.example.net/cb",)))
    return provider


async def subject(provider: Provider, client_id: str = "app") -> str:
    """Return the `sub` of an ID token of the client."""
    return str((await claims_of(provider, client_id))["sub"])


async def claims_of(provider: Provider, client_id: str) -> dict[str, Any]:
    """Return the claims of an ID token of the client."""
    client = await provider.records.of(CLIENTS).get(TENANT.tenant_id, client_id)
    assert client is not None
    uri = client.redirect_uris[0]
    code = await provider.code(client_id=ClientId(client_id), redirect_uri=uri)
    issued = await provider.redeem(code, credentials=as_client(client_id), redirect_uri=uri)
    return await provider.claims(issued.id_token)


async def test_clients_of_one_sector_share_subjects_and_others_do_not(pairwise: Provider) -> None:
    subjects = [await subject(pairwise, client_id) for client_id in ("app", "app", "sibling", "stranger")]

    assert subjects[0] == subjects[1] == subjects[2] != subjects[3]
    assert ADA.id not in subjects


async def test_sessions_have_an_id_in_each_sector(pairwise: Provider) -> None:
    clients = ("app", "app", "sibling", "stranger")
    sids = [(await claims_of(pairwise, client_id))["sid"] for client_id in clients]

    assert sids[0] == sids[1] == sids[2] != sids[3]
    assert SIGNED_IN.sid not in sids
    assert sids[0] != await subject(pairwise)


class NoSamlApplications:
    async def uri(self, _tenant: Tenant, _client: Client, _session: Session) -> str:
        return ""


async def test_all_documents_have_the_session_of_the_id_token(pairwise: Provider) -> None:
    issued = await pairwise.sign_in()
    expected = (await pairwise.claims(issued.id_token))["sid"]
    client = await pairwise.clients.find(TENANT, "app")
    assert client is not None
    introspected = await pairwise.introspection.for_client(TENANT, AS_APP, token=issued.access_token)
    session = Session(
        tenant_id=TENANT.tenant_id,
        id="1",
        sid=SIGNED_IN.sid,
        csrf_token="",
        peer_address="",
        idle_until=pairwise.clock.now(),
        clients=(ClientId("app"),),
    )
    await pairwise.change_client(frontchannel_logout_uri="https://app.example.com/front")

    (uri,) = await FrontChannel(pairwise.clients, SUBJECTS, NoSamlApplications()).uris(TENANT, session)

    assert (await pairwise.claims(issued.access_token))["sid"] == introspected["sid"] == expected
    assert parse_qs(urlsplit(uri).query)["sid"] == [expected]
    assert (await logout_claims(pairwise, client))["sid"] == expected


async def test_a_client_without_the_type_gets_the_user_id_as_before(provider: Provider) -> None:
    assert await subject(provider) == ADA.id


async def test_all_documents_about_the_user_have_the_same_subject(pairwise: Provider) -> None:
    issued = await pairwise.sign_in()
    expected = (await pairwise.claims(issued.id_token))["sub"]

    refreshed = await pairwise.refresh(issued.refresh_token)
    presented = PresentedToken(access_token=issued.access_token, is_dpop=False, proof=None)
    user_info = (await pairwise.user_info.of(TENANT, presented)).claims
    introspected = [
        await pairwise.introspection.for_client(TENANT, AS_APP, token=token)
        for token in (issued.access_token, refreshed.refresh_token)
    ]
    forwarded = await pairwise.forward.caller(TENANT, presented)

    tokens = [issued.access_token, refreshed.access_token, refreshed.id_token]
    assert {(await pairwise.claims(token))["sub"] for token in tokens} == {expected}
    assert user_info["sub"] == forwarded.user_id == expected
    assert [found["sub"] for found in introspected] == [expected, expected]


async def test_no_document_contains_the_user_id(pairwise: Provider) -> None:
    await pairwise.change_user(picture_id="p1")
    issued = await pairwise.sign_in()

    presented = PresentedToken(access_token=issued.access_token, is_dpop=False, proof=None)
    documents: list[Any] = [await pairwise.claims(token) for token in (issued.id_token, issued.access_token)]
    documents.append((await pairwise.user_info.of(TENANT, presented)).claims)
    documents.append(await pairwise.introspection.for_client(TENANT, AS_APP, token=issued.access_token))

    assert ADA.id not in repr(documents)
    assert "username" not in documents[-1]


async def test_a_token_exchange_gives_the_subject_of_the_new_clients_sector(pairwise: Provider) -> None:
    await pairwise.change_client(may_act=("stranger",))
    issued = await pairwise.sign_in()

    exchanged = await pairwise.ask(
        GrantType.TOKEN_EXCHANGE,
        credentials=as_client("stranger"),
        exchange=ExchangeRequest(subject=TypedToken(issued.access_token, ACCESS_TOKEN)),
    )

    claims = await pairwise.claims(exchanged.access_token)
    assert claims["sub"] == await subject(pairwise, "stranger")
    assert await pairwise.is_active(exchanged.access_token)


async def test_a_hint_names_the_user_behind_the_pairwise_subject(pairwise: Provider) -> None:
    hints = IdTokenHints(
        lambda token, tenant: verified(token, tenant, pairwise.keys), pairwise.clients, SUBJECTS
    )
    issued = await pairwise.sign_in()

    hint = await hints.read(issued.id_token, TENANT)

    assert (hint.client_id, hint.user_id) == ("app", ADA.id)


async def test_tokens_of_another_sector_are_void_after_a_change(pairwise: Provider) -> None:
    hints = IdTokenHints(
        lambda token, tenant: verified(token, tenant, pairwise.keys), pairwise.clients, SUBJECTS
    )
    issued = await pairwise.sign_in()

    await pairwise.change_client(sector_identifier_uri=SECTOR)

    assert not await pairwise.is_active(issued.access_token)
    with pytest.raises(InvalidToken):
        await hints.read(issued.id_token, TENANT)


async def test_a_logout_token_has_the_pairwise_subject(pairwise: Provider) -> None:
    client = await pairwise.clients.find(TENANT, "app")
    assert client is not None

    assert (await logout_claims(pairwise, client))["sub"] == await subject(pairwise)


async def logout_claims(pairwise: Provider, client: Client) -> dict[str, Any]:
    tokens = LogoutTokens(pairwise.keys, SUBJECTS, clock=pairwise.clock, randomness=pairwise.randomness)
    logout = BackChannelLogout(
        tenant_id=TENANT.tenant_id,
        id="1",
        client_id="app",
        user_id=ADA.id,
        sid=SIGNED_IN.sid,
        attempts=0,
        next_at=pairwise.clock.now(),
    )

    token = await tokens.issue(TENANT, client, logout)
    return dict(json.loads(jws.extract_compact(token.encode()).payload))


async def test_the_process_api_finds_the_user_of_a_pairwise_token(pairwise: Provider) -> None:
    issued = await pairwise.sign_in()
    claims = access_token_claims(await pairwise.claims(issued.access_token))

    found = await pairwise.active.check(claims, TENANT)

    assert found.user is not None
    assert (found.user.id, found.claims.sub) == (ADA.id, await subject(pairwise))


@pytest.mark.parametrize("azp", ["stranger", "nobody", ""])
async def test_a_pairwise_subject_means_nothing_without_its_client(pairwise: Provider, azp: str) -> None:
    issued = await pairwise.sign_in()
    claims = access_token_claims({**await pairwise.claims(issued.access_token), "azp": azp})

    with pytest.raises(InvalidToken):
        await pairwise.active.check(claims, TENANT)


def client(sector: str) -> Client:
    return Client(
        tenant_id=TENANT.tenant_id,
        id="app",
        subject_type=PAIRWISE,
        sector_identifier_uri=f"https://{sector}/list",
    )


@given(st.text(max_size=64).filter(bool), st.sampled_from(["a.example", "b.example"]))
def test_a_subject_leads_back_to_its_user(user_id: str, sector: str) -> None:
    subject = SUBJECTS.of(TENANT, client(sector), UserId(user_id))

    assert SUBJECTS.user_of(TENANT, client(sector), subject) == user_id


@given(st.text(max_size=120))
def test_no_invented_subject_has_a_user(text: str) -> None:
    with pytest.raises(UnknownSubject):
        SUBJECTS.user_of(TENANT, client("a.example"), text)


def test_tenants_and_deployments_have_keys_of_their_own() -> None:
    other_tenant = Tenant(TenantId("umbrella"), TENANT.issuer)
    other_deployment = Subjects(RootSecret(b"t" * 32).derived)
    user_id = UserId(ADA.id)

    subjects = {
        SUBJECTS.of(TENANT, client("a.example"), user_id),
        SUBJECTS.of(other_tenant, client("a.example"), user_id),
        other_deployment.of(TENANT, client("a.example"), user_id),
    }

    assert len(subjects) == 3
