"""Stories whose process instances are stored in pages: after each commit, the pages are read and have to be all there is."""

from collections.abc import Sequence

import msgspec

from server.engine import State, apply
from server.engine.changes import changed_records
from server.engine.documents import READINGS, ChangedPages, Document, Pages, changed_pages, unpack
from server.engine.events import Event, InstanceEvent
from server.engine.keys import Key
from server.engine.limits import EngineLimits
from server.engine.pages import DocumentId, Kind, StoredPage
from server.engine.process_instance import ProcessInstance
from tests.server.engine.scenario import Scenario
from tests.server.engine.stored import id_of


class PagedScenario(Scenario):
    """Writes the pages that changed after every few commands, and then reads everything back."""

    def __init__(self, whole_records: int = 256, every: int = 1) -> None:
        super().__init__(limits=EngineLimits(whole_records=whole_records))
        self.stored: dict[DocumentId, dict[int, StoredPage]] = {}
        self.written: dict[DocumentId, ChangedPages | None] = {}
        self._every = every
        self._commands = 0
        self._changed: dict[DocumentId, set[Key]] = {}

    def happens(self, happened: Sequence[Event]) -> None:
        super().happens(happened)
        for document, records in self.state.journal.changed.items():
            self._changed.setdefault(document, set[Key]()).update(records)
        self._commands += 1
        if self._commands % self._every == 0:
            self.commit()

    def commit(self) -> None:
        self.written = {
            document: changed_pages(self.state, document, records)
            for document, records in self._changed.items()
        }
        self._changed.clear()
        for document, pages in self.written.items():
            if pages is None:
                self.stored.pop(document, None)
            else:
                kept = {**self.stored.get(document, {}), **pages}
                self.stored[document] = {number: page for number, page in kept.items() if page is not None}
        found: dict[Kind, dict[Key, Document]] = {kind: {} for kind in Kind}
        for (kind, key), pages in self.stored.items():
            found[kind][key] = read_back(kind, pages)
        assert found == {
            Kind.PROCESS_INSTANCE: self.state.instances,
            Kind.MESSAGE: self.state.messages.messages,
            Kind.MESSAGE_SUBSCRIPTION: self.state.messages.subscriptions,
            Kind.BROADCAST: self.state.signals.broadcasts,
            Kind.START_TIMER: self.state.start_timers.timers,
            Kind.BATCH_OPERATION: self.state.batches.operations,
            Kind.BATCH_PAGE: self.state.batches.pages,
        }

    def evict_and_bring_back(self) -> None:
        """All process instances that are committed."""
        for document, pages in self.stored.items():
            if document.kind is Kind.PROCESS_INSTANCE:
                self.state.evict(document.key)
                self.state.bring_back(unpack(pages))

    @property
    def pages(self) -> dict[int, StoredPage]:
        return self.stored[id_of(self.instance_key)]

    @property
    def written_pages(self) -> ChangedPages:
        """The pages of the instance that the last commit wrote."""
        pages = self.written[id_of(self.instance_key)]
        assert pages is not None
        return pages

    def expect_laws(self) -> None:
        super().expect_laws()
        expect_named_changes(self.events)


def read_back(kind: Kind, pages: Pages) -> Document:
    reading = READINGS[kind]()
    for number in sorted(pages):
        reading.add(number, pages[number])
    return reading.finished()


def expect_named_changes(happened: Sequence[Event]) -> None:
    """Every event changes the records that are named for it, and no other."""
    state = State()
    for event in happened:
        instance = state.instances.get(event.instance.key) if isinstance(event, InstanceEvent) else None
        if instance is None or not isinstance(event, InstanceEvent):
            apply(state, event)
            continue
        named, before = set(changed_records(instance, event)), records_of(instance)
        apply(state, event)
        after = records_of(instance)
        changed = {key for key in before.keys() | after.keys() if before.get(key) != after.get(key)}
        assert changed <= named, event


def records_of(instance: ProcessInstance) -> dict[Key, bytes]:
    """Each packed, by its key."""
    found: dict[Key, object] = {
        **instance.elements,
        **instance.jobs,
        **instance.incidents,
        **instance.subscriptions,
        **instance.user_tasks,
    }
    for scope_key, variables in instance.variables.items():
        for name, variable in variables.items():
            found[variable.key] = (scope_key, name, variable)
    key = instance.head.key
    found[key] = (instance.head, instance.work, instance.activations, instance.elements.get(key))
    return {key: msgspec.msgpack.encode(record) for key, record in found.items()}
