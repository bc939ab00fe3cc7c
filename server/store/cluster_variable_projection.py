"""Projects the events of cluster variables to rows."""

from datetime import datetime

from server.engine.cluster_variable_events import ClusterVariableDeleted, ClusterVariableSet
from server.store.entities import ClusterVariable, ClusterVariableScope
from server.store.ports import Change, Delete, Insert, Update


def cluster_variable_set(
    event: ClusterVariableSet,
    now: datetime,  # noqa: ARG001  # as for all events
    changes: list[Change],
) -> None:
    if event.revision > 1:
        changes.append(Update(ClusterVariable, event.key, {"value": event.value}))
        return
    row = ClusterVariable(
        cluster_variable_key=event.key,
        tenant_id=event.tenant_id,
        name=event.name,
        value=event.value,
        scope=ClusterVariableScope.GLOBAL if event.tenant_id is None else ClusterVariableScope.TENANT,
    )
    changes.append(Insert(row))


def cluster_variable_deleted(
    event: ClusterVariableDeleted,
    now: datetime,  # noqa: ARG001  # as for all events
    changes: list[Change],
) -> None:
    changes.append(Delete(ClusterVariable, event.variable.key))
