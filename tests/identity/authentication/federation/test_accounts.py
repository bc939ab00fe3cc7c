"""Accounts of users who signed in at an upstream provider."""

from dataclasses import replace
from typing import Any

import pytest

from identity.authentication.authorization.sign_in import SignedIn
from identity.authentication.passkeys.passkey import Passkey, owned_name
from identity.directory.pending_registration import PendingRegistration
from identity.directory.provider import PROVIDER_LINKS, ClaimMapping
from identity.directory.user import USERS, AccountType, User, UserId
from identity.foundation.events.event import EVENTS
from identity.foundation.events.kinds import EventType
from tests.identity.authentication.federation.flow import Flow, response_target
from tests.identity.authentication.federation.upstream import upstream
from tests.identity.browsers import NOON, PASSWORD_HASH, alice

MAPPINGS = (
    ClaimMapping(claim="realm.roles", value="boss", roles=("admin",)),
    ClaimMapping(claim="department", value="sales", groups=("sellers",)),
)


@pytest.fixture
async def flow() -> Flow:
    flow = Flow()
    await flow.furnish(mappings=MAPPINGS)
    return flow


async def people(flow: Flow) -> dict[str, User]:
    found = await flow.provider.store.of(USERS).page(flow.provider.tenant.tenant_id)
    return {user.email: user for user in found}


def error_of(arrived: SignedIn) -> str:
    return dict(response_target(arrived).parameters).get("error", "")


async def arrived_through(flow: Flow, provider_id: str) -> SignedIn:
    asked, browser = await flow.leave(provider_id)
    return await flow.arrive(browser, provider_id, state=asked["state"])


async def test_a_stranger_gets_an_account(flow: Flow) -> None:
    flow.answers.claims = {"email": "Ada@Example.com", "given_name": "Ada", "family_name": "Lovelace"}

    await flow.sign_in()

    user = (await people(flow))["ada@example.com"]
    assert (user.given_name, user.family_name, user.is_email_verified) == ("Ada", "Lovelace", True)
    assert (user.account_type, user.password_hash) == (AccountType.FEDERATED, "")


@pytest.mark.parametrize("said", [None, False, "true", 1])
async def test_an_address_that_nobody_vouches_for_is_not_verified(flow: Flow, said: object) -> None:
    flow.answers.claims = {"email_verified": said}

    await flow.sign_in()

    assert not (await people(flow))["alice@example.com"].is_email_verified


@pytest.mark.parametrize("email", [None, "", "no address", "a@b@c", "<a>@example.com", 5])
async def test_without_an_address_there_is_no_account(flow: Flow, email: object) -> None:
    flow.answers.claims = {"email": email}

    assert error_of(await flow.sign_in()) == "access_denied"
    assert await people(flow) == {}


async def test_where_strangers_get_no_account_they_are_refused(flow: Flow) -> None:
    await flow.add(upstream("p2", links=True))

    assert error_of(await arrived_through(flow, "p2")) == "access_denied"
    assert await people(flow) == {}


async def test_a_person_is_known_by_provider_and_subject_alone(flow: Flow) -> None:
    await flow.sign_in()
    flow.answers.claims = {"email": "renamed@example.com"}
    again = await flow.sign_in()
    flow.answers.claims = {"sub": "bob-there", "email": "bob@example.com"}
    other = await flow.sign_in()

    found = await people(flow)
    assert set(found) == {"alice@example.com", "bob@example.com"}
    assert again.session is not None
    assert other.session is not None
    assert again.session.user_id == found["alice@example.com"].id
    assert other.session.user_id == found["bob@example.com"].id


async def test_the_same_subject_of_another_provider_is_somebody_else(flow: Flow) -> None:
    await flow.sign_in()
    await flow.add(upstream("p2", onboards=True))
    flow.answers.claims = {"email": "other@example.com"}

    await arrived_through(flow, "p2")

    assert set(await people(flow)) == {"alice@example.com", "other@example.com"}


async def test_a_verified_address_links_the_account_that_has_it(flow: Flow) -> None:
    await flow.provider.admit(alice())

    arrived = await flow.sign_in()

    user = (await people(flow))["alice@example.com"]
    assert arrived.session is not None
    assert arrived.session.user_id == "alice"
    assert user.password_hash == PASSWORD_HASH


REFUSED: list[Any] = [
    pytest.param({"email_verified": False}, {}, id="not verified"),
    pytest.param({"email_verified": "true"}, {}, id="verified by a text"),
    pytest.param({"email_verified": None}, {}, id="nothing said"),
    pytest.param({}, {"links": False}, id="a provider that links nobody"),
]


@pytest.mark.parametrize(("claims", "fields"), REFUSED)
async def test_an_address_that_is_not_vouched_for_leads_to_no_account(
    flow: Flow, claims: dict[str, Any], fields: dict[str, Any]
) -> None:
    await flow.provider.admit(alice())
    await flow.add(upstream("p2", **({"onboards": True, "links": True} | fields)))
    flow.answers.claims = claims

    assert error_of(await arrived_through(flow, "p2")) == "access_denied"
    assert await flow.provider.store.of(PROVIDER_LINKS).page(flow.provider.tenant.tenant_id) == []


async def test_a_domain_of_the_tenant_vouches_for_its_addresses(flow: Flow) -> None:
    await flow.provider.admit(alice())
    flow.answers.claims = {"email_verified": None}
    flow.domains.verified = {"example.com": "p2"}
    assert error_of(await flow.sign_in()) == "access_denied"

    flow.domains.verified = {"example.com": "p1"}

    assert (await flow.sign_in()).session is not None


@pytest.mark.parametrize("fields", [{"roles": ("admin",)}, {"permissions": ("identity:write",)}])
async def test_no_provider_takes_the_place_of_an_administrator(flow: Flow, fields: dict[str, Any]) -> None:
    await flow.provider.admit(alice(**fields))

    assert error_of(await flow.sign_in()) == "access_denied"


async def test_whoever_took_an_address_before_its_owner_loses_it(flow: Flow) -> None:
    """An attacker registers another user's address, and waits for that user to sign in."""
    await flow.provider.admit(alice(is_email_verified=False))
    flow.provider.confirmation.is_required = False
    waiting = await flow.provider.signed_in()

    await flow.sign_in()

    user = (await people(flow))["alice@example.com"]
    assert (user.is_email_verified, user.password_hash) == (True, "")
    assert user.account_type is AccountType.FEDERATED
    assert await flow.provider.session(waiting) is None


async def test_r25_nothing_is_left_of_what_somebody_registered_before_the_owner_came(flow: Flow) -> None:
    eve = alice(
        is_email_verified=False,
        is_self_registered=True,
        has_passkey=True,
        registration=PendingRegistration(attempt="1", password_hash=PASSWORD_HASH),
    )
    await flow.provider.admit(eve)
    await flow.provider.passkeys.add(passkey_of(eve))

    await flow.sign_in()

    user = (await people(flow))["alice@example.com"]
    assert (user.is_email_verified, user.password_hash, user.registration) == (True, "", None)
    assert (user.confirmed_at, user.has_passkey) == (NOON, False)
    assert await flow.provider.passkeys.of(flow.provider.tenant, eve.user_id) == []


def passkey_of(user: User) -> Passkey:
    return Passkey(
        tenant_id=user.tenant_id,
        id="credential",
        user_id=user.user_id,
        name="laptop",
        rp_id="id.example.com",
        public_key=b"key",
        sign_count=0,
        registered_at=NOON,
        owned_name=owned_name(user.user_id, "laptop"),
    )


async def test_an_account_that_is_disabled_stays_so(flow: Flow) -> None:
    await flow.sign_in()
    user = (await people(flow))["alice@example.com"]
    await flow.provider.users.replace(replace(user, is_enabled=False))

    assert error_of(await flow.sign_in()) == "access_denied"


async def test_roles_and_groups_follow_the_claims_and_nothing_else_changes(flow: Flow) -> None:
    await flow.provider.admit(alice(id="root", email="root@example.com", roles=("admin",)))
    flow.answers.claims = {"realm": {"roles": ["x", "boss"]}, "department": "sales"}
    await flow.sign_in()
    user = (await people(flow))["alice@example.com"]
    given = (user.roles, user.groups)
    await flow.provider.users.replace(replace(user, roles=("own", *user.roles)))

    flow.answers.claims = {"realm": {"roles": "boss no more"}, "department": ["sales", "other"]}
    await flow.sign_in()

    after = (await people(flow))["alice@example.com"]
    events = await flow.provider.store.of(EVENTS).page(flow.provider.tenant.tenant_id)
    assert given == (("admin",), ("sellers",))
    assert (after.roles, after.groups) == (("own",), ("sellers",))
    assert EventType.NEW_ADMINISTRATOR in {event.type for event in events}


async def test_an_account_that_is_gone_comes_back_as_a_new_one(flow: Flow) -> None:
    await flow.sign_in()
    before = (await people(flow))["alice@example.com"]
    await flow.provider.store.of(USERS).take(flow.provider.tenant.tenant_id, before.id)

    arrived = await flow.sign_in()

    assert arrived.session is not None
    assert arrived.session.user_id != UserId(before.id)
