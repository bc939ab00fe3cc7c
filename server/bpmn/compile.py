"""Compile a process of the model into its executable form.

The process is lint-clean: ids exist and are unique, flows connect nodes of their scope and every
expression parses. Expressions are compiled here, once, and shared by all instances.
"""

from collections.abc import Iterable, Mapping

from server import feel
from server.bpmn import extensions
from server.bpmn.executable import (
    Attribute,
    Element,
    ElementType,
    ExecutableProcess,
    Flow,
    JobDefinition,
    Static,
    VariableMapping,
)
from server.bpmn.graph import Graph
from server.bpmn.model import (
    BusinessRuleTask,
    Definitions,
    EndEvent,
    ExclusiveGateway,
    FlowNode,
    JobTask,
    ManualTask,
    ParallelGateway,
    Process,
    ScriptTask,
    SendTask,
    SequenceFlow,
    ServiceTask,
    StartEvent,
    Task,
)
from server.xml import Markup

ELEMENT_TYPES: Mapping[type[FlowNode], ElementType] = {
    StartEvent: ElementType.START_EVENT,
    EndEvent: ElementType.END_EVENT,
    ServiceTask: ElementType.SERVICE_TASK,
    SendTask: ElementType.SEND_TASK,
    ScriptTask: ElementType.SCRIPT_TASK,
    BusinessRuleTask: ElementType.BUSINESS_RULE_TASK,
    ManualTask: ElementType.MANUAL_TASK,
    Task: ElementType.TASK,
    ExclusiveGateway: ElementType.EXCLUSIVE_GATEWAY,
    ParallelGateway: ElementType.PARALLEL_GATEWAY,
}


def compile_definitions(definitions: Definitions) -> tuple[ExecutableProcess, ...]:
    """Compile the executable processes of a file; those that are only drawn are left out."""
    return tuple(compile_process(process) for process in definitions.processes if process.is_executable)


def compile_process(process: Process) -> ExecutableProcess:
    root = Element(
        id=process.id,
        name=process.name,
        type=ElementType.PROCESS,
        properties=extensions.properties(process.markup),
    )
    elements = {node.id: _element(node, root) for node in process.flow_nodes()}
    _connect(elements, process)
    starts = (element for element in elements.values() if element.type is ElementType.START_EVENT)
    return ExecutableProcess(
        id=process.id,
        name=process.name,
        version_tag=extensions.version_tag(process.markup),
        root=root,
        none_start=next(starts, None),
        elements={root.id: root, **elements},
    )


def _element(node: FlowNode, flow_scope: Element) -> Element:
    return Element(
        id=node.id,
        name=node.name,
        type=ELEMENT_TYPES[type(node)],
        input_mappings=_mappings(extensions.input_mappings(node.markup)),
        output_mappings=_mappings(extensions.output_mappings(node.markup)),
        job=_job(node.markup) if isinstance(node, JobTask) else None,
        flow_scope=flow_scope,
        properties=extensions.properties(node.markup),
    )


def _connect(elements: Mapping[str, Element], process: Process) -> None:
    graph = Graph.of(process)
    flows = {flow.id: _flow(flow, elements) for flow in process.sequence_flows()}
    for node in process.flow_nodes():
        element = elements[node.id]
        element.incoming = tuple(flows[flow.id] for flow in graph.entering(node.id))
        element.outgoing = tuple(flows[flow.id] for flow in graph.leaving(node.id))
        if isinstance(node, ExclusiveGateway) and node.default:
            element.default_flow = flows[node.default]


def _flow(flow: SequenceFlow, elements: Mapping[str, Element]) -> Flow:
    condition = feel.compile_expression(flow.condition.removeprefix("=")) if flow.condition else None
    return Flow(flow.id, elements[flow.source_ref], elements[flow.target_ref], condition)


def _mappings(mappings: Iterable[extensions.VariableMapping]) -> tuple[VariableMapping, ...]:
    return tuple(
        VariableMapping(
            source=None if mapping.source is None else _attribute(mapping.source),
            target=tuple(mapping.target.split(".")),
        )
        for mapping in mappings
    )


def _job(node: Markup) -> JobDefinition | None:
    definition = extensions.task_definition(node)
    if definition is None:
        return None
    return JobDefinition(
        type=_attribute(definition.type),
        retries=_attribute(definition.retries),
        headers=extensions.task_headers(node),
    )


def _attribute(text: str) -> Attribute:
    return feel.compile_expression(text[1:]) if text.startswith("=") else Static(text)
