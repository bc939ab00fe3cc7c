"""Disconnects a user's account from a client at the request of the client's page: FedCM §3.6."""

from contextlib import suppress
from typing import Protocol

from identity.access.callers import Actor, ActorKind
from identity.directory.client import ClientId
from identity.directory.subjects import Subjects
from identity.directory.user import UserId
from identity.foundation.mail_address import email_key
from identity.foundation.tenants import Tenant
from identity.protocol.fed_cm.people import FedCmBrowser, People, SignedIn, another_account
from identity.protocol.fed_cm.relying_parties import RelyingParties
from server.platform.errors import NotFound


class Withdrawal(Protocol):
    async def withdraw(
        self, tenant: Tenant, user_id: UserId, client_id: ClientId, *, actor: Actor
    ) -> None: ...


class Disconnection:
    def __init__(
        self, relying_parties: RelyingParties, people: People, withdrawal: Withdrawal, *, subjects: Subjects
    ) -> None:
        self._relying_parties = relying_parties
        self._people = people
        self._withdrawal = withdrawal
        self._subjects = subjects

    async def disconnect(
        self, tenant: Tenant, browser: FedCmBrowser, *, client_id: str, origin: str, account_hint: str
    ) -> UserId:
        """Withdraw the user's consent to the client, and return the account id.

        Raises InvalidArgument for a page that is not the client's, Unauthenticated when the account is not signed in.
        """
        client = await self._relying_parties.find(tenant, client_id, origin=origin)
        person = await self._people.at(tenant, browser)
        user = person.user
        if (
            account_hint != self._subjects.of(tenant, client, user.user_id)
            and email_key(account_hint) != user.email
        ):
            raise another_account()
        with suppress(NotFound):
            await self._withdrawal.withdraw(
                tenant, user.user_id, client.client_id, actor=_actor(person, browser)
            )
        return user.user_id


def _actor(person: SignedIn, browser: FedCmBrowser) -> Actor:
    return Actor(
        ActorKind.USER,
        person.user.id,
        person.user.email,
        session=person.session.sid,
        peer_address=browser.peer_address,
    )
