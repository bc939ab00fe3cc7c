"""Migrate a process instance: it goes on in another process definition, its active elements mapped by id.

All or nothing, and nothing is evaluated again: jobs, incidents and variables stay as they are, with their keys.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import msgspec

from server.bpmn.executable import Element, ElementType, ExecutableProcess, Flow
from server.engine import events
from server.engine.answers import DONE, Done
from server.engine.commands import MappingInstruction, MigrateProcessInstance
from server.engine.keys import Key
from server.engine.rejection import Rejected, RejectionType
from server.engine.state import Definition, ElementInstance, ProcessInstance
from server.engine.step import Step

MIGRATABLE = frozenset(
    {
        ElementType.PROCESS,
        ElementType.SERVICE_TASK,
        ElementType.SEND_TASK,
        ElementType.SCRIPT_TASK,
        ElementType.BUSINESS_RULE_TASK,
        ElementType.EXCLUSIVE_GATEWAY,
        ElementType.PARALLEL_GATEWAY,
    }
)


@dataclass(frozen=True, slots=True)
class MigrationPlan:
    """Where the elements of the source go in the target, and the flows that lead to its joining gateways."""

    process_instance_key: Key
    source: ExecutableProcess
    target: ExecutableProcess
    source_flows: Mapping[str, Flow]
    target_flows: Mapping[str, Flow]
    mapping: Mapping[str, str]

    def invalid_state(self, reason: str) -> Rejected:
        return Rejected(
            RejectionType.INVALID_STATE,
            f"process instance {self.process_instance_key} cannot be migrated: {reason}",
        )


def migrate(command: MigrateProcessInstance, step: Step) -> Done:
    instance = _instance(command, step)
    target = _target(command, step)
    plan = _plan(command, step.state.definition_of(instance).process, target.process)
    elements = tuple(_migrated(plan, element) for element in instance.elements.values())
    step.enter(instance.head.key)
    step.emit(events.ProcessInstanceMigrated(_head(instance.head, target), elements))
    return DONE


def _instance(command: MigrateProcessInstance, step: Step) -> ProcessInstance:
    instance = step.state.instance(command.process_instance_key)
    if instance is None or instance.head.tenant_id != command.tenant_id:
        raise Rejected(
            RejectionType.NOT_FOUND, f"no active process instance with key {command.process_instance_key}"
        )
    return instance


def _target(command: MigrateProcessInstance, step: Step) -> Definition:
    target = step.state.definitions.get(command.target_process_definition_key)
    if target is None or target.tenant_id != command.tenant_id:
        raise Rejected(
            RejectionType.NOT_FOUND,
            f"no process definition with key {command.target_process_definition_key}",
        )
    return target


def _head(head: events.InstanceHead, target: Definition) -> events.InstanceHead:
    return msgspec.structs.replace(
        head,
        process_definition_key=target.key,
        process_definition_id=target.process.id,
        version=target.version,
        process_name=target.process.name,
        version_tag=target.process.version_tag,
    )


# The plan


def _plan(
    command: MigrateProcessInstance, source: ExecutableProcess, target: ExecutableProcess
) -> MigrationPlan:
    plan = MigrationPlan(
        command.process_instance_key,
        source,
        target,
        _flows(source),
        _flows(target),
        {each.source_element_id: each.target_element_id for each in command.mapping_instructions},
    )
    _check_instructions(plan, command.mapping_instructions)
    return plan


def _flows(process: ExecutableProcess) -> Mapping[str, Flow]:
    return {flow.id: flow for element in process.elements.values() for flow in element.incoming}


def _check_instructions(plan: MigrationPlan, instructions: Iterable[MappingInstruction]) -> None:
    """Each source stands once, and both ends are there: two elements, or two sequence flows."""
    seen: set[str] = set()
    for each in instructions:
        source_id, target_id = each.source_element_id, each.target_element_id
        is_element, is_flow = source_id in plan.source.elements, source_id in plan.source_flows
        if source_id in seen:
            raise _invalid_argument(f"several mapping instructions for source element '{source_id}'")
        if not (is_element or is_flow):
            raise _invalid_argument(f"process '{plan.source.id}' has no source element '{source_id}'")
        if target_id not in (plan.target.elements if is_element else plan.target_flows):
            kind = "element" if is_element else "sequence flow"
            raise _invalid_argument(f"process '{plan.target.id}' has no target {kind} '{target_id}'")
        seen.add(source_id)


def _invalid_argument(reason: str) -> Rejected:
    return Rejected(RejectionType.INVALID_ARGUMENT, reason)


# Along the plan


def _migrated(plan: MigrationPlan, instance: ElementInstance) -> events.MigratedElement:
    target = _counterpart(plan, plan.source.elements[instance.element_id])
    return events.MigratedElement(
        instance.key,
        target.id,
        target.name,
        instance.job_key,
        instance.incident_key,
        _joins(plan, instance.joins),
    )


def _counterpart(plan: MigrationPlan, element: Element) -> Element:
    """The element of the target that an active element of the source becomes."""
    if element.flow_scope is None:
        return plan.target.root
    if element.type not in MIGRATABLE:
        raise plan.invalid_state(f"active element '{element.id}' is a {element.type}, which is not supported")
    if element.id not in plan.mapping:
        raise plan.invalid_state(f"there is no mapping instruction for active element '{element.id}'")
    target = plan.target.elements[plan.mapping[element.id]]
    if target.type is not element.type:
        raise plan.invalid_state(
            f"active element '{element.id}' is a {element.type}, target element '{target.id}' a {target.type}"
        )
    if target.flow_scope is not _counterpart(plan, element.flow_scope):
        raise plan.invalid_state(
            f"target element '{target.id}' is not in the flow scope that active element '{element.id}' has"
        )
    return target


def _joins(plan: MigrationPlan, arrivals: Mapping[str, int]) -> dict[str, int]:
    """The arrivals that wait, by the flows of the target.

    Each gateway gets one of its own with at least as many incoming flows, and each flow another one: so what waits
    for further arrivals in the source does so in the target.
    """
    gateways: dict[str, Element] = {}
    joins: dict[str, int] = {}
    for flow_id, count in arrivals.items():
        flow = plan.source_flows[flow_id]
        gateway = _joining(plan, flow.target)
        target_id = plan.mapping.get(flow_id, flow_id)
        if target_id in joins or target_id not in {incoming.id for incoming in gateway.incoming}:
            raise plan.invalid_state(
                f"taken sequence flow '{flow_id}' is not mapped to one of its own into gateway '{gateway.id}'"
            )
        if gateways.setdefault(gateway.id, flow.target) is not flow.target:
            raise plan.invalid_state(
                f"several gateways with taken flows are mapped to gateway '{gateway.id}'"
            )
        joins[target_id] = count
    return joins


def _joining(plan: MigrationPlan, gateway: Element) -> Element:
    target = _counterpart(plan, gateway)
    if len(target.incoming) < len(gateway.incoming):
        raise plan.invalid_state(
            f"gateway '{target.id}' has fewer incoming sequence flows than gateway '{gateway.id}', which waits for some"
        )
    return target
