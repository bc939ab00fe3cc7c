"""Deploy resources: a new version of every process whose content changed."""

from server.engine import events
from server.engine.answers import Deployment
from server.engine.commands import DeployResources, Resource
from server.engine.state import Definition
from server.engine.step import Step


def deploy(command: DeployResources, step: Step) -> Deployment:
    key = step.next_key()
    step.emit(events.DeploymentCreated(key, command.tenant_id))
    definitions = [
        _definition(command.tenant_id, resource, process_id, step)
        for resource in command.resources
        for process_id in resource.process_ids
    ]
    return Deployment(key, tuple(definitions))


def _definition(tenant_id: str, resource: Resource, process_id: str, step: Step) -> Definition:
    latest = step.state.latest(tenant_id, process_id)
    if latest is not None and _is_unchanged(latest, resource):
        return latest
    key = step.next_key()
    step.emit(
        events.ProcessDefinitionDeployed(
            key,
            tenant_id,
            process_id,
            latest.version + 1 if latest else 1,
            latest.key if latest else None,
            resource.name,
            resource.checksum,
            resource.content,
        )
    )
    return step.state.definitions[key]


def _is_unchanged(latest: Definition, resource: Resource) -> bool:
    return (latest.checksum, latest.resource_name) == (resource.checksum, resource.name)
