"""Compiles a process of the model into its executable form.

The process is lint-clean: ids exist and are unique, flows connect nodes of one scope, and every expression
parses, at least in the version that deployed it. Expressions are compiled once and shared by all instances.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet

from server import feel
from server.bpmn import extensions
from server.bpmn.ad_hoc_elements import description_of
from server.bpmn.executable import (
    AdHoc,
    Attribute,
    Binding,
    BindingType,
    CalledDecision,
    CalledElement,
    CompensationTrigger,
    ConditionTrigger,
    Element,
    ElementType,
    ErrorTrigger,
    EscalationTrigger,
    ExecutableProcess,
    Expression,
    Flow,
    JobDefinition,
    LinkedForm,
    LinkedResource,
    Loop,
    MessageTrigger,
    RefusedExpression,
    Result,
    Script,
    SignalTrigger,
    Static,
    Termination,
    ThrownCompensation,
    ThrownError,
    ThrownEscalation,
    ThrownMessage,
    ThrownSignal,
    TimerKind,
    TimerTrigger,
    Trigger,
    UserTaskDefinition,
    VariableMapping,
)
from server.bpmn.graph import Graph
from server.bpmn.inclusive_joins import inclusive_joins
from server.bpmn.model import (
    AdHocSubProcess,
    BoundaryEvent,
    BusinessRuleTask,
    CallActivity,
    CatchEvent,
    ConditionalGateway,
    Definitions,
    EndEvent,
    EventBasedGateway,
    EventSubProcess,
    ExclusiveGateway,
    FlowElementsContainer,
    FlowNode,
    InclusiveGateway,
    IntermediateCatchEvent,
    IntermediateThrowEvent,
    JobTask,
    ManualTask,
    ParallelGateway,
    Process,
    ReceiveTask,
    ScriptTask,
    SendTask,
    SequenceFlow,
    ServiceTask,
    StartEvent,
    SubProcess,
    Task,
    ThrowEvent,
    UserTask,
)
from server.xml import Markup

# Appended to the id of an ad-hoc sub-process: the id of its inner instances.
INNER_INSTANCE = "#innerInstance"

# The name of a variable, or a path to a value inside one.
_PATH = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*")

ELEMENT_TYPES: Mapping[type[FlowNode], ElementType] = {
    SubProcess: ElementType.SUB_PROCESS,
    AdHocSubProcess: ElementType.AD_HOC_SUB_PROCESS,
    EventSubProcess: ElementType.EVENT_SUB_PROCESS,
    StartEvent: ElementType.START_EVENT,
    IntermediateCatchEvent: ElementType.INTERMEDIATE_CATCH_EVENT,
    IntermediateThrowEvent: ElementType.INTERMEDIATE_THROW_EVENT,
    BoundaryEvent: ElementType.BOUNDARY_EVENT,
    EndEvent: ElementType.END_EVENT,
    ServiceTask: ElementType.SERVICE_TASK,
    SendTask: ElementType.SEND_TASK,
    ScriptTask: ElementType.SCRIPT_TASK,
    BusinessRuleTask: ElementType.BUSINESS_RULE_TASK,
    UserTask: ElementType.USER_TASK,
    ReceiveTask: ElementType.RECEIVE_TASK,
    CallActivity: ElementType.CALL_ACTIVITY,
    ManualTask: ElementType.MANUAL_TASK,
    Task: ElementType.TASK,
    ExclusiveGateway: ElementType.EXCLUSIVE_GATEWAY,
    ParallelGateway: ElementType.PARALLEL_GATEWAY,
    InclusiveGateway: ElementType.INCLUSIVE_GATEWAY,
    EventBasedGateway: ElementType.EVENT_BASED_GATEWAY,
}


def compile_definitions(definitions: Definitions) -> tuple[ExecutableProcess, ...]:
    """Compile the executable processes of a file."""
    return tuple(
        compile_process(definitions, process) for process in definitions.processes if process.is_executable
    )


def compile_process(definitions: Definitions, process: Process) -> ExecutableProcess:
    root = Element(
        id=process.id,
        name=process.name,
        type=ElementType.PROCESS,
        start_listeners=_listeners(process.markup, "start"),
        end_listeners=_listeners(process.markup, "end"),
        properties=extensions.properties(process.markup),
    )
    compiler = _Compiler(definitions)
    compiler.elements[root.id] = root
    compiler.scope(root, process)
    return ExecutableProcess(
        id=process.id,
        name=process.name,
        version_tag=extensions.version_tag(process.markup),
        root=root,
        elements=compiler.elements,
        flows=compiler.flows,
    )


class _Compiler:
    """Collects the elements and flows of a process from its scopes."""

    def __init__(self, definitions: Definitions) -> None:
        self.elements: dict[str, Element] = {}
        self.flows: dict[str, Flow] = {}
        self._error_codes = definitions.error_codes()
        self._escalation_codes = definitions.escalation_codes()
        self._messages = definitions.messages()
        self._signal_names = definitions.signal_names()

    def scope(
        self, scope: Element, container: FlowElementsContainer, *, waiting: Element | None = None
    ) -> None:
        """Add the content of a scope, and of the scopes inside it.

        Event sub-processes belong to the element `waiting`, which subscribes to their start events. It
        differs from the scope only in an ad-hoc sub-process.
        """
        waiting = waiting or scope
        for node in container.flow_nodes():
            self._add(node, waiting if isinstance(node, EventSubProcess) else scope)
        for flow in container.sequence_flows():
            self.flows[flow.id] = _flow(flow, self.elements)
        graph = Graph.of(container)
        for node in container.flow_nodes():
            self._connect(node, graph, scope)
        waiting.catches = tuple(
            start
            for node in container.flow_nodes()
            if isinstance(node, EventSubProcess) and (start := self.elements[node.id].event_start) is not None
        )
        self._attach(container, graph)
        self._link(container)
        inside = [self.elements[node.id] for node in container.flow_nodes()]
        scope.inclusive_joins, scope.bits = inclusive_joins(inside)

    def _add(self, node: FlowNode, flow_scope: Element) -> None:
        multi_instance = node.multi_instance
        if multi_instance is None:
            element = self.elements[node.id] = self._element(node, flow_scope)
        else:
            body = self.elements[node.id] = _body(node, multi_instance, flow_scope)
            element = body.inner = self._element(node, body)
        if isinstance(node, SubProcess | EventSubProcess):
            self.scope(element, node)
        elif isinstance(node, AdHocSubProcess):
            self.scope(self._inner_instance(element), node, waiting=element)

    def _element(self, node: FlowNode, flow_scope: Element) -> Element:
        return Element(
            id=node.id,
            name=node.name,
            type=ELEMENT_TYPES[type(node)],
            input_mappings=_mappings(extensions.input_mappings(node.markup)),
            output_mappings=_mappings(extensions.output_mappings(node.markup)),
            job=_job(node.markup)
            if isinstance(node, JobTask | AdHocSubProcess) or _sends_message(node)
            else None,
            ad_hoc=_ad_hoc(node) if isinstance(node, AdHocSubProcess) else None,
            user_task=_user_task(node.markup) if isinstance(node, UserTask) else None,
            script=_script(node.markup) if isinstance(node, ScriptTask) else None,
            called_decision=_called_decision(node.markup) if isinstance(node, BusinessRuleTask) else None,
            called_element=_called_element(node.markup) if isinstance(node, CallActivity) else None,
            flow_scope=flow_scope,
            trigger=self._trigger(node) if isinstance(node, CatchEvent | ReceiveTask) else None,
            result=self._result(node) if isinstance(node, ThrowEvent) else None,
            is_for_compensation=node.is_for_compensation,
            is_interrupting=not isinstance(node, BoundaryEvent | StartEvent) or node.is_interrupting,
            start_listeners=_listeners(node.markup, "start"),
            end_listeners=_listeners(node.markup, "end"),
            task_listeners=_task_listeners(node.markup) if isinstance(node, UserTask) else {},
            properties=extensions.properties(node.markup),
        )

    def _inner_instance(self, ad_hoc: Element) -> Element:
        inner = Element(
            id=f"{ad_hoc.id}{INNER_INSTANCE}",
            name=None,
            type=ElementType.AD_HOC_SUB_PROCESS_INNER_INSTANCE,
            flow_scope=ad_hoc,
        )
        ad_hoc.inner_instance = self.elements[inner.id] = inner
        return inner

    def _trigger(self, event: CatchEvent | ReceiveTask) -> Trigger | None:
        """The trigger of the event; None for a none start event and for a link."""
        if event.message_ref is not None:
            return _message(self._messages[event.message_ref], event.markup)
        assert isinstance(event, CatchEvent), "lint demands a message"  # noqa: S101  # narrows the type
        if "compensate" in event.event_definitions:
            return CompensationTrigger()
        if event.conditional is not None:
            return _condition(event.conditional)
        if event.signal_ref is not None:
            return SignalTrigger(_attribute(self._signal_names[event.signal_ref]))
        timer = event.timer
        if timer is not None:
            return TimerTrigger(TimerKind(timer.kind), _attribute(timer.text))
        return self._coded_trigger(event)

    def _coded_trigger(self, event: CatchEvent) -> Trigger | None:
        if "error" in event.event_definitions:
            reference = event.error_ref
            return ErrorTrigger(None if reference is None else self._error_codes[reference])
        if "escalation" in event.event_definitions:
            reference = event.escalation_ref
            return EscalationTrigger(None if reference is None else self._escalation_codes[reference])
        return None

    def _result(self, event: ThrowEvent) -> Result | None:
        if "terminate" in event.event_definitions:
            return Termination()
        if "error" in event.event_definitions:
            return ThrownError(_attribute(self._error_codes[event.error_ref or ""]))
        if "compensate" in event.event_definitions:
            return ThrownCompensation(event.activity_ref)
        if "escalation" in event.event_definitions:
            return ThrownEscalation(_attribute(self._escalation_codes[event.escalation_ref or ""]))
        if event.signal_ref is not None:
            return ThrownSignal(_attribute(self._signal_names[event.signal_ref]))
        return ThrownMessage() if _sends_message(event) else None

    def _connect(self, node: FlowNode, graph: Graph, scope: Element) -> None:
        element = self.elements[node.id]
        element.incoming = tuple(self.flows[flow.id] for flow in graph.entering(node.id))
        element.outgoing = tuple(self.flows[flow.id] for flow in graph.leaving(node.id))
        if isinstance(node, ConditionalGateway) and node.default:
            element.default_flow = self.flows[node.default]
        if isinstance(node, EventBasedGateway):
            element.catches = tuple(flow.target for flow in element.outgoing)
        if isinstance(node, StartEvent) and element.trigger is None:
            scope.none_start = element
            if scope.type is ElementType.PROCESS:
                element.start_form_id = extensions.attribute(node.markup, "zeebe:formDefinition", "formId")
        elif isinstance(node, StartEvent) and scope.type is ElementType.PROCESS:
            scope.starts += (element,)
        elif isinstance(node, StartEvent):
            scope.event_start = element

    def _attach(self, container: FlowElementsContainer, graph: Graph) -> None:
        """Add boundary events to their activities."""
        attached: defaultdict[str, list[Element]] = defaultdict(list)
        for node in container.flow_nodes():
            if isinstance(node, BoundaryEvent) and "compensate" in node.event_definitions:
                self._compensate(node, graph)
            elif isinstance(node, BoundaryEvent):
                attached[node.attached_to_ref].append(self.elements[node.id])
        for host, catches in attached.items():
            self.elements[host].catches += tuple(catches)

    def _compensate(self, event: BoundaryEvent, graph: Graph) -> None:
        """Connect an activity with its compensation boundary event, and that with its handler."""
        boundary, (handler_id, *_) = self.elements[event.id], graph.handlers[event.id]
        boundary.link = self.elements[handler_id]
        self.elements[event.attached_to_ref].compensation = boundary

    def _link(self, container: FlowElementsContainer) -> None:
        """Connect throwing link events with the catch events of the same name."""
        caught = {
            node.link_name: self.elements[node.id]
            for node in container.flow_nodes()
            if isinstance(node, CatchEvent) and node.link_name is not None
        }
        for node in container.flow_nodes():
            if isinstance(node, ThrowEvent) and node.link_name is not None:
                self.elements[node.id].link = caught[node.link_name]


def _listeners(node: Markup, event_type: str) -> tuple[JobDefinition, ...]:
    return tuple(
        JobDefinition(_attribute(listener.type), _attribute(listener.retries), {})
        for listener in extensions.execution_listeners(node)
        if listener.event_type == event_type
    )


def _task_listeners(node: Markup) -> Mapping[str, tuple[JobDefinition, ...]]:
    """Task listeners by event, in the order of the file; their jobs have the headers of the user task."""
    listeners: defaultdict[str, list[JobDefinition]] = defaultdict(list)
    headers = extensions.task_headers(node)
    for listener in extensions.task_listeners(node):
        job = JobDefinition(_attribute(listener.type), _attribute(listener.retries), headers)
        listeners[listener.event_type].append(job)
    return {event_type: tuple(jobs) for event_type, jobs in listeners.items()}


def _flow(flow: SequenceFlow, elements: Mapping[str, Element]) -> Flow:
    condition = _expression(flow.condition.removeprefix("=")) if flow.condition else None
    return Flow(flow.id, elements[flow.source_ref], elements[flow.target_ref], condition)


def _mappings(mappings: Iterable[extensions.VariableMapping]) -> tuple[VariableMapping, ...]:
    return tuple(
        VariableMapping(
            source=None if mapping.source is None else _attribute(mapping.source),
            target=tuple(mapping.target.split(".")),
        )
        for mapping in mappings
    )


def _message(message: Markup, element: Markup) -> MessageTrigger:
    name, key = message.attributes.get("name", ""), extensions.correlation_key(message)
    return MessageTrigger(_attribute(name), _attribute(key or ""), extensions.properties(element))


def _condition(definition: Markup) -> ConditionTrigger:
    """The trigger of a conditional event; without a filter, it considers all variables of the condition."""
    text = definition.first("condition")
    condition = _expression("" if text is None else text.text.removeprefix("="))
    names = condition.variables if isinstance(condition, feel.Expression) else frozenset[str]()
    chosen = extensions.conditional_filter(definition)
    return ConditionTrigger(
        condition,
        tuple(sorted(names & (chosen.variable_names or names))),
        tuple(sorted(chosen.variable_events or {"create", "update"})),
        is_filtered=bool(chosen.variable_names),
    )


def _sends_message(node: FlowNode) -> bool:
    return isinstance(node, ThrowEvent) and "message" in node.event_definitions


def _job(node: Markup) -> JobDefinition | None:
    definition = extensions.task_definition(node)
    if definition is None:
        return None
    return JobDefinition(
        type=_attribute(definition.type),
        retries=_attribute(definition.retries),
        headers=extensions.task_headers(node),
        linked_resources=tuple(map(_linked_resource, extensions.linked_resources(node))),
    )


def _linked_resource(linked: extensions.LinkedResource) -> LinkedResource:
    return LinkedResource(
        linked.resource_id,
        linked.resource_type,
        linked.link_name,
        Binding(BindingType(linked.binding_type), linked.version_tag),
    )


def _user_task(node: Markup) -> UserTaskDefinition:
    def written(tag: str, name: str) -> Attribute | None:
        text = extensions.attribute(node, f"zeebe:{tag}", name)
        return None if text is None else _attribute(text)

    is_native = extensions.is_native_user_task(node)
    return UserTaskDefinition(
        is_native=is_native,
        assignee=written("assignmentDefinition", "assignee"),
        candidate_groups=written("assignmentDefinition", "candidateGroups"),
        candidate_users=written("assignmentDefinition", "candidateUsers"),
        due_date=written("taskSchedule", "dueDate"),
        follow_up_date=written("taskSchedule", "followUpDate"),
        priority=written("priorityDefinition", "priority"),
        form=written("formDefinition", "externalReference" if is_native else "formKey"),
        linked_form=_linked_form(node),
        headers=extensions.task_headers(node),
    )


def _linked_form(node: Markup) -> LinkedForm | None:
    linked = extensions.linked_form(node)
    if linked is None:
        return None
    return LinkedForm(
        _attribute(linked.form_id), Binding(BindingType(linked.binding_type), linked.version_tag)
    )


def _script(node: Markup) -> Script | None:
    script = extensions.script(node)
    return None if script is None else Script(_attribute(script.expression), script.result_variable)


def _called_decision(node: Markup) -> CalledDecision | None:
    called = extensions.called_decision(node)
    if called is None:
        return None
    binding = Binding(BindingType(called.binding_type), called.version_tag)
    return CalledDecision(_attribute(called.decision_id), called.result_variable, binding)


def _called_element(node: Markup) -> CalledElement:
    called = extensions.called_element(node)
    return CalledElement(
        _attribute(called.process_id),
        Binding(BindingType(called.binding_type), called.version_tag),
        called.propagates_all_parent_variables,
        called.propagates_all_child_variables,
    )


def _ad_hoc(node: AdHocSubProcess) -> AdHoc:
    found = extensions.ad_hoc(node.markup)
    targets = {flow.target_ref for flow in node.sequence_flows()}
    activities = [inside for inside in node.flow_nodes() if _can_be_activated(inside, targets)]
    condition, active = node.completion_condition, found.active_elements_collection
    output, output_name = _output(found.output_element)
    return AdHoc(
        activities=frozenset(activity.id for activity in activities),
        description=description_of(activities),
        active_elements=_expression(active.removeprefix("=")) if active else None,
        completion_condition=_expression(condition.removeprefix("=")) if condition else None,
        cancels_remaining=node.cancels_remaining,
        output_collection=found.output_collection,
        output_element=output,
        output_name=output_name,
    )


def _can_be_activated(node: FlowNode, targets: AbstractSet[str]) -> bool:
    """Whether no flow, event, link or compensation leads to an element of an ad-hoc sub-process."""
    is_link = isinstance(node, CatchEvent) and node.link_name is not None
    is_entered = is_link or node.is_for_compensation or isinstance(node, BoundaryEvent | EventSubProcess)
    return not is_entered and node.id not in targets


def _output(text: str | None) -> tuple[Expression | None, str | None]:
    """The expression of an output element, and the variable that it reads if it is only a name or a path."""
    output = text.removeprefix("=").strip() if text else None
    if not output:
        return None, None
    return _expression(output), output.partition(".")[0] if _PATH.fullmatch(output) else None


def _body(node: FlowNode, multi_instance: Markup, flow_scope: Element) -> Element:
    return Element(
        id=node.id,
        name=node.name,
        type=ElementType.MULTI_INSTANCE_BODY,
        flow_scope=flow_scope,
        loop=_loop(multi_instance),
        is_for_compensation=node.is_for_compensation,
    )


def _loop(multi_instance: Markup) -> Loop:
    found = extensions.loop_characteristics(multi_instance)
    output, output_name = _output(found.output_element)
    condition = multi_instance.first("completionCondition")
    return Loop(
        is_sequential=multi_instance.attributes.get("isSequential", "false").strip() in {"true", "1"},
        input_collection=_expression(found.input_collection.removeprefix("=")),
        input_element=found.input_element,
        output_collection=found.output_collection,
        output_element=output,
        output_name=output_name,
        completion_condition=_expression(condition.text.removeprefix("="))
        if condition and condition.text
        else None,
    )


def _attribute(text: str) -> Attribute:
    return _expression(text[1:]) if text.startswith("=") else Static(text)


def _expression(text: str) -> Expression:
    """A compiled expression; one that no longer parses fails when evaluated, because a partition must be able to start."""
    try:
        return feel.compile_expression(text)
    except feel.FeelSyntaxError as error:
        return RefusedExpression(text, str(error))
