"""Signal subscriptions by signal name, and unfinished broadcasts, in one partition.

The change of a cluster variable is a broadcast, too, to the conditions that read cluster variables.

A broadcast triggers the subscriptions that exist when it begins. Their keys are lower than the key of the
broadcast, so the key of the last triggered subscription marks its progress.
"""

from collections import Counter
from collections.abc import Iterator
from datetime import datetime
from itertools import takewhile
from typing import TypeVar

import msgspec

from server.engine.journal import Journal
from server.engine.keys import Key
from server.engine.ordered_keys import OrderedKeys
from server.engine.variables import Variables

P = TypeVar("P")

# Tenant id, signal name.
Place = tuple[str, str]


# A tenant id, or None for all tenants.
Owner = str | None


class ClusterVariableChange(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """A cluster variable was created, changed or deleted, of one tenant or, with None, of all tenants."""

    tenant_id: str | None
    name: str
    is_created: bool = False


class Broadcast(msgspec.Struct, omit_defaults=True):
    """The progress of a broadcast in this partition; `last_key` is the last triggered subscription.

    `last_process_id` is the last started process in the partition where the broadcast began; None elsewhere.
    `postponed_at` is set after the command that did not finish it. With a `change` it has no name, and
    conditions are evaluated instead.
    """

    key: Key
    tenant_id: str
    signal_name: str
    variables: dict[str, str]
    last_key: Key = Key(0)
    postponed_at: datetime | None = None
    last_process_id: str | None = None
    change: ClusterVariableChange | None = None

    @property
    def place(self) -> Place:
        return self.tenant_id, self.signal_name


class PendingSignal(msgspec.Struct, frozen=True, gc=False):
    """A signal of a throwing event, to be broadcast after the work that is pending now."""

    tenant_id: str
    name: str
    variables: Variables


class KnownSignals:
    """Indexes of subscriptions, also of evicted process instances, and the unfinished broadcasts."""

    def __init__(self) -> None:
        # Keys of process instances, by the keys of their subscriptions.
        self.waiting: dict[Place, OrderedKeys[Key, Key]] = {}
        # The same for conditions that read cluster variables, by tenant, and under None for all tenants.
        self.conditions: dict[Owner, OrderedKeys[Key, Key]] = {}
        self.broadcasts: dict[Key, Broadcast] = {}
        # Index: the number of unfinished broadcasts by tenant.
        self.counts: Counter[str] = Counter()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, KnownSignals) and vars(self) == vars(other)

    __hash__ = None  # type: ignore[assignment]  # mutable

    # Subscriptions

    def open(self, place: Place, subscription_key: Key, process_instance_key: Key) -> None:
        _put(self.waiting, place, subscription_key, process_instance_key)

    def close(self, place: Place, subscription_key: Key) -> None:
        _remove(self.waiting, place, subscription_key)

    def open_condition(self, tenant_id: str, subscription_key: Key, process_instance_key: Key) -> None:
        """Add a condition that reads cluster variables."""
        for owner in (tenant_id, None):
            _put(self.conditions, owner, subscription_key, process_instance_key)

    def close_condition(self, tenant_id: str, subscription_key: Key) -> None:
        for owner in (tenant_id, None):
            _remove(self.conditions, owner, subscription_key)

    def line_of(self, broadcast: Broadcast) -> OrderedKeys[Key, Key] | None:
        """The subscriptions for a broadcast, with their process instances; None if there are none."""
        if broadcast.change is not None:
            return self.conditions.get(broadcast.change.tenant_id)
        return self.waiting.get(broadcast.place)

    def left_for(self, broadcast: Broadcast) -> Iterator[Key]:
        """The subscriptions that a broadcast has not triggered yet; none may be opened or closed during the iteration."""
        line = self.line_of(broadcast)
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
        """Add a broadcast that was read from the store or began."""
        self.broadcasts[broadcast.key] = broadcast
        self.counts[broadcast.tenant_id] += 1

    def _forget(self, broadcast: Broadcast) -> None:
        del self.broadcasts[broadcast.key]
        self.counts[broadcast.tenant_id] -= 1
        if not self.counts[broadcast.tenant_id]:
            del self.counts[broadcast.tenant_id]


def _put(lines: dict[P, OrderedKeys[Key, Key]], place: P, key: Key, process_instance_key: Key) -> None:
    line = lines.get(place)
    if line is None:
        line = lines[place] = OrderedKeys()
    line.put(key, process_instance_key)


def _remove(lines: dict[P, OrderedKeys[Key, Key]], place: P, key: Key) -> None:
    line = lines[place]
    line.remove(key)
    if not line:
        del lines[place]
