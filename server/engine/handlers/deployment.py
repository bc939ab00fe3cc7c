"""Deploys resources: everything whose content changed becomes a new version, which all partitions adopt."""

from collections.abc import Iterator

from server.engine import decision_events, events, form_events, generic_resource_events
from server.engine.answers import (
    DONE,
    DeployedDecision,
    DeployedProcess,
    DeployedRequirements,
    Deployment,
    Done,
)
from server.engine.decision_events import DecisionRequirementsDeployed
from server.engine.definitions import Definition, executable_process, message_starts_of
from server.engine.deployment_commands import (
    AdoptDefinition,
    DecisionModel,
    DeployResources,
    NamedDecision,
    Resource,
)
from server.engine.endless_calls import expect_ends
from server.engine.form_events import FormDeployed
from server.engine.generic_resource_events import GenericResourceDeployed
from server.engine.handlers import deployed_files, start_timer
from server.engine.handlers.deployed_files import is_unchanged
from server.engine.keys import Key
from server.engine.start_evaluation import NoVariables, start_triggers
from server.engine.step import Step


def deploy(command: DeployResources, step: Step) -> Deployment:
    deployed_files.expect_features(command, step)
    expect_ends(command, step.state)
    is_renewed = _has_changes(command, step) and _is_bound(command)
    key = step.next_key()
    step.emit(events.DeploymentCreated(key, command.tenant_id))
    # Other partitions receive the events in this order, so a started process finds its forms and resources.
    forms = [
        deployed_files.form(command.tenant_id, file, step, deployment_key=key, is_renewed=is_renewed)
        for file in command.forms
    ]
    resources = [
        deployed_files.generic_resource(
            command.tenant_id, file, step, deployment_key=key, is_renewed=is_renewed
        )
        for file in command.generic
    ]
    definitions = [
        latest
        if latest is not None and not is_renewed and is_unchanged(latest, resource)
        else _definition(command.tenant_id, resource, process_id, step, deployment_key=key)
        for resource, process_id, latest in _with_latest(command, step)
    ]
    graphs = [
        _graph(command.tenant_id, model, step, deployment_key=key, is_renewed=is_renewed)
        for model in command.decision_models
    ]
    return Deployment(
        key,
        tuple(map(_deployed, definitions)),
        tuple(map(_deployed_graph, graphs)),
        tuple(forms),
        tuple(resources),
    )


def adopt(command: AdoptDefinition, step: Step) -> Done:
    """Make a definition known that another partition deployed; does nothing when it is known already."""
    definition = command.definition
    if isinstance(definition, DecisionRequirementsDeployed):
        if definition.key not in step.state.decisions.graphs:
            step.emit(decision_events.DecisionRequirementsAdopted(definition))
    elif isinstance(definition, FormDeployed):
        if definition.key not in step.state.forms.files:
            step.emit(form_events.FormAdopted(definition))
    elif isinstance(definition, GenericResourceDeployed):
        if definition.key not in step.state.generic_resources.files:
            step.emit(generic_resource_events.GenericResourceAdopted(definition))
    else:
        if definition.key not in step.state.definitions:
            step.emit(events.ProcessDefinitionAdopted(definition))
        start_timer.close_earlier(step, definition.tenant_id, definition.process_definition_id)
    return DONE


def _has_changes(command: DeployResources, step: Step) -> bool:
    """Whether anything in the deployment becomes a new version."""
    latest = step.state.decisions.latest_graph
    return (
        any(
            known is None or not is_unchanged(known, resource)
            for resource, _, known in _with_latest(command, step)
        )
        or any(
            not _is_current(latest(command.tenant_id, model.decision_requirements_id), model, step)
            for model in command.decision_models
        )
        or deployed_files.has_changes(command, step)
    )


# Processes


def _with_latest(command: DeployResources, step: Step) -> Iterator[tuple[Resource, str, Definition | None]]:
    """Each process of the deployment: its file, its id, and its latest version."""
    for resource in command.resources:
        for process_id in resource.process_ids:
            yield resource, process_id, step.state.latest(command.tenant_id, process_id)


def _deployed(definition: Definition) -> DeployedProcess:
    return DeployedProcess(
        definition.key, definition.process_definition_id, definition.version, definition.resource_name
    )


def _definition(
    tenant_id: str, resource: Resource, process_id: str, step: Step, *, deployment_key: Key
) -> Definition:
    latest = step.state.latest(tenant_id, process_id)
    # Compiled before it is known, so that content that cannot be run is never deployed.
    process = executable_process(resource.content, process_id)
    step.state.format.expect_process(process)
    scope = NoVariables(step, deployment_key, tenant_id)
    starts = start_triggers(process, scope)
    key = step.next_key()
    step.emit(
        events.ProcessDefinitionDeployed(
            key,
            deployment_key,
            tenant_id,
            process_id,
            step.state.next_version(tenant_id, process_id),
            latest.key if latest else None,
            resource.name,
            resource.checksum,
            resource.content,
            starts,
            process.version_tag,
        )
    )
    definition = step.state.definitions[key]
    if latest is not None:
        change_message_starts(step, latest, are_open=False)
    start_timer.renew(step, definition, process, scope)
    return definition


def change_message_starts(step: Step, definition: Definition, *, are_open: bool) -> None:
    """Open or close the message subscriptions of a version's start events."""
    keys = tuple(message_starts_of(definition))
    if keys:
        step.emit(events.MessageStartsChanged(keys, are_open))


# Decisions


def _deployed_graph(graph: DecisionRequirementsDeployed) -> DeployedRequirements:
    decisions = [
        DeployedDecision(decision.key, decision.decision_definition_id, decision.name, decision.version)
        for decision in graph.decisions
    ]
    return DeployedRequirements(
        graph.key,
        graph.decision_requirements_id,
        graph.name,
        graph.version,
        graph.resource_name,
        tuple(decisions),
    )


def _is_bound(command: DeployResources) -> bool:
    """Whether one of the processes binds something to its own deployment."""
    return any(
        executable_process(resource.content, process_id).is_bound_to_deployment
        for resource in command.resources
        for process_id in resource.process_ids
    )


def _graph(
    tenant_id: str, model: DecisionModel, step: Step, *, deployment_key: Key, is_renewed: bool
) -> DecisionRequirementsDeployed:
    latest = step.state.decisions.latest_graph(tenant_id, model.decision_requirements_id)
    if latest is not None and not is_renewed and _is_current(latest, model, step):
        return latest
    key = step.next_key()
    graph = DecisionRequirementsDeployed(
        key=key,
        deployment_key=deployment_key,
        tenant_id=tenant_id,
        decision_requirements_id=model.decision_requirements_id,
        name=model.decision_requirements_name,
        version=step.state.decisions.next_graph_version(tenant_id, model.decision_requirements_id),
        resource_name=model.name,
        checksum=model.checksum,
        content=model.content,
        imports=model.imports,
        dialect=model.dialect,
        decisions=tuple(
            _decision(tenant_id, decision, step, key=Key(key + place))
            for place, decision in enumerate(model.decisions, start=1)
        ),
    )
    step.emit(graph)
    return graph


def _is_current(latest: DecisionRequirementsDeployed | None, model: DecisionModel, step: Step) -> bool:
    return latest is not None and _is_same(latest, model) and _is_up_to_date(latest, step)


def _is_same(latest: DecisionRequirementsDeployed, model: DecisionModel) -> bool:
    return is_unchanged(latest, model) and latest.dialect == model.dialect


def _is_up_to_date(graph: DecisionRequirementsDeployed, step: Step) -> bool:
    """Whether no other graph has a later version of one of its decisions."""
    found = [
        step.state.decisions.latest(graph.tenant_id, decision.decision_definition_id)
        for decision in graph.decisions
    ]
    return all(decision is not None and decision.graph is graph for decision in found)


def _decision(
    tenant_id: str, decision: NamedDecision, step: Step, *, key: Key
) -> decision_events.DeployedDecision:
    latest = step.state.decisions.latest(tenant_id, decision.id)
    return decision_events.DeployedDecision(
        key=key,
        decision_definition_id=decision.id,
        name=decision.name,
        version=step.state.decisions.next_version(tenant_id, decision.id),
        previous_key=latest.key if latest else None,
        version_tag=decision.version_tag,
    )
