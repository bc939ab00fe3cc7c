"""Encryption of secrets at rest with master keys: one key encrypts, all decrypt.

The associated data of RFC 8439 binds a ciphertext to its place, so it is useless when copied elsewhere in the database.
"""

import base64
import binascii
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Self

import msgspec
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305

from identity.foundation.randomness import Randomness

KEY_OCTETS = 32
_NONCE_OCTETS = 12
_ID_LENGTH = 8


class BadMasterKeys(ValueError):
    """The configured master keys are invalid; the message names the key and not its content."""


class LostMasterKey(Exception):
    """Secrets are encrypted under a master key that is missing or has other octets."""

    def __init__(self, key_id: str) -> None:
        super().__init__(
            f"expected the master key {key_id!r}, under which secrets of this deployment are encrypted, and found it"
            " missing or different: restore it to encryption.keys or to the key file. Without it the secrets are lost,"
            " and no new keys are made in their place"
        )


@dataclass(frozen=True, slots=True)
class Sealed:
    """A secret that is encrypted under a master key."""

    key_id: str
    content: bytes = field(repr=False)


@dataclass(frozen=True, slots=True)
class Place:
    """Where a secret is stored: the kind of record, its tenant and its id."""

    kind: str
    tenant_id: str
    id: str

    @property
    def octets(self) -> bytes:
        return msgspec.json.encode((self.kind, self.tenant_id, self.id))


class MasterKeys:
    """Keys of 32 octets each, by id."""

    def __init__(self, keys: Mapping[str, bytes], active: str, *, randomness: Randomness) -> None:
        """Raise BadMasterKeys."""
        if active not in keys:
            raise BadMasterKeys(f"expected the active master key {active!r} to be one of {sorted(keys)}")
        for key_id, octets in keys.items():
            if not key_id or len(octets) != KEY_OCTETS:
                raise BadMasterKeys(f"master key {key_id!r}: expected an id and {KEY_OCTETS} bytes in base64")
        self._ciphers = {key_id: ChaCha20Poly1305(octets) for key_id, octets in keys.items()}
        self._active = active
        self._randomness = randomness

    @classmethod
    def read(cls, texts: Iterable[str], active: str, *, randomness: Randomness) -> Self:
        """Parse texts `<id>/<base64>`; the last one is active unless `active` names one. Raises BadMasterKeys."""
        keys = dict(map(_key, texts))
        return cls(keys, active or next(reversed(keys), ""), randomness=randomness)

    @property
    def inactive(self) -> Sequence[str]:
        """Ids of the keys that only decrypt."""
        return [key_id for key_id in self._ciphers if key_id != self._active]

    def seal(self, secret: bytes, place: Place) -> Sealed:
        nonce = self._randomness.octets(_NONCE_OCTETS)
        return Sealed(self._active, nonce + self._ciphers[self._active].encrypt(nonce, secret, place.octets))

    def open(self, sealed: Sealed, place: Place) -> bytes:
        """Raise LostMasterKey."""
        cipher = self._ciphers.get(sealed.key_id)
        if cipher is None:
            raise LostMasterKey(sealed.key_id)
        nonce, content = sealed.content[:_NONCE_OCTETS], sealed.content[_NONCE_OCTETS:]
        try:
            return cipher.decrypt(nonce, content, place.octets)
        except InvalidTag as error:
            raise LostMasterKey(sealed.key_id) from error

    def resealed(self, sealed: Sealed, place: Place) -> Sealed:
        """Return the secret under the active key, unchanged if it is already; raises LostMasterKey."""
        return sealed if sealed.key_id == self._active else self.seal(self.open(sealed, place), place)


def new_master_key(randomness: Randomness) -> str:
    """Return the text of a new random key."""
    octets = base64.b64encode(randomness.octets(KEY_OCTETS)).decode()
    return f"{randomness.alphanumeric(_ID_LENGTH)}/{octets}"


def _key(text: str) -> tuple[str, bytes]:
    key_id, separator, octets = text.strip().partition("/")
    try:
        return key_id, base64.b64decode(octets, validate=True) if separator else b""
    except binascii.Error as error:
        raise BadMasterKeys(f"master key {key_id!r}: expected {KEY_OCTETS} bytes in base64") from error
