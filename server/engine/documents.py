"""Documents as pages of bytes, which commits write and recovery reads.

Indexes are not stored; they are rebuilt when a document is read. A format number says how a page is packed.
All formats up to `FORMAT` are read; the format that all nodes of the deployment can read is written. A large
value is packed only in the commit that changes it.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from datetime import datetime
from functools import partial
from itertools import chain
from typing import Generic, Protocol, TypeVar

import msgspec

from server.engine.batch_operations import BatchOperation, BatchPage
from server.engine.events import InstanceHead
from server.engine.keys import Key
from server.engine.messages import HomeSubscription, Message
from server.engine.pages import (
    FIRST_FORMAT,
    FIRST_VALUE_PAGE,
    HEAD_PAGE,
    RECORDS_FORMAT,
    VALUE_FORMAT,
    DocumentId,
    Kind,
    StoredPage,
    is_large,
    keys_of,
    page_of,
    value_page_of,
)
from server.engine.process_instance import (
    ElementInstance,
    Job,
    LoopItem,
    OpenIncident,
    ProcessInstance,
    UserTask,
    Variable,
)
from server.engine.signals import Broadcast
from server.engine.start_timers import StartTimer
from server.engine.state import State
from server.engine.subscriptions import AnySubscription
from server.engine.work import AnyWork

R = TypeVar("R")
T = TypeVar("T")

Record = Message | HomeSubscription | Broadcast | StartTimer | BatchOperation | BatchPage

Document = ProcessInstance | Record

FORMAT = VALUE_FORMAT

# Pages by their numbers. In a commit: the changed pages, None for a deleted one.
Pages = Mapping[int, StoredPage]
ChangedPages = Mapping[int, StoredPage | None]


class UnreadableDocument(ValueError):
    """A page has a format that this version does not know, or a document lacks its first page."""


class _First(msgspec.Struct):
    """A whole process instance in format 1."""

    head: InstanceHead
    elements: dict[Key, ElementInstance] = {}
    variables: dict[Key, dict[str, Variable]] = {}
    jobs: dict[Key, Job] = {}
    incidents: dict[Key, OpenIncident] = {}
    subscriptions: dict[Key, AnySubscription] = {}
    work: tuple[AnyWork, ...] = ()
    activations: int = 0


class _Content(msgspec.Struct, omit_defaults=True, gc=False):
    """A page of a process instance; the first page has the head. Variables are grouped by scope and name."""

    head: InstanceHead | None = None
    elements: list[ElementInstance] = []
    variables: dict[Key, dict[str, Variable]] = {}
    jobs: list[Job] = []
    incidents: list[OpenIncident] = []
    subscriptions: list[AnySubscription] = []
    items: list[LoopItem] = []
    work: tuple[AnyWork, ...] = ()
    activations: int = 0
    postponed_at: datetime | None = None
    user_tasks: list[UserTask] = []
    correlation_key: str = ""
    terminates_after: tuple[str, ...] = ()

    @property
    def is_empty(self) -> bool:
        kinds = (self.elements, self.variables, self.jobs, self.incidents, self.subscriptions, self.items)
        return not (any(kinds) or self.user_tasks)


_encode = msgspec.msgpack.Encoder().encode
_decode_first = msgspec.msgpack.Decoder(_First).decode
_decode = msgspec.msgpack.Decoder(_Content).decode


def changed_pages(state: State, document: DocumentId, changed: AbstractSet[Key]) -> ChangedPages | None:
    """The pages of a document that hold these changed records, for a commit; None for an ended document."""
    return _CHANGED[document.kind](state, document.key, changed)


def _of_process_instance(state: State, key: Key, changed: AbstractSet[Key]) -> ChangedPages | None:
    instance = state.instances.get(key)
    if instance is None:
        return None
    if state.format.documents == FIRST_FORMAT:
        return {HEAD_PAGE: pack_first(instance)}
    return pack(instance, changed, state.limits.whole_records, latest=state.format.documents)


def _of_message(state: State, key: Key, _: AbstractSet[Key]) -> ChangedPages | None:
    return _packed(state.messages.messages.get(key))


def _of_subscription(state: State, key: Key, _: AbstractSet[Key]) -> ChangedPages | None:
    return _packed(state.messages.subscriptions.get(key))


def _of_broadcast(state: State, key: Key, _: AbstractSet[Key]) -> ChangedPages | None:
    return _packed(state.signals.broadcasts.get(key))


def _of_start_timer(state: State, key: Key, _: AbstractSet[Key]) -> ChangedPages | None:
    return _packed(state.start_timers.timers.get(key))


def _of_batch_operation(state: State, key: Key, _: AbstractSet[Key]) -> ChangedPages | None:
    return _packed(state.batches.operations.get(key))


def _of_batch_page(state: State, key: Key, _: AbstractSet[Key]) -> ChangedPages | None:
    return _packed(state.batches.pages.get(key))


def _packed(record: Record | None) -> Pages | None:
    """The only page of a document, or None for an ended one."""
    return None if record is None else {HEAD_PAGE: StoredPage(RECORDS_FORMAT, _encode(record))}


_CHANGED: Mapping[Kind, Callable[[State, Key, AbstractSet[Key]], ChangedPages | None]] = {
    Kind.PROCESS_INSTANCE: _of_process_instance,
    Kind.MESSAGE: _of_message,
    Kind.MESSAGE_SUBSCRIPTION: _of_subscription,
    Kind.BROADCAST: _of_broadcast,
    Kind.START_TIMER: _of_start_timer,
    Kind.BATCH_OPERATION: _of_batch_operation,
    Kind.BATCH_PAGE: _of_batch_page,
}


def pack(
    instance: ProcessInstance, changed: AbstractSet[Key], most: int, *, latest: int = FORMAT
) -> ChangedPages:
    """The changed pages of a process instance, in formats up to `latest`.

    An instance with more than `most` records is divided into pages; it becomes one page again at half of
    that. Large values are on pages of their own, from the first commit on in which `latest` allows it.
    """
    key = instance.head.key
    is_apart = instance.is_apart or (latest >= VALUE_FORMAT and bool(instance.large))
    apart = _apart(instance, changed) if is_apart else {}
    values = {value_page_of(key, record): page for record, page in apart.items()}
    if instance.places is None:
        if instance.size <= most:
            return {HEAD_PAGE: _whole(instance), **values}
        instance.divide()
        numbers = {HEAD_PAGE, *(page_of(key, record) for record in _records(instance))}
    else:
        numbers = {page_of(key, record) for record in (*changed, *apart)}
        if instance.size <= most // 2:
            numbers.update(page_of(key, record) for record in _records(instance))
            instance.places = None
            return {**dict.fromkeys(numbers), HEAD_PAGE: _whole(instance), **values}
    return {**{number: _page(instance, number) for number in numbers}, **values}


def _apart(instance: ProcessInstance, changed: AbstractSet[Key]) -> Mapping[Key, StoredPage | None]:
    """The pages of the large values that changed, and None for those that are gone or small now, by record key.

    An instance that had no page of this kind gets all of them.
    """
    large = instance.large
    pages: dict[Key, StoredPage | None] = {}
    for key in [key for key in (changed if instance.is_apart else large) if key in large]:
        content = _large_value(instance, key)
        if content is None:
            del large[key]
            pages[key] = None
        else:
            pages[key] = StoredPage(VALUE_FORMAT, _encode(content))
    instance.is_apart = bool(large)
    return pages


def _large_value(instance: ProcessInstance, key: Key) -> _Content | None:
    """The page of a record of `large`, if the record is still there and its value still large."""
    place = instance.large[key]
    if place is None:
        item = instance.items.get(key)
        return _Content(items=[item]) if item is not None and item.is_large else None
    scope_key, name = place
    variable = instance.variables.get(scope_key, {}).get(name)
    if variable is None or variable.key != key or not is_large(variable.value):
        return None
    return _Content(variables={scope_key: {name: variable}})


def pack_first(instance: ProcessInstance) -> StoredPage:
    """The whole process instance in format 1, for versions that do not know pages."""
    content = _First(
        instance.head,
        instance.elements,
        instance.variables,
        instance.jobs,
        instance.incidents,
        instance.subscriptions,
        instance.work,
        instance.activations,
    )
    return StoredPage(FIRST_FORMAT, _encode(content))


def _records(instance: ProcessInstance) -> Iterator[Key]:
    """The keys of all records."""
    variables = (variable.key for scope in instance.variables.values() for variable in scope.values())
    kinds = (instance.elements, instance.jobs, instance.incidents, instance.subscriptions, instance.items)
    return chain(*kinds, instance.user_tasks, variables)


def _whole(instance: ProcessInstance) -> StoredPage:
    content = _Content(
        instance.head,
        list(instance.elements.values()),
        instance.variables if not instance.is_apart else _small_variables(instance),
        list(instance.jobs.values()),
        list(instance.incidents.values()),
        list(instance.subscriptions.values()),
        list(instance.items.values()) if not instance.is_apart else _small_items(instance),
        instance.work,
        instance.activations,
        instance.postponed_at,
        list(instance.user_tasks.values()),
        instance.correlation_key,
        instance.terminates_after,
    )
    return StoredPage(RECORDS_FORMAT, _encode(content))


def _small_variables(instance: ProcessInstance) -> dict[Key, dict[str, Variable]]:
    """The variables that are not on pages of their own, by scope and name."""
    large = instance.large
    return {
        scope_key: {name: variable for name, variable in scope.items() if variable.key not in large}
        for scope_key, scope in instance.variables.items()
    }


def _small_items(instance: ProcessInstance) -> list[LoopItem]:
    return [item for key, item in instance.items.items() if key not in instance.large]


def _page(instance: ProcessInstance, number: int) -> StoredPage | None:
    """A page of a divided process instance; None when the page is empty."""
    keys = keys_of(instance.head.key, number)
    if instance.is_apart:
        keys = [key for key in keys if key not in instance.large]
    content = _Content(
        None,
        _among(instance.elements, keys),
        _variables(instance, keys),
        _among(instance.jobs, keys),
        _among(instance.incidents, keys),
        _among(instance.subscriptions, keys),
        _among(instance.items, keys),
        user_tasks=_among(instance.user_tasks, keys),
    )
    if number == HEAD_PAGE:
        content.head = instance.head
        content.work = instance.work
        content.activations = instance.activations
        content.postponed_at = instance.postponed_at
        content.correlation_key = instance.correlation_key
        content.terminates_after = instance.terminates_after
    elif content.is_empty:
        return None
    return StoredPage(RECORDS_FORMAT, _encode(content))


def _among(records: Mapping[Key, R], keys: Iterable[Key]) -> list[R]:
    """The records with these keys."""
    return [records[key] for key in keys if key in records] if records else []


def _variables(instance: ProcessInstance, keys: Iterable[Key]) -> dict[Key, dict[str, Variable]]:
    """The variables with these keys, by scope and name."""
    found: dict[Key, dict[str, Variable]] = {}
    places = instance.places
    if not places:
        return found
    for key in [key for key in keys if key in places]:
        scope_key, name = places[key]
        variable = instance.variables.get(scope_key, {}).get(name)
        if variable is None or variable.key != key:
            # The scope of the variable has ended, or the command that created it was undone.
            del places[key]
        else:
            found.setdefault(scope_key, {})[name] = variable
    return found


class DocumentReader(Protocol):
    """Builds a document from its pages, the first page first."""

    def add(self, number: int, page: StoredPage) -> None:
        """Add a page; raises UnreadableDocument and the errors of msgspec."""
        ...

    def finished(self) -> Document:
        """The document, once all of its pages are added."""
        ...


class InstanceReader:
    """Builds a process instance from its pages, the first page first."""

    def __init__(self) -> None:
        self._instance: ProcessInstance | None = None
        self._is_divided = False

    def add(self, number: int, page: StoredPage) -> None:
        """Add a page; raises UnreadableDocument and the errors of msgspec."""
        if number == HEAD_PAGE:
            self._instance = _READERS.get(page.format, _unknown)(page)
        elif self._instance is None:
            raise UnreadableDocument(f"expected page {HEAD_PAGE} of a document first, found page {number}")
        elif page.format != (VALUE_FORMAT if number >= FIRST_VALUE_PAGE else RECORDS_FORMAT):
            _unknown(page)
        elif number >= FIRST_VALUE_PAGE:
            _take_in_value(self._instance, _decode(page.content))
        else:
            self._is_divided = True
            _take_in(self._instance, _decode(page.content))

    def finished(self) -> ProcessInstance:
        """The process instance, once all of its pages are added."""
        if self._instance is None:
            raise UnreadableDocument(f"expected page {HEAD_PAGE} of a document, found no page")
        _order_variables(self._instance)
        self._instance.index()
        if self._is_divided:
            self._instance.divide()
        return self._instance


class RecordReader(Generic[T]):
    """Builds a document that is one record on one page."""

    def __init__(self, decode: Callable[[bytes], T]) -> None:
        self._decode = decode
        self._record: T | None = None

    def add(self, number: int, page: StoredPage) -> None:
        if number != HEAD_PAGE or page.format != RECORDS_FORMAT:
            _unknown(page)
        self._record = self._decode(page.content)

    def finished(self) -> T:
        if self._record is None:
            raise UnreadableDocument(f"expected page {HEAD_PAGE} of a document, found no page")
        return self._record


READINGS: Mapping[Kind, Callable[[], DocumentReader]] = {
    Kind.PROCESS_INSTANCE: InstanceReader,
    Kind.MESSAGE: partial(RecordReader, msgspec.msgpack.Decoder(Message).decode),
    Kind.MESSAGE_SUBSCRIPTION: partial(RecordReader, msgspec.msgpack.Decoder(HomeSubscription).decode),
    Kind.BROADCAST: partial(RecordReader, msgspec.msgpack.Decoder(Broadcast).decode),
    Kind.START_TIMER: partial(RecordReader, msgspec.msgpack.Decoder(StartTimer).decode),
    Kind.BATCH_OPERATION: partial(RecordReader, msgspec.msgpack.Decoder(BatchOperation).decode),
    Kind.BATCH_PAGE: partial(RecordReader, msgspec.msgpack.Decoder(BatchPage).decode),
}


def unpack(pages: Pages) -> ProcessInstance:
    """The process instance with these pages; raises UnreadableDocument and the errors of msgspec."""
    reading = InstanceReader()
    for number in sorted(pages):
        reading.add(number, pages[number])
    return reading.finished()


def _read_first(page: StoredPage) -> ProcessInstance:
    document = _decode_first(page.content)
    return ProcessInstance(
        document.head,
        document.elements,
        document.variables,
        document.jobs,
        document.incidents,
        document.subscriptions,
        work=document.work,
        activations=document.activations,
    )


def _read_second(page: StoredPage) -> ProcessInstance:
    content = _decode(page.content)
    if content.head is None:
        raise UnreadableDocument(f"expected the head of a process instance on page {HEAD_PAGE}, found none")
    instance = ProcessInstance(
        content.head,
        work=content.work,
        activations=content.activations,
        postponed_at=content.postponed_at,
        correlation_key=content.correlation_key,
        terminates_after=content.terminates_after,
    )
    _take_in(instance, content)
    return instance


def _take_in(instance: ProcessInstance, content: _Content) -> None:
    for element in content.elements:
        instance.elements[element.key] = element
    for job in content.jobs:
        instance.jobs[job.key] = job
    for incident in content.incidents:
        instance.incidents[incident.key] = incident
    for subscription in content.subscriptions:
        instance.subscriptions[subscription.key] = subscription
    for item in content.items:
        instance.items[item.key] = item
    for user_task in content.user_tasks:
        instance.user_tasks[user_task.key] = user_task
    for scope_key, variables in content.variables.items():
        instance.variables.setdefault(scope_key, {}).update(variables)


def _take_in_value(instance: ProcessInstance, content: _Content) -> None:
    """Add the record of a page of a large value."""
    _take_in(instance, content)
    instance.is_apart = True
    for item in content.items:
        instance.large[item.key] = None
    for scope_key, variables in content.variables.items():
        for name, variable in variables.items():
            instance.large[variable.key] = (scope_key, name)


def _order_variables(instance: ProcessInstance) -> None:
    """Sort variables by key, as they were created, in scopes that got some of them from pages of large values."""
    for scope_key in {place[0] for place in instance.large.values() if place is not None}:
        variables = instance.variables[scope_key]
        instance.variables[scope_key] = dict(sorted(variables.items(), key=lambda each: each[1].key))


def _unknown(page: StoredPage) -> ProcessInstance:
    raise UnreadableDocument(f"expected a document in a format up to {FORMAT}, found format {page.format}")


_READERS: Mapping[int, Callable[[StoredPage], ProcessInstance]] = {
    FIRST_FORMAT: _read_first,
    RECORDS_FORMAT: _read_second,
}
