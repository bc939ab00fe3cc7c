"""Removes unconfirmed accounts after their grace period and, if configured, accounts that ended long ago.

One process of the deployment does this. An account is removed only in the state in which it was read, so an account
that is confirmed at that moment stays. Settings are read for every page of users, so that a change applies at once.
"""

import asyncio
import logging
from datetime import datetime, timedelta
from typing import Protocol

from identity.directory.config import UsersConfig
from identity.directory.tenants.settings import TenantSettings
from identity.directory.tenants.tenant_record import DEPLOYMENT, TenantRecord
from identity.directory.user import User
from identity.foundation.events.events import Events
from identity.foundation.events.kinds import EventType
from identity.foundation.leadership import Leadership
from identity.foundation.tenants import Tenant, Tenants
from server.platform.clock import Clock
from server.platform.errors import Unavailable
from server.platform.records import Records

logger = logging.getLogger(__name__)

PURPOSE = "accounts"
PASS_SECONDS = 600.0
PAGE = 500


class Removal(Protocol):
    async def remove_unchanged(self, user: User) -> bool: ...


class AccountUpkeep:
    def __init__(
        self,
        tenants: Tenants,
        users: Records[User],
        *,
        removal: Removal,
        settings: Records[TenantRecord],
        leadership: Leadership,
        events: Events,
        clock: Clock,
        config: UsersConfig,
    ) -> None:
        self._tenants = tenants
        self._users = users
        self._removal = removal
        self._settings = settings
        self._leadership = leadership
        self._events = events
        self._clock = clock
        self._config = config

    async def run(self) -> None:
        """Sweep periodically until cancelled."""
        try:
            while True:
                await self.sweep()
                await asyncio.sleep(PASS_SECONDS)
        finally:
            await self._leadership.resign()

    async def sweep(self) -> None:
        """One pass over all tenants; a later pass continues after a failure of the store."""
        try:
            for tenant in tuple(self._tenants.all()):
                await self._sweep(tenant)
        except Unavailable:
            logger.warning("the store is not available; expired accounts are removed later")

    async def _sweep(self, tenant: Tenant) -> None:
        after = ""
        while await self._leadership.is_ours():
            record = await self._settings.get(DEPLOYMENT, tenant.tenant_id)
            settings = TenantSettings() if record is None else record.settings
            page = await self._users.page(tenant.tenant_id, after=after, most=PAGE)
            for user in page:
                await self._remove_if_over(tenant, user, settings)
            if len(page) < PAGE:
                return
            after = page[-1].id

    async def _remove_if_over(self, tenant: Tenant, user: User, settings: TenantSettings) -> None:
        now = self._clock.now()
        if is_abandoned(user, settings, now):
            event_type, text = EventType.USER_REMOVED_UNCONFIRMED, user.email
        elif self._has_long_ended(user, now):
            event_type, text = EventType.DELETED, f"user {user.email}"
        else:
            return
        if await self._removal.remove_unchanged(user):
            await self._events.emit(tenant.tenant_id, event_type, text=text, user_id=user.user_id)

    def _has_long_ended(self, user: User, now: datetime) -> bool:
        days = self._config.expired_account_days
        return days > 0 and user.valid_until is not None and user.valid_until + timedelta(days=days) <= now


def is_abandoned(user: User, settings: TenantSettings, now: datetime) -> bool:
    """Whether the account was not confirmed within the days that the tenant allows.

    An account with a sign-in is in use: it was created while the tenant required no confirmation.
    """
    days = settings.unconfirmed_account_days
    is_waiting = user.must_confirm_email and settings.requires_email_confirmation
    if not days or not is_waiting or user.last_login_at is not None or user.created_at is None:
        return False
    return user.created_at + timedelta(days=days) <= now
