"""Deletes deployed resources, in every partition.

Process instances of a deleted version continue. If it was the latest, the previous version becomes the
latest: its start events are subscribed again, and its timers count from now.
"""

import msgspec

from server.engine import events
from server.engine.answers import DONE, Done
from server.engine.decision_events import DecisionRequirementsDeleted, DecisionRequirementsDeployed
from server.engine.definitions import Definition
from server.engine.deployment_commands import AdoptDeletion, DeleteResource
from server.engine.form_events import FormDeleted, FormDeployed
from server.engine.generic_resource_events import GenericResourceDeleted, GenericResourceDeployed
from server.engine.handlers import start_timer
from server.engine.handlers.deployment import change_message_starts
from server.engine.keys import Key
from server.engine.rejection import Rejected, RejectionType
from server.engine.sent import EVERY_OTHER, CommandSent
from server.engine.start_evaluation import NoVariables
from server.engine.state import State
from server.engine.step import Step


def delete(command: DeleteResource, step: Step) -> Done:
    key = command.resource_key
    definition, graph = step.state.definitions.get(key), step.state.decisions.graphs.get(key)
    form, resource = step.state.forms.files.get(key), step.state.generic_resources.files.get(key)
    if definition is not None and definition.tenant_id == command.tenant_id and not definition.is_deleted:
        _delete_process(definition, step)
    elif graph is not None and graph.tenant_id == command.tenant_id:
        _delete_decisions(graph, step)
    elif form is not None and form.tenant_id == command.tenant_id:
        _delete_form(form, step)
    elif resource is not None and resource.tenant_id == command.tenant_id:
        _delete_generic_resource(resource, step)
    else:
        raise Rejected(RejectionType.NOT_FOUND, f"no resource with key {key}")
    step.emit(CommandSent(EVERY_OTHER, AdoptDeletion(command.tenant_id, key)))
    if definition is not None:
        _renew_timers(definition, step)
    return DONE


def adopt(command: AdoptDeletion, step: Step) -> Done:
    """Delete a resource that another partition deleted; does nothing when it is deleted already."""
    key, state = command.resource_key, step.state
    definition = state.definitions.get(key)
    is_process = definition is not None and not definition.is_deleted
    known = (state.decisions.graphs, state.forms.files, state.generic_resources.files)
    if is_process or any(key in each for each in known):
        step.emit(events.DeletionAdopted(key))
    if definition is not None:
        start_timer.close_earlier(step, definition.tenant_id, definition.process_definition_id)
    return DONE


def _delete_process(definition: Definition, step: Step) -> None:
    name = (definition.tenant_id, definition.process_definition_id)
    was_latest = step.state.latest(*name) is definition
    previous = _previous(step.state, definition) if was_latest else None
    step.emit(
        events.ProcessDefinitionDeleted(_deployed(definition), previous.key if previous is not None else None)
    )
    if was_latest:
        change_message_starts(step, definition, are_open=False)
    if previous is not None:
        change_message_starts(step, previous, are_open=True)


def _renew_timers(deleted: Definition, step: Step) -> None:
    """Set the timers of the version that became the latest, after the deletion was sent to all partitions."""
    name = (deleted.tenant_id, deleted.process_definition_id)
    latest = step.state.latest(*name)
    if latest is None:
        start_timer.close_earlier(step, *name)
    elif latest.key < deleted.key:
        scope = NoVariables(step, latest.deployment_key, latest.tenant_id)
        start_timer.renew(step, latest, latest.process, scope)


def _previous(state: State, latest: Definition) -> Definition | None:
    """The version before the latest one, or None."""
    keys = [*state.versions[latest.tenant_id, latest.process_definition_id].values()]
    return state.definitions[keys[-2]] if len(keys) > 1 else None


def _deployed(definition: Definition) -> events.ProcessDefinitionDeployed:
    """The stored form of a deleted definition."""
    return events.ProcessDefinitionDeployed(
        key=definition.key,
        deployment_key=definition.deployment_key,
        tenant_id=definition.tenant_id,
        process_definition_id=definition.process_definition_id,
        version=definition.version,
        previous_key=None,
        resource_name=definition.resource_name,
        checksum=definition.checksum,
        content=definition.content,
        starts=definition.starts,
        version_tag=definition.version_tag,
        is_deleted=True,
    )


def _delete_decisions(graph: DecisionRequirementsDeployed, step: Step) -> None:
    step.emit(DecisionRequirementsDeleted(_marked(graph), _previous_decisions(graph, step)))


def _previous_decisions(graph: DecisionRequirementsDeployed, step: Step) -> tuple[Key, ...]:
    """The decisions of other graphs that become the latest versions."""
    before = (
        step.state.decisions.before(graph.tenant_id, decision.decision_definition_id)
        for decision in graph.decisions
        if _is_latest(graph, decision.decision_definition_id, step)
    )
    return tuple(key for key in before if key is not None)


def _is_latest(graph: DecisionRequirementsDeployed, decision_definition_id: str, step: Step) -> bool:
    latest = step.state.decisions.latest(graph.tenant_id, decision_definition_id)
    return latest is not None and latest.graph is graph


def _marked(graph: DecisionRequirementsDeployed) -> DecisionRequirementsDeployed:
    return msgspec.structs.replace(graph, is_deleted=True)


def _delete_form(form: FormDeployed, step: Step) -> None:
    forms = step.state.forms
    is_latest = forms.latest(form.tenant_id, form.form_id) is form
    latest_key = forms.before(form.tenant_id, form.form_id) if is_latest else None
    step.emit(FormDeleted(msgspec.structs.replace(form, is_deleted=True), latest_key))


def _delete_generic_resource(resource: GenericResourceDeployed, step: Step) -> None:
    known, name = step.state.generic_resources, (resource.tenant_id, resource.resource_id)
    latest_key = known.before(*name) if known.latest(*name) is resource else None
    step.emit(GenericResourceDeleted(msgspec.structs.replace(resource, is_deleted=True), latest_key))
