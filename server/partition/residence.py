"""Which process instances are in memory: those that were busy last, at most so many; the others are a document each.

Only what is committed leaves, so a document that comes back is the one that left.
"""

from collections import OrderedDict
from collections.abc import Collection, Iterable, Mapping

from server.engine.documents import unpack
from server.engine.keys import Key
from server.engine.state import State


class Residence:
    """`most` process instances stay; more may while all that is beyond is not committed yet."""

    def __init__(self, state: State, most: int) -> None:
        self._state = state
        self._most = most
        self._busy: OrderedDict[Key, None] = OrderedDict.fromkeys(state.instances)

    def touch(self, keys: Iterable[Key]) -> None:
        """Remember that these were busy, or have ended."""
        for key in keys:
            if key in self._state.instances:
                self._busy[key] = None
                self._busy.move_to_end(key)
            else:
                self._busy.pop(key, None)

    def evict(self, uncommitted: Collection[Key]) -> None:
        """Let the idlest go, but none of these."""
        excess = len(self._busy) - self._most
        if excess <= 0:
            return
        for key in [key for key in self._busy if key not in uncommitted][:excess]:
            self._state.evict(key)
            del self._busy[key]

    def bring_back(self, documents: Mapping[Key, bytes]) -> None:
        for content in documents.values():
            self._state.bring_back(unpack(content))
        self.touch(documents)
