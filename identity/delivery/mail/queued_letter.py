"""A queued mail, encrypted at rest because its links can be as powerful as a password."""

from dataclasses import dataclass

import msgspec

from identity.crypto.keys.master_keys import MasterKeys, Place, Sealed
from identity.delivery.mail.letter import Letter
from identity.delivery.retry_queue import QueuedTask
from server.platform.call import TenantId
from server.platform.records import Kind


@dataclass(frozen=True, slots=True, kw_only=True)
class QueuedLetter(QueuedTask):
    content: Sealed


QUEUED_LETTERS = Kind(QueuedLetter, "queued_letter", indexed=("due",), scheduled="next_at", owners=())


class LetterSafe:
    def __init__(self, master_keys: MasterKeys) -> None:
        self._master_keys = master_keys

    def seal(self, letter: Letter, tenant_id: TenantId, letter_id: str) -> Sealed:
        return self._master_keys.seal(msgspec.json.encode(letter), _place(tenant_id, letter_id))

    def open(self, queued: QueuedLetter) -> Letter:
        """Raise LostMasterKey."""
        octets = self._master_keys.open(queued.content, _place(queued.tenant_id, queued.id))
        return msgspec.json.decode(octets, type=Letter)

    def resealed(self, queued: QueuedLetter) -> Sealed:
        """Return the content under the active master key, unchanged if it is already; raises LostMasterKey."""
        return self._master_keys.resealed(queued.content, _place(queued.tenant_id, queued.id))


def _place(tenant_id: TenantId, letter_id: str) -> Place:
    return Place("letter", tenant_id, letter_id)
