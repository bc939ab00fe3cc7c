import asyncio
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
from identity.directory.config import UsersConfig
from identity.directory.consents.support_access import SupportAccesses
from identity.directory.links.link import Usage
from identity.directory.user import USERS, User, UserId
from identity.people.account.addresses import AddressChanges
from identity.people.account.own_account import OwnAccount
from identity.people.notices.revocations import Revocations
from identity.people.user_changes import UserChange
from server.platform.errors import AlreadyExists, InvalidArgument, NotFound
from tests.identity.administration.administration import ALICE, Administration
from tests.identity.browsers import ACME, ADDRESS, PASSWORD
from tests.identity.browsers import alice as somebody
from tests.identity.mailbox import link_in

NEW = "alice@example.org"
HERSELF = Actor(ActorKind.USER, ALICE, "alice@example.com", session="s1", peer_address=ADDRESS)


class Own:
    """Alice, who changes her e-mail address."""

    def __init__(self, administration: Administration) -> None:
        self.administration = administration
        self.provider = provider = administration.provider
        self.mail = administration.mail
        self.changes = AddressChanges(
            users=administration.store.of(USERS),
            links=administration.links,
            mail=administration.mail,
            revocations=Revocations(
                users=provider.users,
                links=administration.links,
                sign_out=administration.sign_out,
                places=administration.places,
                support=SupportAccesses(administration.store, provider.clock),
                events=administration.told,
                clock=provider.clock,
            ),
            version=administration.version,
            events=administration.told,
            clock=provider.clock,
        )
        shown_factors = ShownFactors(provider.users, provider.sessions)
        proofs = Proofs(
            provider.users,
            provider.passwords,
            factors=PasskeyProof(ceremonies=provider.ceremonies, assertion=provider.assertion),
            shown_factors=shown_factors,
            protection=provider.protection,
            tokens=ModificationTokens(
                administration.store.of(MODIFICATION_TOKENS),
                provider.hasher,
                shown_factors=shown_factors,
                clock=provider.clock,
                randomness=provider.randomness,
            ),
        )
        self.account = OwnAccount(
            administration.users,
            proofs,
            removal=administration.users,
            addresses=self.changes,
            sessions=provider.sessions,
            config=UsersConfig(),
        )

    async def ask(self, email: str = NEW, proof: Proof = Proof(PASSWORD)) -> User:  # noqa: B008  # frozen
        person = Person(tenant=self.administration.tenant, actor=HERSELF)
        return await self.account.change(person, UserChange(email=email), proof)

    async def confirm(self, code: str) -> str:
        return await self.changes.confirm(self.administration.tenant, ALICE, code, peer_address=ADDRESS)

    def code(self) -> str:
        """Return the code of the last link to the new address."""
        (letter, *_) = [letter for letter in reversed(self.mail.letters) if letter.to == NEW]
        prefix, _, code = link_in(letter.text).rpartition("/")
        assert prefix == f"{self.administration.tenant.issuer}users/{ALICE}/email_change"
        return code


@pytest.fixture
def own(administration: Administration) -> Own:
    return Own(administration)


async def test_an_address_is_the_old_one_until_the_new_one_is_confirmed(own: Own) -> None:
    asked = await own.ask()

    assert (asked.email, asked.is_email_verified) == ("alice@example.com", True)
    assert await own.confirm(own.code()) == NEW
    user = await own.administration.user()
    assert (user.email, user.is_email_verified) == (NEW, True)
    assert ("UserEmailChange", f"alice@example.com → {NEW}") in await own.administration.told_of()


async def test_the_old_address_is_told_with_a_way_to_say_no(own: Own) -> None:
    await own.ask()

    new, old = own.mail.letters
    assert (new.to, old.to) == (NEW, "alice@example.com")
    assert NEW in old.text
    assert "/revoke/" in link_in(old.text)


@pytest.mark.parametrize("proof", [Proof(), Proof("wrong"), Proof(modification_token="unheard-of")], ids=str)
async def test_another_address_needs_a_proof(own: Own, proof: Proof) -> None:
    with pytest.raises(InvalidArgument):
        await own.ask(proof=proof)

    assert own.mail.letters == []


@pytest.mark.parametrize("email", ["nonsense", "alice@", f"{'a' * 250}@example.com"])
async def test_what_is_no_address_is_refused(own: Own, email: str) -> None:
    with pytest.raises(InvalidArgument):
        await own.ask(email)


async def test_where_nobody_is_written_to_the_address_stays(own: Own) -> None:
    own.mail.is_open = False

    with pytest.raises(InvalidArgument):
        await own.ask()


async def test_nobody_is_told_whose_an_address_is(own: Own) -> None:
    await own.provider.admit(somebody(id="bob", email=NEW))

    asked = await own.ask()

    assert asked.email == "alice@example.com"
    assert [letter.to for letter in own.mail.letters] == ["alice@example.com"]


async def test_an_address_that_has_become_somebody_elses_is_not_taken(own: Own) -> None:
    await own.ask()
    await own.provider.admit(somebody(id="bob", email=NEW))

    with pytest.raises(AlreadyExists):
        await own.confirm(own.code())

    assert (await own.administration.user()).email == "alice@example.com"


async def test_of_many_confirmations_at_once_one_succeeds(own: Own) -> None:
    await own.ask()
    code = own.code()

    outcomes = await asyncio.gather(*(own.confirm(code) for _ in range(5)), return_exceptions=True)

    assert outcomes.count(NEW) == 1
    assert sum(isinstance(outcome, NotFound) for outcome in outcomes) == 4


async def test_a_link_is_good_for_a_day(own: Own) -> None:
    await own.ask()
    code = own.code()
    own.provider.clock.advance(timedelta(hours=24))

    with pytest.raises(NotFound):
        await own.confirm(code)


async def test_another_wish_cancels_the_one_before(own: Own) -> None:
    await own.ask()
    code = own.code()
    await own.ask()

    with pytest.raises(NotFound):
        await own.confirm(code)

    assert await own.confirm(own.code()) == NEW


async def test_a_link_is_its_persons_and_its_tenants(own: Own) -> None:
    await own.ask()

    with pytest.raises(NotFound):
        await own.changes.find(own.administration.tenant, UserId("bob"), own.code())
    with pytest.raises(NotFound):
        await own.changes.find(own.provider.tenants.find(ACME), ALICE, own.code())


async def test_what_was_sent_to_the_old_address_is_good_no_more(own: Own) -> None:
    until = own.provider.clock.now() + timedelta(minutes=30)
    tenant, links = own.administration.tenant, own.administration.links
    reset = await links.issue(tenant, ALICE, Usage.RESET_PASSWORD, until=until)
    await own.ask()

    await own.confirm(own.code())

    assert await links.find(tenant, ALICE, Usage.RESET_PASSWORD, reset) is None
