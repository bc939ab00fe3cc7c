import asyncio
import json
from dataclasses import replace
from datetime import timedelta

import pytest

from identity.authentication.passkeys.authenticators import code_answered
from identity.authentication.passkeys.ceremony import Purpose
from identity.directory.links.link import LINKS, Usage
from identity.directory.user import AccountType
from identity.people.reset.magic_links import ShownLink
from server.platform.errors import (
    InvalidArgument,
    InvalidState,
    PermissionDenied,
    ResourceExhausted,
    Unauthenticated,
)
from tests.identity.administration.administration import ALICE
from tests.identity.authentication.passkeys.authenticator import SoftwareAuthenticator
from tests.identity.browsers import ADDRESS, NOON, PASSWORD
from tests.identity.people.reset.resets import NEW_ACCOUNT, NEW_PASSWORD, Resets

ORIGIN = "https://id.example.com"


async def test_whoever_has_the_link_chooses_a_password(resets: Resets) -> None:
    location = await resets.set_password(await resets.open(await resets.issue()))

    assert location == resets.tenant.issuer
    assert await resets.has_password(NEW_PASSWORD)
    assert not await resets.has_password(PASSWORD)


async def test_a_password_has_to_be_one_that_the_person_may_have(resets: Resets) -> None:
    held = await resets.open(await resets.issue())

    for refused in ("short", PASSWORD, "alice@example.com"):
        with pytest.raises(InvalidArgument):
            await resets.set_password(held, refused)

    await resets.set_password(held)


async def test_of_many_who_use_a_link_at_once_one_succeeds(resets: Resets) -> None:
    held = await resets.open(await resets.issue())
    passwords = [f"{NEW_PASSWORD} {number}" for number in range(5)]

    outcomes = await asyncio.gather(
        *(resets.set_password(held, password) for password in passwords), return_exceptions=True
    )

    assert sum(isinstance(outcome, str) for outcome in outcomes) == 1
    assert sum(isinstance(outcome, InvalidArgument) for outcome in outcomes) == 4
    assert [await resets.has_password(password) for password in passwords].count(True) == 1


async def test_a_new_password_ends_all_sessions_and_tokens(resets: Resets) -> None:
    await resets.sign_in(ALICE, "app")
    await resets.grant()

    await resets.set_password(await resets.open(await resets.issue()))

    assert list(await resets.live_sessions()) == []
    assert list(await resets.live_token_sets()) == []


async def test_a_new_password_makes_up_for_wrong_ones_at_its_address(resets: Resets) -> None:
    protection, email = resets.provider.protection, "alice@example.com"
    for address in (ADDRESS, "192.0.2.8"):
        for _ in range(7):
            await protection.failed(resets.tenant, address, account=email, secret="wrong")

    await resets.set_password(await resets.open(await resets.issue()))

    await protection.admit(resets.tenant, ADDRESS, account=email)
    with pytest.raises(ResourceExhausted):
        await protection.admit(resets.tenant, "192.0.2.8", account=email)


async def test_a_new_password_cancels_what_else_waits_in_the_mailbox(resets: Resets) -> None:
    used, other = await resets.open(await resets.issue()), await resets.issue()
    until = NOON + timedelta(hours=1)
    for usage in (Usage.CHANGE_EMAIL, Usage.CONFIRM_EMAIL, Usage.NEW_ACCOUNT, Usage.REVOKE):
        await resets.links.issue(resets.tenant, ALICE, usage, until=until)

    await resets.set_password(used)

    with pytest.raises(InvalidArgument):
        await resets.magic_links.open(resets.tenant, other)
    left = await resets.store.of(LINKS).page(resets.tenant.tenant_id)
    assert [link.usage for link in left if link.is_good(NOON)] == [Usage.REVOKE]


async def test_whoever_has_the_mailbox_has_confirmed_the_address(resets: Resets) -> None:
    await resets.change(is_self_registered=True, is_email_verified=False, confirmed_at=None)

    await resets.set_password(await resets.open(await resets.issue()))

    user = await resets.user()
    assert (user.is_email_verified, user.confirmed_at, user.must_confirm_email) == (True, NOON, False)


async def test_a_first_password_makes_a_new_account_one_with_a_password(resets: Resets) -> None:
    await resets.change(**NEW_ACCOUNT)

    await resets.set_password(await resets.open(await resets.issue(Usage.NEW_ACCOUNT)))

    assert (await resets.user()).account_type is AccountType.PASSWORD


class Owner:
    """The owner of a passkey."""

    def __init__(self, resets: Resets, **traits: bool) -> None:
        self.resets = resets
        self.authenticator = SoftwareAuthenticator(ORIGIN, **traits)

    async def enroll(self, shown: ShownLink, name: str = "laptop") -> str:
        activation, tenant = self.resets.activation, self.resets.tenant
        options = await activation.start_passkey(tenant, shown, name)
        answer = json.dumps(self.authenticator.create(json.loads(options)))
        return await activation.finish_passkey(tenant, shown, name, answer=answer, peer_address=ADDRESS)

    async def show(self, shown: ShownLink) -> str:
        ceremony, tenant = self.resets.ceremony, self.resets.tenant
        code, options = await ceremony.start(tenant, shown.user_id, shown.cookie)
        answer = json.dumps(self.authenticator.get(json.loads(options)))
        return await ceremony.finish(tenant, shown.user_id, shown.cookie, code=code, answer=answer)


@pytest.fixture
async def owner(resets: Resets) -> Owner:
    """Alice, with a passkey instead of a password."""
    await resets.change(**NEW_ACCOUNT)
    owner = Owner(resets)
    await owner.enroll(await resets.open(await resets.issue(Usage.NEW_ACCOUNT)))
    return owner


async def test_a_passkey_stands_in_the_place_of_a_first_password(resets: Resets, owner: Owner) -> None:
    user = await resets.user()

    assert (user.account_type, user.has_passkey, user.password_hash) == (AccountType.PASSKEY, True, "")
    assert user.is_email_verified
    assert ("PasskeyAdded", "laptop") in await resets.told_of()
    assert len(owner.authenticator.credentials) == 1


async def test_the_link_of_a_new_account_makes_one_passkey(resets: Resets) -> None:
    await resets.change(**NEW_ACCOUNT)
    held = await resets.open(await resets.issue(Usage.NEW_ACCOUNT))
    one, other = Owner(resets), Owner(resets)

    outcomes = await asyncio.gather(
        one.enroll(held, "one"), other.enroll(held, "other"), return_exceptions=True
    )

    assert sum(isinstance(outcome, str) for outcome in outcomes) == 1
    assert len(await resets.provider.passkeys.of(resets.tenant, ALICE)) == 1


async def test_a_passkey_alone_verifies_its_person(resets: Resets) -> None:
    await resets.change(**NEW_ACCOUNT)
    held = await resets.open(await resets.issue(Usage.NEW_ACCOUNT))

    with pytest.raises(Unauthenticated):
        await Owner(resets, verifies_user=False).enroll(held)

    await Owner(resets).enroll(held)


async def test_only_the_link_of_a_new_account_makes_a_passkey(resets: Resets) -> None:
    for usage in (Usage.RESET_PASSWORD, Usage.NEW_ACCOUNT):
        held = await resets.open(await resets.issue(usage))

        # Alice has a password already.
        with pytest.raises(InvalidState):
            await Owner(resets).enroll(held)

    await resets.change(**NEW_ACCOUNT)
    with pytest.raises(InvalidState):
        await Owner(resets).enroll(await resets.open(await resets.issue(Usage.RESET_PASSWORD)))


async def test_whoever_has_a_passkey_shows_it(resets: Resets, owner: Owner) -> None:
    held = await resets.open(await resets.issue())

    with pytest.raises(PermissionDenied) as refused:
        await resets.set_password(held)
    await resets.set_password(held, passkey_code=await owner.show(held))

    assert refused.value.metadata == {"cause": "SECOND_FACTOR_REQUIRED"}
    user = await resets.user()
    assert await resets.has_password(NEW_PASSWORD)
    assert user.has_passkey
    assert len(await resets.provider.passkeys.of(resets.tenant, ALICE)) == 1


async def test_a_passkey_that_was_shown_counts_once_with_its_link(resets: Resets, owner: Owner) -> None:
    one, other = await resets.open(await resets.issue()), await resets.open(await resets.issue())
    code = await owner.show(one)

    with pytest.raises(Unauthenticated):
        await resets.set_password(other, passkey_code=code)
    with pytest.raises(Unauthenticated):
        await resets.set_password(one, passkey_code=code)

    assert not await resets.has_password(NEW_PASSWORD)


async def test_a_passkey_is_shown_to_whoever_opened_the_link_alone(resets: Resets, owner: Owner) -> None:
    shown = await resets.issue()
    held = await resets.open(shown)

    for stranger in (shown, replace(held, cookie="s" * 48)):
        with pytest.raises(PermissionDenied):
            await owner.show(stranger)


async def test_a_passkey_that_was_shown_for_something_else_does_not_count(
    resets: Resets, owner: Owner
) -> None:
    held = await resets.open(await resets.issue())
    sid = (await resets.magic_links.expect_held(resets.tenant, held)).sid
    for purpose in (Purpose.PROVED, Purpose.SHOWN_WITH_LINK):
        code = await resets.provider.ceremonies.begin(resets.tenant, "a session", purpose, ALICE)
        with pytest.raises(Unauthenticated):
            await resets.set_password(held, passkey_code=code)
    code = await resets.provider.ceremonies.begin(resets.tenant, sid, Purpose.PROVED, ALICE)

    with pytest.raises(Unauthenticated):
        await resets.set_password(held, passkey_code=code)

    assert len(owner.authenticator.credentials) == 1


async def test_an_answer_to_another_link_makes_no_passkey(resets: Resets) -> None:
    await resets.change(**NEW_ACCOUNT)
    held = await resets.open(await resets.issue(Usage.NEW_ACCOUNT))
    other = await resets.open(await resets.issue(Usage.NEW_ACCOUNT))
    options = await resets.activation.start_passkey(resets.tenant, held, "laptop")
    answer = json.dumps(SoftwareAuthenticator(ORIGIN).create(json.loads(options)))

    with pytest.raises(Unauthenticated):
        await resets.activation.finish_passkey(
            resets.tenant, other, "laptop", answer=answer, peer_address=ADDRESS
        )

    assert code_answered(answer)
