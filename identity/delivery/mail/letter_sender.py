"""Hands queued mails to the mail server."""

import logging
from email.message import EmailMessage
from enum import Enum, auto
from typing import Protocol

from identity.crypto.keys.master_keys import LostMasterKey
from identity.delivery.mail.letter import Letter
from identity.delivery.mail.message import message_of
from identity.delivery.mail.queued_letter import LetterSafe, QueuedLetter
from identity.foundation.events.events import Events
from identity.foundation.events.kinds import EventType
from identity.foundation.tenants import Tenant
from server.platform.clock import Clock

logger = logging.getLogger(__name__)


class DeliveryOutcome(Enum):
    """Outcome of handing a mail to the mail server."""

    TAKEN = auto()
    # A permanent refusal: RFC 5321 §4.2.1, 5yz.
    REFUSED = auto()
    AWAY = auto()


class MailServer(Protocol):
    async def send(self, letter_id: str, message: EmailMessage) -> DeliveryOutcome: ...


class LetterSender:
    def __init__(
        self, server: MailServer, safe: LetterSafe, *, sender: str, events: Events, clock: Clock
    ) -> None:
        self._server = server
        self._safe = safe
        self._sender = sender
        self._events = events
        self._clock = clock

    async def handle(self, tenant: Tenant, queued: QueuedLetter) -> bool:
        letter = self._safe.open(queued)
        try:
            message = message_of(
                letter, letter_id=queued.id, sender=self._sender, tenant=tenant, at=self._clock.now()
            )
        except (ValueError, IndexError):
            reception = DeliveryOutcome.REFUSED
        else:
            reception = await self._server.send(queued.id, message)
        if reception is DeliveryOutcome.REFUSED:
            await self._report(queued, letter)
        return reception is not DeliveryOutcome.AWAY

    async def give_up(self, queued: QueuedLetter) -> None:
        try:
            letter = self._safe.open(queued)
        except LostMasterKey:
            letter = None
        await self._report(queued, letter)

    async def _report(self, queued: QueuedLetter, letter: Letter | None) -> None:
        """Report a mail that was not sent; None is one that cannot be decrypted."""
        logger.error("a mail was not sent", extra={"tenant_id": queued.tenant_id, "letter_id": queued.id})
        await self._events.emit(
            queued.tenant_id,
            EventType.EMAIL_SEND_ERROR,
            data=queued.attempts,
            text=f"{letter.subject} -> {letter.to}" if letter else "a letter that cannot be decrypted",
        )
