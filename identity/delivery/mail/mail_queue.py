"""Durable queue of outgoing mails."""

import logging
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta

from identity.delivery.mail.letter import Letter
from identity.delivery.mail.queued_letter import QUEUED_LETTERS, LetterSafe, QueuedLetter
from identity.foundation.randomness import Randomness
from identity.foundation.single_use import SingleUse
from identity.foundation.tenants import Tenant
from server.platform.call import TenantId
from server.platform.clock import Clock
from server.platform.records import Changed, RecordStore

logger = logging.getLogger(__name__)

_ID_LENGTH = 24
_MOST_RESEALED = 10_000


class MailQueue:
    """`is_open` is whether mail is configured; without it, posted mails are dropped."""

    def __init__(
        self, store: RecordStore, safe: LetterSafe, *, is_open: bool, clock: Clock, randomness: Randomness
    ) -> None:
        self._queue = store.of(QUEUED_LETTERS)
        self._single_use = SingleUse(store)
        self._safe = safe
        self._is_open = is_open
        self._clock = clock
        self._randomness = randomness

    @property
    def is_open(self) -> bool:
        return self._is_open

    async def post(self, tenant: Tenant, letter: Letter) -> None:
        """Queue a mail until the mail server has accepted it."""
        if not self._is_open:
            logger.info(
                "a mail was dropped because no mail server is configured",
                extra={"tenant_id": tenant.tenant_id},
            )
            return
        letter_id = self._randomness.alphanumeric(_ID_LENGTH)
        await self._queue.insert(
            QueuedLetter(
                tenant_id=tenant.tenant_id,
                id=letter_id,
                attempts=0,
                next_at=self._clock.now(),
                content=self._safe.seal(letter, tenant.tenant_id, letter_id),
            )
        )

    async def post_seldom(
        self, tenant: Tenant, letter: Letter, *, subject_matter: str, every: timedelta
    ) -> bool:
        """Queue a mail unless one of this subject was queued to the address within `every`; returns whether it was."""
        until = self._clock.now() + every
        purpose = f"letter {subject_matter}"
        if not await self._single_use.spend(tenant, purpose, letter.to, until=until):
            return False
        await self.post(tenant, letter)
        return True

    async def reseal(self, tenant_id: TenantId) -> None:
        """Encrypt mails of inactive master keys under the active one; raises LostMasterKey."""
        for queued in await self._queue.find(tenant_id, "due", "due", most=_MOST_RESEALED):
            resealed = self._safe.resealed(queued)
            if resealed is not queued.content:
                with suppress(Changed):
                    await self._queue.replace(replace(queued, content=resealed))
