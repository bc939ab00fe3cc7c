"""The account that the browser can offer: FedCM §3.3."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from identity.directory.client import ClientId
from identity.directory.consents.consent import Consent
from identity.directory.user import User, UserId
from identity.foundation.tenants import Tenant
from identity.protocol.fed_cm.disclosure import is_approved
from identity.protocol.fed_cm.people import FedCmBrowser, People


class Consents(Protocol):
    async def of_user(self, tenant: Tenant, user_id: UserId) -> Sequence[Consent]: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    """Hints are names by which a client's page may know the account; `picture` is an address, empty without one."""

    user: User
    name: str
    picture: str
    approved_clients: tuple[ClientId, ...]
    login_hints: tuple[str, ...]
    domain_hints: tuple[str, ...]


class Accounts:
    def __init__(self, people: People, consents: Consents) -> None:
        self._people = people
        self._consents = consents

    async def at(self, tenant: Tenant, browser: FedCmBrowser) -> Account:
        """Return the signed-in account; raises Unauthenticated."""
        user = (await self._people.at(tenant, browser)).user
        given = await self._consents.of_user(tenant, user.user_id)
        return Account(
            user=user,
            name=_name(user),
            picture=f"{tenant.issuer}{user.picture_path}" if user.picture_path else "",
            approved_clients=tuple(each.client_id for each in given if is_approved(each.terms)),
            login_hints=tuple(filter(None, (user.id, user.email, user.preferred_username))),
            domain_hints=(user.email.rpartition("@")[2],) if user.is_email_verified else (),
        )


def _name(user: User) -> str:
    """Return a name; browsers do not accept an account without one."""
    return f"{user.given_name} {user.family_name}".strip() or user.preferred_username or user.email
