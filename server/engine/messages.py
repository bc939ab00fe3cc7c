"""Messages and message subscriptions, in the home partition of their correlation key.

Everything about one correlation key of a tenant meets in its home partition: publications, and the
subscriptions of process instances in any partition. Each subscription and each message is a separate
document.
"""

from bisect import bisect_left, bisect_right, insort
from collections import Counter, OrderedDict
from collections.abc import Iterable, Iterator
from datetime import datetime
from hashlib import blake2b
from typing import Final, TypeVar

import msgspec

from server.engine.journal import Journal
from server.engine.keys import Key

MOST_CHARACTERS: Final = 32_768
"""Most characters of a message name, a correlation key or a message id."""

# Tenant id, message name, correlation key.
Place = tuple[str, str, str]
# The subscriptions of a place that can take messages, by process id, in the order of their queue positions.
Candidates = dict[str, OrderedDict[Key, None]]

R = TypeVar("R", bound="HomeSubscription | Message")


def home_of(tenant_id: str, correlation_key: str, homes: int) -> int:
    """The home partition of a correlation key, among the first `homes` partitions."""
    if homes == 1:
        return 1
    digest = blake2b(f"{tenant_id}\0{correlation_key}".encode(), digest_size=8).digest()
    return 1 + int.from_bytes(digest) % homes


class HomeSubscription(msgspec.Struct, omit_defaults=True, gc=False):
    """A message subscription of a process instance of any partition.

    `number` is its position in the queue of subscriptions for the same message. `message_key` is the message
    in delivery: until the outcome is known, the subscription takes no other message.
    """

    key: Key
    tenant_id: str
    process_instance_key: Key
    process_definition_id: str
    message_name: str
    correlation_key: str
    number: Key
    message_key: Key | None = None

    @property
    def place(self) -> Place:
        return self.tenant_id, self.message_name, self.correlation_key


class Message(msgspec.Struct, omit_defaults=True, gc=False):
    """A published message, buffered until `expires_at` and kept until the outcome of all `deliveries` is known.

    `process_ids` are the processes it was correlated to, each once. `deliveries` are in progress: process ids
    by subscription key. `postponed_at` is set while the correlation has to continue.
    """

    key: Key
    tenant_id: str
    name: str
    correlation_key: str
    message_id: str
    variables: dict[str, str]
    expires_at: datetime
    process_ids: dict[str, None] = {}
    deliveries: dict[Key, str] = {}
    postponed_at: datetime | None = None
    is_expired: bool = False

    @property
    def place(self) -> Place:
        return self.tenant_id, self.name, self.correlation_key

    @property
    def is_over(self) -> bool:
        """Whether the message can have no more effect."""
        return self.is_expired and not self.deliveries and self.postponed_at is None


class KnownMessages:
    """The subscriptions and messages of this home partition, with their indexes."""

    def __init__(self) -> None:
        self.subscriptions: dict[Key, HomeSubscription] = {}
        self.messages: dict[Key, Message] = {}
        # Indexes: subscriptions that take messages; messages of a place in the order of publication; message
        # ids in use; number of messages by tenant.
        self.candidates: dict[Place, Candidates] = {}
        self.buffered: dict[Place, list[Key]] = {}
        self.ids: dict[tuple[str, str, str, str], Key] = {}
        self.counts: Counter[str] = Counter()
        # Cache, by place and process id: the process has received all buffered messages up to this one.
        self._had: dict[Place, dict[str, Key]] = {}

    def __eq__(self, other: object) -> bool:
        return isinstance(other, KnownMessages) and self._facts() == other._facts()

    __hash__ = None  # type: ignore[assignment]  # mutable

    def _facts(self) -> dict[str, object]:
        """Everything except caches."""
        return {name: value for name, value in vars(self).items() if name != "_had"}

    # Subscriptions

    def open(self, subscription: HomeSubscription, journal: Journal) -> None:
        """Add a subscription, or replace the one with its key."""
        earlier = self.subscriptions.get(subscription.key)
        if earlier is not None:
            self.close(earlier, journal)
        journal.note(self._forget_subscription, subscription)
        self._take_in_subscription(subscription)

    def close(self, subscription: HomeSubscription, journal: Journal) -> None:
        journal.note(self._put_back, subscription)
        self._forget_subscription(subscription)

    def occupy(self, subscription: HomeSubscription, message_key: Key, journal: Journal) -> None:
        """Mark a subscription as taken by a message in delivery."""
        journal.note(self._put_in_line, subscription)
        self._remove_from_line(subscription)
        journal.alter(subscription, "message_key", message_key)

    def release(self, subscription: HomeSubscription, number: Key, journal: Journal) -> None:
        """Let the subscription take messages again, after all others that wait."""
        journal.alter(subscription, "message_key", None)
        journal.alter(subscription, "number", number)
        journal.note(self._remove_from_line, subscription)
        self._put_in_line(subscription)

    def first(self, place: Place, process_id: str) -> HomeSubscription | None:
        """The oldest subscription of this process for the message."""
        line = self.candidates.get(place, {}).get(process_id)
        return self.subscriptions[next(iter(line))] if line else None

    # Messages

    def publish(self, message: Message, journal: Journal) -> None:
        journal.note(self._forget_message, message)
        self._take_in_message(message)

    def remove(self, message: Message, journal: Journal) -> None:
        journal.note(self._return_message, message)
        self._forget_message(message)

    def messages_for(
        self, place: Place, process_id: str, now: datetime, *, also: Message | None = None
    ) -> Iterator[Message]:
        """The buffered messages that the process has not received, oldest first; `also` counts as buffered."""
        buffer, had = self.buffered.get(place, []), self._had.get(place, {})
        had_all_before = True
        for index in range(bisect_right(buffer, had.get(process_id, 0)), len(buffer)):
            message = self.messages[buffer[index]]
            if process_id in message.process_ids:
                if had_all_before:
                    self._had.setdefault(place, {})[process_id] = message.key
                continue
            had_all_before = False
            if message.expires_at > now or message.postponed_at is not None or message is also:
                yield message

    def offer_again(self, message: Message, process_id: str) -> None:
        """Note that the process has not received the message after all."""
        had = self._had.get(message.place, {})
        if had.get(process_id, 0) >= message.key:
            del had[process_id]

    # Documents

    def adopt(self, records: Iterable[HomeSubscription | Message]) -> None:
        """Add documents from the store, in any order, and restore the order of the queues."""
        for record in records:
            self.take_in(record)
        self.order()

    def take_in(self, record: HomeSubscription | Message) -> None:
        """Add one of many documents from the store; call `order` after the last."""
        if isinstance(record, Message):
            self._take_in_message(record)
        else:
            self._take_in_subscription(record)

    def order(self) -> None:
        """Sort all queues."""
        for place in list(self.candidates):
            for process_id in list(self.candidates[place]):
                self._order_line(place, process_id)
        for buffer in self.buffered.values():
            buffer.sort()

    # Indexes

    def _take_in_subscription(self, subscription: HomeSubscription) -> None:
        self.subscriptions[subscription.key] = subscription
        if subscription.message_key is None:
            self._line_of(subscription)[subscription.key] = None

    def _forget_subscription(self, subscription: HomeSubscription) -> None:
        del self.subscriptions[subscription.key]
        if subscription.message_key is None:
            self._remove_from_line(subscription)

    def _put_back(self, subscription: HomeSubscription) -> None:
        self.subscriptions[subscription.key] = subscription
        if subscription.message_key is None:
            self._put_in_line(subscription)

    def _line_of(self, subscription: HomeSubscription) -> OrderedDict[Key, None]:
        lines = self.candidates.setdefault(subscription.place, {})
        line = lines.get(subscription.process_definition_id)
        if line is None:
            line = lines[subscription.process_definition_id] = OrderedDict()
        return line

    def _put_in_line(self, subscription: HomeSubscription) -> None:
        """Insert a subscription at the position of its number, usually the last or the first."""
        line = self._line_of(subscription)
        first, last = (next(iter(line), None), next(reversed(line), None))
        line[subscription.key] = None
        if last is None or self.subscriptions[last].number < subscription.number:
            return
        if first is not None and subscription.number < self.subscriptions[first].number:
            line.move_to_end(subscription.key, last=False)
        else:
            self._order_line(subscription.place, subscription.process_definition_id)

    def _remove_from_line(self, subscription: HomeSubscription) -> None:
        place, process_id = subscription.place, subscription.process_definition_id
        lines = self.candidates[place]
        del lines[process_id][subscription.key]
        if not lines[process_id]:
            del lines[process_id]
        if not lines:
            del self.candidates[place]

    def _order_line(self, place: Place, process_id: str) -> None:
        lines = self.candidates[place]
        keys = sorted(lines[process_id], key=lambda key: self.subscriptions[key].number)
        lines[process_id] = OrderedDict.fromkeys(keys)

    def _take_in_message(self, message: Message) -> None:
        self.messages[message.key] = message
        self.buffered.setdefault(message.place, []).append(message.key)
        if message.message_id:
            self.ids[*message.place, message.message_id] = message.key
        self.counts[message.tenant_id] += 1

    def _return_message(self, message: Message) -> None:
        self._take_in_message(message)
        buffer = self.buffered[message.place]
        insort(buffer, buffer.pop())

    def _forget_message(self, message: Message) -> None:
        del self.messages[message.key]
        buffer = self.buffered[message.place]
        del buffer[bisect_left(buffer, message.key)]
        if not buffer:
            del self.buffered[message.place]
            self._had.pop(message.place, None)
        if message.message_id:
            del self.ids[*message.place, message.message_id]
        self.counts[message.tenant_id] -= 1
        if not self.counts[message.tenant_id]:
            del self.counts[message.tenant_id]
