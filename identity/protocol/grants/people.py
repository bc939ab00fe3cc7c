"""The user of an authorization, in the present state of the account."""

from typing import Protocol

from identity.access.sessions.sessions import is_refused_to_support
from identity.authentication.confirmation import is_unconfirmed
from identity.directory.client import Client
from identity.directory.tenants.confirmation import ConfirmationBySettings
from identity.directory.tenants.tenant_record import TENANTS
from identity.directory.user import USERS, User
from identity.foundation.errors import InvalidGrant
from identity.foundation.tenants import Tenant
from identity.protocol.grants.grant import Authorization
from server.platform.clock import Clock
from server.platform.records import RecordStore


class TermsToAccept(Protocol):
    async def is_overdue(self, tenant: Tenant, user: User) -> bool: ...


class People:
    def __init__(self, records: RecordStore, clock: Clock, *, terms: TermsToAccept) -> None:
        self._users = records.of(USERS)
        self._confirmation = ConfirmationBySettings(records.of(TENANTS))
        self._clock = clock
        self._terms = terms

    async def behind(self, authorization: Authorization, tenant: Tenant, *, client: Client) -> User | None:
        """Return the user, or None when the client acts in its own name.

        Raises InvalidGrant for a user who is disabled, must confirm the address or accept the terms of use first, or may no
        longer use the client, and for a sign-in before the `not_before` of the tenant or the user.
        """
        authentication = authorization.authentication
        if authentication is None:
            return None
        user = await self._users.get(tenant.tenant_id, authentication.user_id)
        if (
            user is None
            or not user.is_active(self._clock.now())
            or not user.may_use(client.restrict_group_prefix)
            or authentication.is_refused(tenant.not_before)
            or authentication.is_refused_by_user(user.not_before)
        ):
            raise InvalidGrant("the user's account or its access to the client has ended")
        if await is_refused_to_support(self._users, tenant, authentication):
            raise InvalidGrant("the session has ended")
        if await is_unconfirmed(self._confirmation, tenant, user):
            raise InvalidGrant("the user has to confirm the e-mail address first")
        if await self._terms.is_overdue(tenant, user):
            raise InvalidGrant("the user has to accept the terms of use first")
        return user
