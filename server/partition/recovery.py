"""Rebuilds a partition from the database.

Definitions are compiled on first use, and other tasks of the process run between chunks, so a recovery of
many thousands of rows delays nothing else.
"""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import cast

import msgspec

from server.engine import State
from server.engine.apply import apply
from server.engine.batch_operations import BatchOperation, BatchPage
from server.engine.documents import READINGS, Document, DocumentReader, UnreadableDocument
from server.engine.formats import UnreadableFormat
from server.engine.keys import Key
from server.engine.messages import HomeSubscription, Message
from server.engine.pages import DocumentId, Kind, StoredPage
from server.engine.process_instance import ProcessInstance
from server.engine.signals import Broadcast
from server.engine.start_timers import StartTimer
from server.partition.due import Due
from server.partition.turn import definition_of
from server.platform import collector
from server.store.postgres.leases import Lease

Definitions = AsyncIterator[Iterable[tuple[Key, bytes]]]
# Pages of documents, grouped by document.
Documents = AsyncIterator[Iterable[tuple[DocumentId, int, StoredPage]]]


@dataclass(frozen=True, slots=True)
class Recovered:
    """A recovered partition; `active` is the number of process instances by tenant."""

    state: State
    due: Due
    active: Counter[str]


async def recovered(
    lease: Lease, definitions: Definitions, documents: Documents, most_loaded: int
) -> Recovered:
    """Build the partition from chunks of rows; the youngest `most_loaded` process instances stay loaded.

    Raises UnreadableFormat.
    """
    found = Recovered(State(lease.partition_id), Due(), Counter())
    state = found.state
    state.last_key = max(state.last_key, lease.last_key)
    state.message_homes = lease.message_homes
    with collector.paused():
        async for chunk in definitions:
            for key, content in chunk:
                with _readable(f"process definition {key}"):
                    apply(state, definition_of(content))
            await asyncio.sleep(0)
        reader = _Reader(found)
        async for pages in documents:
            for document, number, page in pages:
                reader.add(document, number, page)
            _shrink(state, most_loaded)
            await asyncio.sleep(0)
        reader.end()
        _shrink(state, most_loaded)
        state.order_offers()
        state.messages.order()
    return found


class _Reader:
    """Adds a document to the state after its last page, which may be in a later chunk than its first."""

    def __init__(self, found: Recovered) -> None:
        self._found = found
        self._document: DocumentId | None = None
        self._reading: DocumentReader | None = None

    def add(self, document: DocumentId, number: int, page: StoredPage) -> None:
        if document != self._document:
            self.end()
            self._document, self._reading = document, READINGS[document.kind]()
        assert self._reading is not None  # noqa: S101  # narrows the type
        with _readable(_name(document)):
            self._reading.add(number, page)

    def end(self) -> None:
        if self._document is not None and self._reading is not None:
            with _readable(_name(self._document)):
                found = self._reading.finished()
            _TAKE_IN[self._document.kind](self._found, found)


def _name(document: DocumentId) -> str:
    return f"{document.kind.name.lower().replace('_', ' ')} {document.key}"


def _take_in_process_instance(found: Recovered, instance: ProcessInstance) -> None:
    found.state.take_in(instance)
    found.due.adopt(instance)
    found.active[instance.head.tenant_id] += 1


def _take_in_message(found: Recovered, message: Message) -> None:
    found.state.messages.take_in(message)
    found.due.adopt_message(message)


def _take_in_subscription(found: Recovered, subscription: HomeSubscription) -> None:
    found.state.messages.take_in(subscription)


def _take_in_broadcast(found: Recovered, broadcast: Broadcast) -> None:
    found.state.signals.take_in(broadcast)
    found.due.adopt_broadcast(broadcast)


def _take_in_start_timer(found: Recovered, timer: StartTimer) -> None:
    found.state.start_timers.take_in(timer)
    found.due.adopt_start_timer(timer)


def _take_in_batch_operation(found: Recovered, operation: BatchOperation) -> None:
    found.state.batches.take_in(operation)
    found.due.adopt_batch_operation(operation)


def _take_in_batch_page(found: Recovered, page: BatchPage) -> None:
    found.state.batches.take_in_page(page)


_TAKE_IN: Mapping[Kind, Callable[[Recovered, Document], None]] = cast(
    "Mapping[Kind, Callable[[Recovered, Document], None]]",
    {
        Kind.PROCESS_INSTANCE: _take_in_process_instance,
        Kind.MESSAGE: _take_in_message,
        Kind.MESSAGE_SUBSCRIPTION: _take_in_subscription,
        Kind.BROADCAST: _take_in_broadcast,
        Kind.START_TIMER: _take_in_start_timer,
        Kind.BATCH_OPERATION: _take_in_batch_operation,
        Kind.BATCH_PAGE: _take_in_batch_page,
    },
)


def _shrink(state: State, most: int) -> None:
    for key in list(state.instances)[: max(len(state.instances) - most, 0)]:
        state.evict(key)


@contextmanager
def _readable(name: str) -> Iterator[None]:
    """Raises UnreadableFormat with the name of the unreadable document or definition."""
    try:
        yield
    except (UnreadableFormat, UnreadableDocument, msgspec.MsgspecError) as error:
        raise UnreadableFormat(f"{name} cannot be read: {error}") from error
