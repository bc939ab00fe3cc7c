"""Encrypts and decrypts the signing keys of a key set."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
    load_der_private_key,
    load_der_public_key,
)

from identity.crypto.jose.algorithms import KIND_OF, KeyKind
from identity.crypto.jose.key_set import KeySet
from identity.crypto.jose.signing_key import SigningKey
from identity.crypto.jose.verification_key import VerificationKey
from identity.crypto.keys.key_maker import KeyMaker
from identity.crypto.keys.master_keys import MasterKeys, Place
from identity.crypto.keys.stored import StoredKey, StoredKeySet
from identity.foundation.randomness import Randomness
from server.platform.call import TenantId

_KID_LENGTH = 24


class KeySafe:
    def __init__(self, master_keys: MasterKeys, making: KeyMaker, randomness: Randomness) -> None:
        self._master_keys = master_keys
        self._making = making
        self._randomness = randomness

    async def made(
        self, tenant_id: TenantId, kinds: Iterable[KeyKind], *, now: datetime
    ) -> Sequence[StoredKey]:
        """Return new keys, one of each kind."""
        return [await self._made(tenant_id, kind, now) for kind in kinds]

    def opened(self, stored: StoredKeySet, known: KeySet) -> KeySet:
        """Return the keys, with private halves unless they are retired; raises LostMasterKey."""
        there = {key.kid: key for key in known.keys}
        return KeySet(tuple(self._opened(stored.tenant_id, key, there) for key in stored.keys))

    def resealed(self, stored: StoredKeySet) -> StoredKeySet:
        """Return the key set under the active master key, unchanged if it is already; raises LostMasterKey."""
        keys = tuple(self._resealed(stored.tenant_id, key) for key in stored.keys)
        return stored if keys == stored.keys else replace(stored, keys=keys)

    def close(self) -> None:
        self._making.close()

    async def _made(self, tenant_id: TenantId, kind: KeyKind, now: datetime) -> StoredKey:
        key, kid = await self._making.make(kind), self._randomness.alphanumeric(_KID_LENGTH)
        octets = key.private_bytes(Encoding.DER, PrivateFormat.PKCS8, NoEncryption())
        return StoredKey(
            kid=kid,
            algorithm=kind.algorithm,
            public_key=key.public_key().public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo),
            sealed=self._master_keys.seal(octets, _place(tenant_id, kid)),
            announced_at=now,
        )

    def _opened(
        self, tenant_id: TenantId, key: StoredKey, there: Mapping[str, VerificationKey]
    ) -> VerificationKey:
        known = there.get(key.kid)
        if known is not None and isinstance(known, SigningKey) == key.is_active:
            return known
        if key.is_active and key.sealed is not None:
            octets = self._master_keys.open(key.sealed, _place(tenant_id, key.kid))
            # The key comes from our own ciphertext, and its validation would take a third of a second.
            private_key = load_der_private_key(octets, None, unsafe_skip_rsa_key_validation=True)
            return SigningKey.of(key.kid, key.algorithm, private_key)  # type: ignore[arg-type]  # what was made
        public_key = load_der_public_key(key.public_key)
        return VerificationKey(key.kid, key.algorithm, KIND_OF[key.algorithm].jwk(public_key, public_key))  # type: ignore[arg-type]  # what was made

    def _resealed(self, tenant_id: TenantId, key: StoredKey) -> StoredKey:
        if key.sealed is None:
            return key
        return replace(key, sealed=self._master_keys.resealed(key.sealed, _place(tenant_id, key.kid)))


def _place(tenant_id: TenantId, kid: str) -> Place:
    return Place("signing_key", tenant_id, kid)
