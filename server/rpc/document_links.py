"""Links to documents: URLs that need no credential and expire.

A link has the link id of a document, its expiry time, and a signature of both with a key that only the
document has. Links therefore end with their document, are not stored, and cannot be guessed.
"""

import base64
import binascii
import hmac
import struct
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Self

from server.store.stored_documents import StoredDocument

PATH = "/v2/document-links/"
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND = timedelta(milliseconds=1)
_SIGNED = struct.Struct(">16sQ")
_DIGEST = "sha256"
_DIGEST_BYTES = 32
# base64url of the parts, without padding.
_TOKEN_LENGTH = -(-(_SIGNED.size + _DIGEST_BYTES) * 8 // 6)


@dataclass(frozen=True, slots=True)
class Link:
    """The content of a link token; `signature` is not checked until the document is known."""

    link_id: bytes
    milliseconds: int
    signature: bytes

    @classmethod
    def to(cls, document: StoredDocument, expires_at: datetime) -> Self:
        milliseconds = (expires_at - _EPOCH) // _MILLISECOND
        signature = _signature(document.link_key, document.link_id, milliseconds)
        return cls(document.link_id, milliseconds, signature)

    @classmethod
    def read(cls, token: str) -> Self | None:
        if len(token) != _TOKEN_LENGTH or not token.isascii():
            return None
        try:
            whole = base64.b64decode(token + "=" * (-len(token) % 4), altchars=b"-_", validate=True)
        except binascii.Error:
            return None
        link_id, milliseconds = _SIGNED.unpack_from(whole)
        return cls(link_id, milliseconds, whole[_SIGNED.size :])

    @property
    def token(self) -> str:
        signed = _SIGNED.pack(self.link_id, self.milliseconds)
        return base64.urlsafe_b64encode(signed + self.signature).decode().rstrip("=")

    @property
    def expires_at(self) -> datetime:
        return _EPOCH + self.milliseconds * _MILLISECOND

    def works(self, now: datetime) -> bool:
        """Whether the link has not expired, by its own expiry time."""
        return (now - _EPOCH) // _MILLISECOND < self.milliseconds

    def is_signed_for(self, document: StoredDocument) -> bool:
        expected = _signature(document.link_key, self.link_id, self.milliseconds)
        return hmac.compare_digest(expected, self.signature)


def _signature(link_key: bytes, link_id: bytes, milliseconds: int) -> bytes:
    return hmac.digest(link_key, _SIGNED.pack(link_id, milliseconds), _DIGEST)
