"""Deploy resources: a new version of every process whose content changed, known to every partition."""

from server.engine import events
from server.engine.answers import DONE, DeployedProcess, Deployment, Done
from server.engine.commands import AdoptDefinition, DeployResources, Resource
from server.engine.keys import Key
from server.engine.state import Definition
from server.engine.step import Step


def deploy(command: DeployResources, step: Step) -> Deployment:
    key = step.next_key()
    step.emit(events.DeploymentCreated(key, command.tenant_id))
    definitions = [
        _definition(command.tenant_id, resource, process_id, step, deployment_key=key)
        for resource in command.resources
        for process_id in resource.process_ids
    ]
    return Deployment(key, tuple(map(_deployed, definitions)))


def adopt(command: AdoptDefinition, step: Step) -> Done:
    """Does nothing when it is known already."""
    if command.definition.key not in step.state.definitions:
        step.emit(events.ProcessDefinitionAdopted(command.definition))
    return DONE


def _deployed(definition: Definition) -> DeployedProcess:
    return DeployedProcess(
        definition.key, definition.process.id, definition.version, definition.resource_name
    )


def _definition(
    tenant_id: str, resource: Resource, process_id: str, step: Step, *, deployment_key: Key
) -> Definition:
    latest = step.state.latest(tenant_id, process_id)
    if latest is not None and _is_unchanged(latest, resource):
        return latest
    key = step.next_key()
    step.emit(
        events.ProcessDefinitionDeployed(
            key,
            deployment_key,
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
