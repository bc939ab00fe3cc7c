"""Logout tokens of an upstream provider, one attack for each check: OpenID Connect Back-Channel Logout 1.0 §2.6."""

import asyncio
import base64
from datetime import timedelta
from typing import Any

import pytest
from joserfc.jwk import ECKey, OctKey

from identity.access.sessions.logout_records import BACK_CHANNEL_LOGOUTS
from identity.access.sessions.session import SESSIONS, Session, UpstreamAuthentication
from identity.authentication.federation.logout import EVENT, UpstreamLogout
from identity.delivery.http.published_keys import PublishedKeys
from identity.directory.client import ClientId
from identity.directory.provider import PROVIDERS
from identity.directory.providers import Providers
from identity.directory.user import UserId
from identity.foundation.errors import InvalidRequest
from identity.foundation.events.event import EVENTS
from identity.foundation.events.kinds import EventType
from identity.foundation.single_use import SingleUse
from tests.identity.authentication.federation.upstream import (
    CLIENT_ID,
    ISSUER,
    KEYS,
    KEYS_URI,
    published,
    signed,
    upstream,
)
from tests.identity.browsers import ADDRESS, NOON, Provider, app
from tests.identity.documents import KnownDocuments

NOW = int(NOON.timestamp())
TOLD = {
    "iss": ISSUER,
    "aud": CLIENT_ID,
    "iat": NOW,
    "exp": NOW + 120,
    "jti": "j1",
    "sub": "alice-there",
    "sid": "s1",
    "events": {EVENT: {}},
}


class World:
    """Our provider, and an upstream provider through which users signed in here."""

    def __init__(self) -> None:
        self.provider = Provider()
        self.documents = KnownDocuments({KEYS_URI: published(*KEYS.values())})
        self.logout = self.node()

    def node(self) -> UpstreamLogout:
        """Return the logout endpoint of one process of the deployment."""
        provider = self.provider
        return UpstreamLogout(
            Providers(provider.store),
            PublishedKeys(self.documents, provider.clock),
            single_use=SingleUse(provider.store),
            sessions=provider.sessions,
            termination=provider.termination,
            events=provider.events,
            clock=provider.clock,
        )

    async def signed_in(
        self, sub: str = "alice-there", *, sid: str = "s1", provider_id: str = "p1"
    ) -> Session:
        _, session = await self.provider.sessions.sign_in(
            self.provider.tenant,
            None,
            UserId("alice"),
            amr=("fed",),
            acr="",
            peer_address=ADDRESS,
            vouching=UpstreamAuthentication(provider_id=provider_id, sub=sub, sid=sid)
            if provider_id
            else None,
        )
        return await self.provider.sessions.note_client(session, ClientId("app"))

    async def receive(self, **claims: Any) -> None:
        await self.logout.receive(self.provider.tenant, signed(TOLD | claims))

    async def sids(self) -> set[str]:
        """Return the ids of the live sessions."""
        return {session.sid for session in await self.provider.store.of(SESSIONS).page(self.tenant_id)}

    @property
    def tenant_id(self) -> Any:
        return self.provider.tenant.tenant_id


@pytest.fixture
async def world() -> World:
    world = World()
    await world.provider.store.of(PROVIDERS).insert(upstream())
    await world.provider.register(app(backchannel_logout_uri="https://app.example.com/back-channel"))
    return world


@pytest.mark.parametrize("alg", KEYS)
async def test_the_session_that_the_provider_means_ends(world: World, alg: str) -> None:
    await world.signed_in()

    await world.logout.receive(world.provider.tenant, signed(TOLD, alg=alg))

    assert await world.sids() == set()


async def test_everything_that_hangs_on_the_session_ends_with_it(world: World) -> None:
    session = await world.signed_in()

    await world.receive()

    told = await world.provider.store.of(BACK_CHANNEL_LOGOUTS).find(world.tenant_id, "due", "due")
    events = await world.provider.store.of(EVENTS).page(world.tenant_id)
    assert world.provider.token_sets.sids == [session.sid]
    assert [(logout.client_id, logout.sid) for logout in told] == [("app", session.sid)]
    assert [(event.type, event.user_id) for event in events] == [(EventType.FORCED_LOGOUT, "alice")]


MEANT = [
    pytest.param({"sid": None}, {"here", "there", "nameless"}, id="all of a person"),
    pytest.param({"sub": None}, {"here"}, id="one session"),
    pytest.param({}, {"here", "nameless"}, id="one session of a person"),
    pytest.param({"sid": "unknown"}, {"nameless"}, id="a session of a person that is not known"),
    pytest.param({"sub": "bob-there"}, set[str](), id="a session that is another person's"),
]


@pytest.mark.parametrize(("claims", "ended"), MEANT)
async def test_no_other_session_ends(world: World, claims: dict[str, Any], ended: set[str]) -> None:
    sessions = {
        "here": await world.signed_in(),
        "there": await world.signed_in(sid="s2"),
        "nameless": await world.signed_in(sid=""),
        "of somebody else": await world.signed_in("carol-there", sid="s3"),
        "of another provider": await world.signed_in(provider_id="p2"),
        "of a password": await world.signed_in(provider_id=""),
    }

    await world.receive(**claims)

    left = await world.sids()
    assert {name for name, session in sessions.items() if session.sid not in left} == ended


TAKEN: list[Any] = [
    pytest.param({}, {"typ": "logout+jwt"}, id="its own type"),
    pytest.param({}, {"typ": "JWT"}, id="the type of every JWT"),
    pytest.param({"aud": ["other", CLIENT_ID]}, {}, id="for several"),
    pytest.param({"iat": NOW + 5, "exp": NOW + 6}, {}, id="a clock that is ahead"),
    pytest.param({"iat": NOW - 124, "exp": NOW - 4}, {}, id="a clock that is behind"),
    pytest.param(
        {"events": {EVENT: {}, "https://other.example/event": {}}}, {}, id="another event beside it"
    ),
]


@pytest.mark.parametrize(("claims", "header"), TAKEN)
async def test_a_token_that_holds_is_taken(
    world: World, claims: dict[str, Any], header: dict[str, Any]
) -> None:
    await world.signed_in()

    await world.logout.receive(world.provider.tenant, signed(TOLD | claims, header=header))

    assert await world.sids() == set()


FORGED = ECKey.generate_key("P-256", {"kid": "ES256"})
REFUSED: list[Any] = [
    pytest.param(signed(TOLD, key=FORGED), id="signed by somebody else"),
    pytest.param(signed(TOLD, header={"kid": "unknown"}), id="a key that is not known"),
    pytest.param(signed(TOLD, header={"kid": None}), id="no key named"),
    pytest.param(
        signed(TOLD, alg="HS256", key=OctKey.import_key(published(KEYS["ES256"])), header={"kid": "ES256"}),
        id="a published key for a shared secret",
    ),
    pytest.param(signed(TOLD, header={"typ": "at+jwt"}), id="another type"),
    *(
        pytest.param(signed(TOLD | claims), id=name)
        for name, claims in {
            "another issuer": {"iss": "https://evil.example.com"},
            "no issuer": {"iss": None},
            "for another client": {"aud": "other"},
            "for nobody": {"aud": None},
            "issued in the future": {"iat": NOW + 6, "exp": NOW + 60},
            "not valid yet": {"nbf": NOW + 6},
            "no time of issue": {"iat": None},
            "expired": {"iat": NOW - 60, "exp": NOW - 5},
            "good for ever": {"exp": None},
            "good for too long": {"exp": NOW + 121},
            "expired before it was issued": {"iat": NOW + 3, "exp": NOW + 2},
            "no id": {"jti": None},
            "an empty id": {"jti": ""},
            "an id that is too long": {"jti": "x" * 256},
            "about nobody": {"sub": None, "sid": None},
            "a subject that is no text": {"sub": 5},
            "an empty session": {"sid": ""},
            "a subject with NUL": {"sub": "a\0b"},
            "no events": {"events": None},
            "another event": {"events": {"https://other.example/event": {}}},
            "an event that is no object": {"events": {EVENT: True}},
            "events that are a list": {"events": [EVENT]},
            "an ID token, which has a nonce": {"nonce": "n"},
        }.items()
    ),
    pytest.param("nonsense", id="nonsense"),
    pytest.param("", id="nothing"),
]


@pytest.mark.parametrize("token", REFUSED)
async def test_a_token_that_does_not_hold_ends_nothing(world: World, token: str) -> None:
    session = await world.signed_in()

    with pytest.raises(InvalidRequest) as refusal:
        await world.logout.receive(world.provider.tenant, token)

    assert refusal.value.detail == "the logout token is invalid"
    assert await world.sids() == {session.sid}


async def test_a_token_without_a_signature_ends_nothing(world: World) -> None:
    await world.signed_in()
    header, claims, _ = signed(TOLD).split(".")
    none = base64.urlsafe_b64encode(b'{"alg":"none","kid":"ES256"}').decode().rstrip("=")

    for token in (f"{none}.{claims}.", f"{header}.{claims}."):
        with pytest.raises(InvalidRequest):
            await world.logout.receive(world.provider.tenant, token)

    assert len(await world.sids()) == 1


async def test_a_token_is_good_once_over_all_nodes(world: World) -> None:
    nodes = [world.node() for _ in range(8)]
    token = signed(TOLD)

    outcomes = await asyncio.gather(
        *(node.receive(world.provider.tenant, token) for node in nodes), return_exceptions=True
    )

    assert [type(outcome) for outcome in outcomes if outcome is not None] == [InvalidRequest] * 7


async def test_a_replay_does_not_end_the_session_after(world: World) -> None:
    await world.receive()
    session = await world.signed_in()

    for after in (timedelta(), timedelta(seconds=124), timedelta(hours=1)):
        world.provider.clock.advance(after)
        with pytest.raises(InvalidRequest):
            await world.receive()

    assert await world.sids() == {session.sid}


async def test_a_token_that_is_not_ours_costs_its_issuer_nothing(world: World) -> None:
    for claims in ({"iss": "https://evil.example.com"}, {"aud": "other"}):
        with pytest.raises(InvalidRequest):
            await world.receive(**claims)

    assert world.documents.asked == []


async def test_of_another_tenant_nothing_ends(world: World) -> None:
    session = await world.signed_in()

    with pytest.raises(InvalidRequest):
        await world.logout.receive(world.provider.tenants.find("acme"), signed(TOLD))

    assert await world.sids() == {session.sid}


async def test_a_provider_that_is_disabled_still_ends_its_sessions(world: World) -> None:
    records = world.provider.store.of(PROVIDERS)
    await records.take(world.tenant_id, "p1")
    await records.insert(upstream(is_enabled=False))
    await world.signed_in()

    await world.receive()

    assert await world.sids() == set()


async def test_a_provider_that_is_registered_twice_ends_the_sessions_of_both(world: World) -> None:
    await world.provider.store.of(PROVIDERS).insert(upstream("p2"))
    await world.signed_in()
    await world.signed_in(provider_id="p2")

    await world.receive()

    assert await world.sids() == set()


async def test_who_signs_in_by_password_afterwards_is_no_longer_the_providers(world: World) -> None:
    before = await world.signed_in()
    _, after = await world.provider.sessions.sign_in(
        world.provider.tenant, before, UserId("alice"), amr=("pwd",), acr="", peer_address=ADDRESS
    )

    await world.receive()

    assert await world.sids() == {after.sid}
