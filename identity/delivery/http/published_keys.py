"""Cache of published JWK Sets, by their address: RFC 7517 §5, OpenID Connect Core 1.0 §10.1.1.

An unknown key id causes a new fetch at once, so that a rotation is noticed. After a fetch in vain there is a pause, so
that invented key ids cost the publisher nothing. While a set cannot be fetched, the last one stays valid for an hour.
"""

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from joserfc.jwk import Key

from identity.crypto.jose.encryption import KeyManagement, keys_for
from identity.crypto.jose.public_keys import named, parse_key_set
from identity.delivery.http.documents import Documents, UnreadableDocument
from server.platform.clock import Clock

_LIFETIME = timedelta(minutes=5)
_PAUSE = timedelta(seconds=30)
_KEPT_UNREADABLE = timedelta(hours=1)
_MAX_CACHED = 256
_NEVER = datetime.min.replace(tzinfo=UTC)

_Selection = Callable[[Sequence[Key]], Sequence[Key]]


@dataclass(slots=True)
class _KeySet:
    keys: Sequence[Key] = ()
    read_at: datetime = _NEVER
    tried_at: datetime = _NEVER
    in_vain_at: datetime = _NEVER
    reading: asyncio.Lock = field(default_factory=asyncio.Lock)


class PublishedKeys:
    def __init__(self, documents: Documents, clock: Clock) -> None:
        self._documents = documents
        self._clock = clock
        self._key_sets: OrderedDict[str, _KeySet] = OrderedDict()

    async def at(self, uri: str, *, kid: str) -> Sequence[Key]:
        """Return the published key for signatures with this `kid`, or all of them when it is empty."""
        return await self._selected(uri, lambda keys: named(keys, kid))

    async def for_encryption(self, uri: str, alg: KeyManagement) -> Sequence[Key]:
        """Return the published keys that encrypt with this algorithm, best first."""
        return await self._selected(uri, lambda keys: keys_for(keys, alg))

    async def _selected(self, uri: str, select: _Selection) -> Sequence[Key]:
        key_set = self._key_set(uri)
        if self._is_due(key_set, select):
            # Concurrent callers wait for the same fetch.
            async with key_set.reading:
                if self._is_due(key_set, select):
                    await self._read(uri, key_set)
                    if not select(key_set.keys):
                        key_set.in_vain_at = key_set.tried_at
        return select(key_set.keys)

    def _key_set(self, uri: str) -> _KeySet:
        key_set = self._key_sets.setdefault(uri, _KeySet())
        self._key_sets.move_to_end(uri)
        if len(self._key_sets) > _MAX_CACHED:
            self._key_sets.popitem(last=False)
        return key_set

    def _is_due(self, key_set: _KeySet, select: _Selection) -> bool:
        now = self._clock.now()
        if select(key_set.keys):
            return now - key_set.tried_at >= _LIFETIME
        return now - key_set.in_vain_at >= _PAUSE

    async def _read(self, uri: str, key_set: _KeySet) -> None:
        key_set.tried_at = self._clock.now()
        try:
            document = await self._documents.read(uri)
        except UnreadableDocument:
            if key_set.tried_at - key_set.read_at >= _KEPT_UNREADABLE:
                key_set.keys = ()
            return
        key_set.keys, key_set.read_at = parse_key_set(document), key_set.tried_at
