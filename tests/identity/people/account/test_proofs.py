import asyncio
from dataclasses import replace
from datetime import timedelta

import pytest

from identity.access.callers import Actor, ActorKind
from identity.access.person import Person
from identity.authentication.passkeys.proof import PasskeyProof
from identity.authentication.reauthentication.modification_tokens import (
    MODIFICATION_TOKENS,
    ModificationTokens,
)
from identity.authentication.reauthentication.proofs import Proof, Proofs
from identity.authentication.reauthentication.shown_factors import ShownFactors
from identity.foundation.events.kinds import EventType
from server.platform.errors import InvalidArgument, ResourceExhausted
from tests.identity.administration.administration import ALICE, Administration
from tests.identity.browsers import ACME, ADDRESS, NOON, PASSWORD

HERSELF = Actor(ActorKind.USER, ALICE, "alice@example.com", session="s1", peer_address=ADDRESS)


@pytest.fixture
def proofs(administration: Administration) -> Proofs:
    provider = administration.provider
    shown_factors = ShownFactors(provider.users, provider.sessions)
    tokens = ModificationTokens(
        administration.store.of(MODIFICATION_TOKENS),
        provider.hasher,
        shown_factors=shown_factors,
        clock=provider.clock,
        randomness=provider.randomness,
    )
    return Proofs(
        provider.users,
        provider.passwords,
        factors=PasskeyProof(ceremonies=provider.ceremonies, assertion=provider.assertion),
        shown_factors=shown_factors,
        protection=provider.protection,
        tokens=tokens,
    )


@pytest.fixture
def alice(administration: Administration) -> Person:
    return Person(tenant=administration.tenant, actor=HERSELF)


async def test_a_proof_is_good_for_two_minutes(
    administration: Administration, proofs: Proofs, alice: Person
) -> None:
    early, late = [await proofs.issue(alice, password=PASSWORD, factor_code="") for _ in range(2)]

    administration.clock.advance(timedelta(seconds=119))
    await proofs.expect(alice, Proof(modification_token=early.token))

    assert early.expires_at == NOON + timedelta(seconds=120)
    administration.clock.advance(timedelta(seconds=1))
    with pytest.raises(InvalidArgument):
        await proofs.expect(alice, Proof(modification_token=late.token))


async def test_of_many_who_use_a_proof_at_once_one_succeeds(proofs: Proofs, alice: Person) -> None:
    proof = Proof(modification_token=(await proofs.issue(alice, password=PASSWORD, factor_code="")).token)

    outcomes = await asyncio.gather(*(proofs.expect(alice, proof) for _ in range(5)), return_exceptions=True)

    assert outcomes.count(None) == 1
    assert sum(isinstance(outcome, InvalidArgument) for outcome in outcomes) == 4


@pytest.mark.parametrize("difference", ["person", "session", "address", "tenant"])
async def test_a_proof_is_good_for_its_person_in_its_session_at_its_address(
    administration: Administration, proofs: Proofs, alice: Person, difference: str
) -> None:
    strangers = {
        "person": replace(alice, actor=replace(HERSELF, id="bob")),
        "session": replace(alice, actor=replace(HERSELF, session="s2")),
        "address": replace(alice, actor=replace(HERSELF, peer_address="192.0.2.8")),
        "tenant": replace(alice, tenant=administration.provider.tenants.find(ACME)),
    }
    proof = Proof(modification_token=(await proofs.issue(alice, password=PASSWORD, factor_code="")).token)

    with pytest.raises(InvalidArgument):
        await proofs.expect(strangers[difference], proof)

    await proofs.expect(alice, proof)


async def test_a_proof_is_kept_as_a_hash_and_shown_nowhere(
    administration: Administration, proofs: Proofs, alice: Person
) -> None:
    issued = await proofs.issue(alice, password=PASSWORD, factor_code="")

    (kept,) = await administration.store.of(MODIFICATION_TOKENS).page(administration.tenant.tenant_id)
    assert issued.token not in repr(kept)
    assert issued.token not in repr((issued, Proof(modification_token=issued.token)))
    assert PASSWORD not in repr(Proof(PASSWORD))


@pytest.mark.parametrize("password", ["", "wrong"])
async def test_a_password_that_is_wrong_or_missing_proves_nothing(
    proofs: Proofs, alice: Person, password: str
) -> None:
    with pytest.raises(InvalidArgument):
        await proofs.expect(alice, Proof(password))


async def test_a_wrong_password_counts_like_a_sign_in_that_failed(
    administration: Administration, proofs: Proofs, alice: Person
) -> None:
    for _ in range(7):
        with pytest.raises(InvalidArgument):
            await proofs.issue(alice, password="wrong", factor_code="")

    with pytest.raises(ResourceExhausted):
        await proofs.issue(alice, password=PASSWORD, factor_code="")
    told = [event.type for event in await administration.events()]
    assert (told.count(EventType.INVALID_LOGINS), told.count(EventType.IP_BLACKLISTED)) == (7, 1)


async def test_of_many_guesses_at_a_time_no_more_count_than_one_after_the_other(
    proofs: Proofs, alice: Person
) -> None:
    guesses = [f"wrong-{number}" for number in range(40)]

    outcomes = await asyncio.gather(
        *(proofs.expect(alice, Proof(password)) for password in (*guesses, PASSWORD)), return_exceptions=True
    )

    assert [type(outcome) for outcome in outcomes] == [InvalidArgument] * 7 + [ResourceExhausted] * 34


async def test_the_right_password_forgets_the_failures_before_it(proofs: Proofs, alice: Person) -> None:
    for password in ("wrong", "wrong", "wrong", PASSWORD) * 3:
        if password == PASSWORD:
            await proofs.expect(alice, Proof(password))
        else:
            with pytest.raises(InvalidArgument):
                await proofs.expect(alice, Proof(password))


async def test_who_has_no_password_proves_nothing_by_one(
    administration: Administration, proofs: Proofs, alice: Person
) -> None:
    user = await administration.user()
    await administration.provider.users.replace(replace(user, password_hash=""))

    with pytest.raises(InvalidArgument):
        await proofs.issue(alice, password=PASSWORD, factor_code="")
