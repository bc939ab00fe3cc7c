"""LRU cache of loaded process instances; evicted instances stay in the store.

Only committed instances are evicted, so an instance that is loaded again equals the evicted one.
"""

from collections import OrderedDict
from collections.abc import Collection, Iterable, Mapping
from itertools import islice

from server.engine.addresses import OwnersOf
from server.engine.commands import Command
from server.engine.documents import Pages, unpack
from server.engine.keys import Key
from server.engine.pages import DocumentId, Kind
from server.engine.process_instance_commands import ContinueProcessInstance
from server.engine.state import State


class LoadedInstances:
    """Keeps `most` process instances, and more while the ones beyond that are not committed yet."""

    def __init__(self, state: State, most: int) -> None:
        self._state = state
        self._most = most
        self._busy: OrderedDict[Key, None] = OrderedDict.fromkeys(state.instances)
        self._named: Collection[Key] = ()
        self._held: Collection[Key] = ()

    def touch(self, documents: Iterable[DocumentId]) -> None:
        """Note at the end of a turn that these documents changed or ended."""
        self._named = ()
        self._note(documents)

    def missing(self, turn: Iterable[Command]) -> Collection[DocumentId]:
        """The evicted process instances that a turn's commands name; the loaded ones stay loaded for the turn."""
        if not self._state.evicted:
            return ()
        self._named = {key for command in turn for key in _named(command, self._state)}
        missing = self._state.evicted.intersection(self._named)
        return [DocumentId(Kind.PROCESS_INSTANCE, key) for key in missing]

    def hold(self, documents: Iterable[DocumentId]) -> None:
        """Keep these documents loaded, instead of those held before, for commands that start again because they missed them.

        A command that needs several instances one after the other therefore ends, however small the cache is.
        """
        self._held = {document.key for document in documents}

    def evict(self, uncommitted: Collection[DocumentId]) -> None:
        """Evict the least recently used instances, except uncommitted, held and named ones."""
        excess = len(self._busy) - self._most
        if excess <= 0:
            return
        staying = {*(document.key for document in uncommitted), *self._named, *self._held}
        idlest = islice((key for key in self._busy if key not in staying), excess)
        for key in list(idlest):
            self._state.evict(key)
            del self._busy[key]

    def bring_back(self, documents: Mapping[DocumentId, Pages]) -> None:
        for pages in documents.values():
            self._state.bring_back(unpack(pages))
        self._note(documents)

    def _note(self, documents: Iterable[DocumentId]) -> None:
        for _, key in documents:
            if key in self._state.instances:
                self._busy[key] = None
                self._busy.move_to_end(key)
            else:
                self._busy.pop(key, None)


def _named(command: Command, state: State) -> Iterable[Key]:
    """The process instances that own the named keys; those of an activation are known only when it runs.

    A process instance that waits for its termination need not be loaded to continue its postponed work.
    """
    if isinstance(command, ContinueProcessInstance) and state.calls.waits_for_termination(
        command.process_instance_key
    ):
        return ()
    address = command.address
    return state.owners_of(address.keys) if isinstance(address, OwnersOf) else ()
