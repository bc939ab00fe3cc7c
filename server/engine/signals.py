"""Signal subscriptions by the name of their signal, and broadcasts that are not finished, in one partition.

A broadcast triggers what waits for its signal when it begins. A subscription has a lower key than a broadcast that
begins later, so the key of the last subscription that was triggered says where to go on.
"""

from collections import Counter
from collections.abc import Iterator
from datetime import datetime
from itertools import takewhile

import msgspec

from server.engine.journal import Journal
from server.engine.keys import Key
from server.engine.ordered_keys import OrderedKeys

# Tenant, signal name.
Place = tuple[str, str]


class Broadcast(msgspec.Struct, omit_defaults=True):
    """A signal on its way to what waits for it in this partition; `last_key` is the subscription that had it last.

    In the partition where it was broadcast it also begins processes, `last_process_id` last; None elsewhere.
    `postponed_at` is given from the end of the command that did not finish it.
    """

    key: Key
    tenant_id: str
    signal_name: str
    variables: dict[str, str]
    last_key: Key = Key(0)
    postponed_at: datetime | None = None
    last_process_id: str | None = None

    @property
    def place(self) -> Place:
        return self.tenant_id, self.signal_name


class KnownSignals:
    """Index of signal subscriptions, of process instances in memory or not, and of broadcasts under way."""

    def __init__(self) -> None:
        # Process instances by the keys of their subscriptions.
        self.waiting: dict[Place, OrderedKeys[Key, Key]] = {}
        self.broadcasts: dict[Key, Broadcast] = {}
        # Index: unfinished broadcasts of each tenant.
        self.counts: Counter[str] = Counter()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, KnownSignals) and vars(self) == vars(other)

    __hash__ = None  # type: ignore[assignment]  # mutable

    # Subscriptions

    def open(self, place: Place, subscription_key: Key, process_instance_key: Key) -> None:
        line = self.waiting.get(place)
        if line is None:
            line = self.waiting[place] = OrderedKeys()
        line.put(subscription_key, process_instance_key)

    def close(self, place: Place, subscription_key: Key) -> None:
        line = self.waiting[place]
        line.remove(subscription_key)
        if not line:
            del self.waiting[place]

    def left_for(self, broadcast: Broadcast) -> Iterator[Key]:
        """The subscriptions that a broadcast has yet to trigger; none may be opened or closed meanwhile."""
        line = self.waiting.get(broadcast.place)
        if line is None:
            return iter(())
        return takewhile(broadcast.key.__gt__, line.after(broadcast.last_key))

    # Broadcasts

    def begin(self, broadcast: Broadcast, journal: Journal) -> None:
        journal.note(self._forget, broadcast)
        self.take_in(broadcast)

    def end(self, broadcast: Broadcast, journal: Journal) -> None:
        journal.note(self.take_in, broadcast)
        self._forget(broadcast)

    def take_in(self, broadcast: Broadcast) -> None:
        """Take a document in."""
        self.broadcasts[broadcast.key] = broadcast
        self.counts[broadcast.tenant_id] += 1

    def _forget(self, broadcast: Broadcast) -> None:
        del self.broadcasts[broadcast.key]
        self.counts[broadcast.tenant_id] -= 1
        if not self.counts[broadcast.tenant_id]:
            del self.counts[broadcast.tenant_id]
