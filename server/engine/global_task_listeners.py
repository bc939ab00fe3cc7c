"""The global task listeners that a partition knows, by tenant. Only `apply` changes them.

They run for every native user task of their tenant, before or after the listeners of its model.
"""

from collections.abc import Collection, Iterable
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
    """Listeners by id, for each tenant; the order of listeners for an event is computed on first use."""

    def __init__(self) -> None:
        self._of: dict[str, dict[str, GlobalTaskListenerSet]] = {}
        self._asked: dict[str, Asked] = {}

    def __eq__(self, other: object) -> bool:
        return isinstance(other, KnownGlobalTaskListeners) and self._of == other._of

    __hash__ = None  # type: ignore[assignment]  # mutable

    def get(self, tenant_id: str, listener_id: str) -> GlobalTaskListenerSet | None:
        return self._of.get(tenant_id, {}).get(listener_id)

    def of(self, tenant_id: str) -> Collection[GlobalTaskListenerSet]:
        return self._of.get(tenant_id, {}).values()

    def count(self, tenant_id: str) -> int:
        return len(self._of.get(tenant_id, ()))

    def put(self, tenant_id: str, listener_id: str, listener: GlobalTaskListenerSet | None) -> None:
        """Set the listener with this id, or delete it when `listener` is None."""
        listeners = self._of.setdefault(tenant_id, {})
        if listener is None:
            listeners.pop(listener_id, None)
        else:
            listeners[listener_id] = listener
        if not listeners:
            del self._of[tenant_id]
        self._asked.pop(tenant_id, None)

    def asked(self, tenant_id: str, event_type: ListenerEventType) -> tuple[GlobalListener, ...]:
        """The listeners of an event that run before the model's listeners, then the listeners that run after them.

        Within each group, higher priorities come first, and equal priorities in the order of the ids.
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
