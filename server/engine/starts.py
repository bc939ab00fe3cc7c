"""Start events of the latest versions: by message name, by signal name, and conditions by tenant.

They are derived from the definitions, which every partition knows.
"""

from collections.abc import Iterator
from typing import NamedTuple

from server.engine.definitions import Definition
from server.engine.keys import Key
from server.engine.ordered_keys import OrderedKeys
from server.engine.start_triggers import AnyStartTrigger, ConditionStart, MessageStart, SignalStart

# Tenant id, name of a message or signal.
Place = tuple[str, str]


class Start(NamedTuple):
    """A start event of a process definition."""

    process_definition_key: Key
    element_id: str


# The start events for one message or signal, by process id.
Line = OrderedKeys[str, Start]


class KnownStarts:
    """Indexes of start events; a process has at most one for each message and each signal."""

    def __init__(self) -> None:
        self.messages: dict[Place, Line] = {}
        self.signals: dict[Place, Line] = {}
        # By tenant: the latest version of each process with a conditional start event, by process id.
        self.conditions: dict[str, OrderedKeys[str, Key]] = {}

    def __eq__(self, other: object) -> bool:
        return isinstance(other, KnownStarts) and vars(self) == vars(other)

    __hash__ = None  # type: ignore[assignment]  # mutable

    def open(self, definition: Definition) -> None:
        """Add the start events of a version that became the latest."""
        for places, name, trigger in self._places(definition):
            line = places.setdefault((definition.tenant_id, name), OrderedKeys())
            line.put(definition.process_definition_id, Start(definition.key, trigger.element_id))
        if has_conditions(definition):
            conditions = self.conditions.setdefault(definition.tenant_id, OrderedKeys())
            conditions.put(definition.process_definition_id, definition.key)

    def close(self, definition: Definition) -> None:
        """Remove the start events of a version that is no longer the latest."""
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
    """Whether the process has a conditional start event."""
    return any(isinstance(start, ConditionStart) for start in definition.starts)
