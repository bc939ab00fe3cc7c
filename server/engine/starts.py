"""Start events of the latest versions of processes: by the name of their message or signal, conditions by tenant.

They follow from the definitions, which every partition knows.
"""

from collections.abc import Iterator
from typing import NamedTuple

from server.engine.definitions import Definition
from server.engine.keys import Key
from server.engine.ordered_keys import OrderedKeys
from server.engine.start_triggers import AnyStartTrigger, ConditionStart, MessageStart, SignalStart

# Tenant, name of a message or signal.
Place = tuple[str, str]


class Start(NamedTuple):
    """A start event of a process definition."""

    process_definition_key: Key
    element_id: str


# Of each process that begins with it, by process id.
Line = OrderedKeys[str, Start]


class KnownStarts:
    """A process has one start event at most for a message, and one for a signal."""

    def __init__(self) -> None:
        self.messages: dict[Place, Line] = {}
        self.signals: dict[Place, Line] = {}
        # By tenant: the latest version of each process that begins with a condition, by process id.
        self.conditions: dict[str, OrderedKeys[str, Key]] = {}

    def __eq__(self, other: object) -> bool:
        return isinstance(other, KnownStarts) and vars(self) == vars(other)

    __hash__ = None  # type: ignore[assignment]  # mutable

    def open(self, definition: Definition) -> None:
        """From now on its start events begin process instances."""
        for places, name, trigger in self._places(definition):
            line = places.setdefault((definition.tenant_id, name), OrderedKeys())
            line.put(definition.process_definition_id, Start(definition.key, trigger.element_id))
        if has_conditions(definition):
            conditions = self.conditions.setdefault(definition.tenant_id, OrderedKeys())
            conditions.put(definition.process_definition_id, definition.key)

    def close(self, definition: Definition) -> None:
        """A later version has taken its place."""
        for places, name, _ in self._places(definition):
            place = (definition.tenant_id, name)
            places[place].remove(definition.process_definition_id)
            if not places[place]:
                del places[place]
        if has_conditions(definition):
            self.conditions[definition.tenant_id].remove(definition.process_definition_id)
            if not self.conditions[definition.tenant_id]:
                del self.conditions[definition.tenant_id]

    def _places(self, definition: Definition) -> Iterator[tuple[dict[Place, Line], str, AnyStartTrigger]]:
        for trigger in definition.starts:
            match trigger:
                case MessageStart():
                    yield self.messages, trigger.message_name, trigger
                case SignalStart():
                    yield self.signals, trigger.signal_name, trigger
                case ConditionStart():
                    pass


def has_conditions(definition: Definition) -> bool:
    """Whether the process begins with a condition."""
    return any(isinstance(start, ConditionStart) for start in definition.starts)
