"""The global task listeners that a partition knows, by their tenant. Only `apply` changes them.

They are asked about every native user task of their tenant, before or after the listeners that its model has.
"""

from collections.abc import Iterable
from typing import Final

from server.engine.global_task_listener_events import GlobalTaskListenerSet
from server.engine.job_kinds import ListenerEventType
from server.engine.user_task_changes import GlobalListener

ALL: Final = "all"
EVENT_TYPES: Final = (
    ListenerEventType.CREATING,
    ListenerEventType.ASSIGNING,
    ListenerEventType.UPDATING,
    ListenerEventType.COMPLETING,
    ListenerEventType.CANCELING,
)

Asked = dict[ListenerEventType, tuple[GlobalListener, ...]]


class KnownGlobalTaskListeners:
    """Listeners by their ids, of each tenant; what is asked about an event is sorted when that is first needed."""

    def __init__(self) -> None:
        self._of: dict[str, dict[str, GlobalTaskListenerSet]] = {}
        self._asked: dict[str, Asked] = {}

    def __eq__(self, other: object) -> bool:
        return isinstance(other, KnownGlobalTaskListeners) and self._of == other._of

    __hash__ = None  # type: ignore[assignment]  # mutable

    def get(self, tenant_id: str, listener_id: str) -> GlobalTaskListenerSet | None:
        return self._of.get(tenant_id, {}).get(listener_id)

    def count(self, tenant_id: str) -> int:
        return len(self._of.get(tenant_id, ()))

    def put(self, tenant_id: str, listener_id: str, listener: GlobalTaskListenerSet | None) -> None:
        """Give the id this listener, or none."""
        listeners = self._of.setdefault(tenant_id, {})
        if listener is None:
            listeners.pop(listener_id, None)
        else:
            listeners[listener_id] = listener
        if not listeners:
            del self._of[tenant_id]
        self._asked.pop(tenant_id, None)

    def asked(self, tenant_id: str, event_type: ListenerEventType) -> tuple[GlobalListener, ...]:
        """Those that are asked before the listeners of the model, then those that are asked after them.

        Those of a higher priority come first, those of the same one in the order of their ids.
        """
        listeners = self._of.get(tenant_id)
        if listeners is None:
            return ()
        asked = self._asked.get(tenant_id)
        if asked is None:
            asked = self._asked[tenant_id] = _by_event(listeners.values())
        return asked[event_type]


def _by_event(listeners: Iterable[GlobalTaskListenerSet]) -> Asked:
    ordered = sorted(listeners, key=lambda each: (each.after_non_global, -each.priority, each.id))
    return {
        event_type: tuple(
            GlobalListener(each.type, each.retries, each.after_non_global)
            for each in ordered
            if not {ALL, event_type.lower()}.isdisjoint(each.event_types)
        )
        for event_type in EVENT_TYPES
    }
