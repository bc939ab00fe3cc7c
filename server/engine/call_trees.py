"""Trees of process instances that call activities have started, and the scopes in them that are ending.

When a scope ends, its descendants are terminated in slices. Until a slice reaches them, they do not continue:
nothing is activated below a scope that is ending. The look-up needs no loaded process instance.
"""

from collections.abc import Iterator

from server.engine.journal import Journal
from server.engine.keys import Key
from server.engine.process_instance import ElementInstance, ProcessInstance


class CallTrees:
    """Indexes of the live process instances of a partition, also of the evicted ones; a tree lives in one partition.

    - `ending`: the element instances whose children are being terminated
    - `callers`: for each called process instance, its call activity and the scopes around it, innermost first
    - `sizes`: for each root process instance, the number of called process instances below it
    """

    def __init__(self) -> None:
        self.ending: dict[Key, None] = {}
        self.callers: dict[Key, tuple[Key, ...]] = {}
        self.sizes: dict[Key, int] = {}

    def __eq__(self, other: object) -> bool:
        return isinstance(other, CallTrees) and vars(self) == vars(other)

    __hash__ = None  # type: ignore[assignment]  # mutable

    def is_called_off(self, key: Key) -> bool:
        """Whether a scope above this called process instance is ending."""
        ending = self.ending
        if not ending:
            return False
        scopes = self.callers.get(key)
        while scopes is not None:
            if any(scope_key in ending for scope_key in scopes):
                return True
            scopes = self.callers.get(scopes[-1])
        return False

    def waits_for_termination(self, key: Key) -> bool:
        """Whether a process instance is below a scope that is ending, and its own termination has not begun."""
        return self.is_called_off(key) and key not in self.ending

    def ends_above(self, instance: ProcessInstance, element: ElementInstance) -> bool:
        """Whether a scope around this element instance is ending, in its process instance or above that."""
        ending = self.ending
        if not ending:
            return False
        for key in _scopes(instance, element.scope_key):
            if key in ending:
                return True
        return self.is_called_off(instance.head.key)

    def call(self, instance: ProcessInstance, call_activity: ElementInstance, called_key: Key) -> None:
        """Add the called process instance of a call activity."""
        self.callers[called_key] = tuple(_scopes(instance, call_activity.key))

    def grow(self, instance: ProcessInstance) -> None:
        """Count a called process instance that was created."""
        if instance.head.caller is not None:
            root_key = instance.head.root_key
            self.sizes[root_key] = self.sizes.get(root_key, 0) + 1

    def mark(self, element: ElementInstance, journal: Journal) -> None:
        """Note whether the children of an element instance are being terminated."""
        if element.ends_children:
            journal.put(self.ending, element.key, None)
        elif self.ending:
            journal.drop(self.ending, element.key)

    def take_in(self, instance: ProcessInstance) -> None:
        """Add the indexes of a process instance that was read from its document."""
        self.grow(instance)
        for element in instance.elements.values():
            if element.called_key is not None:
                self.call(instance, element, element.called_key)
            if element.ends_children:
                self.ending[element.key] = None

    def release(self, instance: ProcessInstance, journal: Journal) -> None:
        """Remove the indexes of a process instance."""
        if self.ending:
            for key in instance.elements:
                journal.drop(self.ending, key)
        if instance.head.caller is None:
            return
        journal.drop(self.callers, instance.head.key)
        root_key = instance.head.root_key
        left = self.sizes[root_key] - 1
        if left:
            journal.put(self.sizes, root_key, left)
        else:
            journal.drop(self.sizes, root_key)


def _scopes(instance: ProcessInstance, key: Key | None) -> Iterator[Key]:
    """The element instance with this key, and the scopes around it."""
    while key is not None:
        yield key
        key = instance.elements[key].scope_key
