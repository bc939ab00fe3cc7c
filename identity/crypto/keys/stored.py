"""A tenant's signing keys as stored, and their life cycle.

One record holds all keys, so that they change together. A key is announced, then it signs, then it is retired. A
retired key has no private half and only verifies, until the last token that it signed has expired.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from identity.crypto.jose.algorithms import ALGORITHMS, KeyKind, SigningAlgorithm
from identity.crypto.keys.master_keys import Sealed
from server.platform.call import TenantId
from server.platform.records import Kind, Record

SIGNING_KEYS_ID = "signing-keys"
ANNOUNCED_FOR = timedelta(seconds=5)
"""Least time for which all processes know a key before it signs."""

_PLACES = {kind.algorithm: place for place, kind in enumerate(ALGORITHMS)}


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredKey:
    """`public_key` is a SubjectPublicKeyInfo in DER, `sealed` the private key, PKCS #8 in DER, until it is retired."""

    kid: str
    algorithm: SigningAlgorithm
    public_key: bytes
    sealed: Sealed | None
    announced_at: datetime
    active_from: datetime | None = None
    retired_at: datetime | None = None

    @property
    def is_active(self) -> bool:
        return self.active_from is not None and self.retired_at is None

    @property
    def is_next(self) -> bool:
        return self.active_from is None


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredKeySet(Record):
    """`keys` are in the order of publication: active, announced, retired; the newest first."""

    keys: tuple[StoredKey, ...]
    rotated_at: datetime

    @classmethod
    def new(cls, tenant_id: TenantId, keys: Iterable[StoredKey], now: datetime) -> "StoredKeySet":
        active = (replace(key, active_from=now) for key in keys)
        return cls(tenant_id=tenant_id, id=SIGNING_KEYS_ID, keys=_ordered(active), rotated_at=now)

    @property
    def lacking_active(self) -> Sequence[KeyKind]:
        return _lacking(key for key in self.keys if key.is_active)

    @property
    def lacking_next(self) -> Sequence[KeyKind]:
        return _lacking(key for key in self.keys if key.is_next)

    @property
    def is_complete(self) -> bool:
        return not self.lacking_active

    @property
    def may_rotate_from(self) -> datetime:
        """Time from which every process knows the announced keys."""
        return max(key.announced_at for key in self.keys if key.is_next) + ANNOUNCED_FOR

    def completed(self, keys: Iterable[StoredKey], now: datetime) -> "StoredKeySet":
        """Return it with active keys for algorithms that had none; these need no announcement."""
        active = (replace(key, active_from=now) for key in keys)
        return replace(self, keys=_ordered((*self.keys, *active)))

    def announced(self, keys: Iterable[StoredKey], now: datetime) -> "StoredKeySet":
        """Return it with announced keys."""
        known = (replace(key, announced_at=now) for key in keys)
        return replace(self, keys=_ordered((*self.keys, *known)))

    def rotated(self, now: datetime) -> "StoredKeySet":
        """Return it with the announced keys active and the active ones retired."""
        return replace(self, keys=_ordered(_rotated(key, now) for key in self.keys), rotated_at=now)

    def without_ended(self, now: datetime, kept_for: timedelta) -> "StoredKeySet":
        """Return it without keys that were retired longer ago than `kept_for`."""
        keys = tuple(key for key in self.keys if key.retired_at is None or now < key.retired_at + kept_for)
        return self if len(keys) == len(self.keys) else replace(self, keys=keys)


def _lacking(keys: Iterable[StoredKey]) -> Sequence[KeyKind]:
    there = {key.algorithm for key in keys}
    return [kind for kind in ALGORITHMS if kind.algorithm not in there]


def _rotated(key: StoredKey, now: datetime) -> StoredKey:
    if key.is_next:
        return replace(key, active_from=now)
    if key.is_active:
        return replace(key, retired_at=now, sealed=None)
    return key


def _ordered(keys: Iterable[StoredKey]) -> tuple[StoredKey, ...]:
    return tuple(sorted(keys, key=_order))


def _order(key: StoredKey) -> tuple[int, float, int]:
    if key.retired_at is None:
        return (1 if key.is_next else 0), 0, _PLACES[key.algorithm]
    return 2, -key.retired_at.timestamp(), _PLACES[key.algorithm]


KEY_SETS = Kind(StoredKeySet, "key_set", owners=())
