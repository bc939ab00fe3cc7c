"""Projects the events of generic resources to rows."""

from datetime import datetime

from server.engine.generic_resource_events import GenericResourceDeleted, GenericResourceDeployed
from server.store.entities import GenericResource
from server.store.ports import Change, Insert, Update


def generic_resource_deployed(event: GenericResourceDeployed, now: datetime, changes: list[Change]) -> None:
    if event.previous_key is not None:
        changes.append(Update(GenericResource, event.previous_key, {"is_latest_version": False}))
    row = GenericResource(
        resource_key=event.key,
        tenant_id=event.tenant_id,
        resource_id=event.resource_id,
        version=event.version,
        version_tag=event.version_tag,
        resource_name=event.resource_name,
        content=event.content,
        deployment_key=event.deployment_key,
        deployment_time=now,
    )
    changes.append(Insert(row))


def generic_resource_deleted(
    event: GenericResourceDeleted,
    now: datetime,  # noqa: ARG001  # as for all events
    changes: list[Change],
) -> None:
    deleted = {"is_latest_version": False, "is_deleted": True}
    changes.append(Update(GenericResource, event.definition.key, deleted))
    if event.latest_key is not None:
        changes.append(Update(GenericResource, event.latest_key, {"is_latest_version": True}))
