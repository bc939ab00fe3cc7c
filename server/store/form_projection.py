"""Projects the events of forms to rows."""

from datetime import datetime

from server.engine.form_events import FormDeleted, FormDeployed
from server.store.entities import Form
from server.store.ports import Change, Insert, Update


def form_deployed(event: FormDeployed, now: datetime, changes: list[Change]) -> None:
    if event.previous_key is not None:
        changes.append(Update(Form, event.previous_key, {"is_latest_version": False}))
    row = Form(
        form_key=event.key,
        tenant_id=event.tenant_id,
        form_id=event.form_id,
        version=event.version,
        version_tag=event.version_tag,
        resource_name=event.resource_name,
        schema=event.schema,
        deployment_key=event.deployment_key,
        deployment_time=now,
    )
    changes.append(Insert(row))


def form_deleted(
    event: FormDeleted,
    now: datetime,  # noqa: ARG001  # as for all events
    changes: list[Change],
) -> None:
    deleted = {"is_latest_version": False, "is_deleted": True}
    changes.append(Update(Form, event.definition.key, deleted))
    if event.latest_key is not None:
        changes.append(Update(Form, event.latest_key, {"is_latest_version": True}))
