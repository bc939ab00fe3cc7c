"""The deployment's root secret, from which keys for other purposes are derived.

It is not a master key itself, so that master keys can be replaced while all keyed hashes stay valid.
"""

from contextlib import suppress
from dataclasses import dataclass, replace

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from identity.crypto.keys.master_keys import MasterKeys, Place, Sealed
from identity.foundation.randomness import Randomness
from server.platform.call import TenantId
from server.platform.errors import Unavailable
from server.platform.records import AlreadyThere, Changed, Kind, Record, RecordStore

_OCTETS = 32
# The record belongs to no tenant.
_DEPLOYMENT = TenantId("")
_ID = "root"
_PLACE = Place("root_secret", _DEPLOYMENT, _ID)
_ATTEMPTS = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredRootSecret(Record):
    sealed: Sealed


ROOT_SECRETS = Kind(StoredRootSecret, "root_secret", owners=())


class RootSecret:
    def __init__(self, octets: bytes) -> None:
        self._octets = octets

    def derived(self, purpose: str) -> bytes:
        """Return 32 octets that depend on the purpose: RFC 5869."""
        return HKDF(hashes.SHA256(), _OCTETS, salt=None, info=purpose.encode()).derive(self._octets)


class RootSecrets:
    """The stored root secret."""

    def __init__(self, store: RecordStore, master_keys: MasterKeys, randomness: Randomness) -> None:
        self._records = store.of(ROOT_SECRETS)
        self._master_keys = master_keys
        self._randomness = randomness

    async def open(self) -> RootSecret:
        """Return the stored secret, or a new one in a new deployment; raises LostMasterKey, Unavailable."""
        for _ in range(_ATTEMPTS):
            found = await self._records.get(_DEPLOYMENT, _ID) or await self._created()
            if found is not None:
                return RootSecret(self._master_keys.open(found.sealed, _PLACE))
        raise Unavailable("the root secret was changed too often at the same time")

    async def reseal(self) -> None:
        """Encrypt it under the active master key; call this after all other secrets are.

        A start without a master key that is still needed therefore fails, because it needs the root secret first.
        """
        found = await self._records.get(_DEPLOYMENT, _ID)
        if found is None:
            return
        resealed = self._master_keys.resealed(found.sealed, _PLACE)
        if resealed is not found.sealed:
            with suppress(Changed):
                await self._records.replace(replace(found, sealed=resealed))

    async def _created(self) -> StoredRootSecret | None:
        """Store a new secret; None when another process was first."""
        sealed = self._master_keys.seal(self._randomness.octets(_OCTETS), _PLACE)
        try:
            return await self._records.insert(StoredRootSecret(tenant_id=_DEPLOYMENT, id=_ID, sealed=sealed))
        except AlreadyThere:
            return None
