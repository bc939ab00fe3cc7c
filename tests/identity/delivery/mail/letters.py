"""Shared objects of the mail tests: a mail, master keys, and a mail server."""

from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.message import EmailMessage

from identity.crypto.keys.master_keys import MasterKeys, new_master_key
from identity.delivery.mail.letter import Letter
from identity.delivery.mail.letter_sender import DeliveryOutcome
from identity.foundation.randomness import SystemRandomness
from identity.foundation.tenants import Tenant
from server.platform.call import TenantId

NOON = datetime(2030, 1, 1, 12, tzinfo=UTC)
SENDER = "Example <no-reply@id.example.com>"
TENANT = Tenant(TenantId("acme"), "https://id.example.com/auth/v1/", name="Acme & Sons")
RANDOMNESS = SystemRandomness()
OLD, NEW = new_master_key(RANDOMNESS), new_master_key(RANDOMNESS)
LETTER = Letter("alice@example.com", "Confirm your address", "https://id.example.com/c0de\n")


def master_keys(*texts: str) -> MasterKeys:
    return MasterKeys.read(texts, "", randomness=RANDOMNESS)


@dataclass
class PostOffice:
    """The mail server as the carrier uses it."""

    reception: DeliveryOutcome = DeliveryOutcome.TAKEN
    received: list[tuple[str, EmailMessage]] = field(default_factory=list)

    async def send(self, letter_id: str, message: EmailMessage) -> DeliveryOutcome:
        self.received.append((letter_id, message))
        return self.reception
