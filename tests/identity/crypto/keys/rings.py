"""Key rings for tests: several processes over one store, with keys that are quick to make."""

from datetime import UTC, datetime, timedelta

from cryptography.hazmat.primitives.asymmetric import rsa

from identity.crypto.jose.algorithms import KeyKind, PrivateKey
from identity.crypto.keys.key_ring import MOST_KEYS, KeyRing
from identity.crypto.keys.master_keys import MasterKeys, new_master_key
from identity.crypto.keys.safe import KeySafe
from identity.crypto.keys.stored import KEY_SETS, SIGNING_KEYS_ID, StoredKeySet
from identity.foundation.events.config import EventsConfig
from identity.foundation.events.event import EVENTS, Event
from identity.foundation.events.events import Events
from identity.foundation.randomness import SystemRandomness
from server.platform.call import TenantId
from server.platform.clock import Clock
from server.platform.records import RecordStore
from server.platform.records.memory import MemoryRecordStore

NOON = datetime(2030, 1, 1, 12, tzinfo=UTC)
ACME, UMBRELLA = TenantId("acme"), TenantId("umbrella")
RANDOMNESS = SystemRandomness()
MASTER_KEY = new_master_key(RANDOMNESS)
LONGEST_TOKEN = timedelta(days=1)


class ShortKeys:
    """Makes keys of 2048 bits instead of longer ones, and counts them."""

    def __init__(self) -> None:
        self.made: list[KeyKind] = []

    async def make(self, kind: KeyKind) -> PrivateKey:
        self.made.append(kind)
        return kind.generate() if kind.is_quick else rsa.generate_private_key(65537, 2048)

    def close(self) -> None:
        """No threads need to be stopped."""


def master_keys(*texts: str, active: str = "") -> MasterKeys:
    return MasterKeys.read(texts or (MASTER_KEY,), active, randomness=RANDOMNESS)


class Deployment:
    """Objects that the processes of a deployment share."""

    def __init__(self, clock: Clock, store: RecordStore | None = None) -> None:
        self.clock = clock
        self.store = MemoryRecordStore(clock) if store is None else store
        self.making: ShortKeys = ShortKeys()

    def process(
        self,
        keys: MasterKeys | None = None,
        *,
        longest_token: timedelta = LONGEST_TOKEN,
        most_keys: int = MOST_KEYS,
    ) -> KeyRing:
        safe = KeySafe(keys or master_keys(), self.making, RANDOMNESS)
        events = Events(self.store, EventsConfig().levels, clock=self.clock, randomness=RANDOMNESS)
        return KeyRing(
            self.store, safe, events, clock=self.clock, longest_token=longest_token, most_keys=most_keys
        )

    async def stored(self, tenant_id: TenantId = ACME) -> StoredKeySet:
        found = await self.store.of(KEY_SETS).get(tenant_id, SIGNING_KEYS_ID)
        assert found is not None
        return found

    async def events(self, tenant_id: TenantId = ACME) -> list[Event]:
        return list(await self.store.of(EVENTS).page(tenant_id))
