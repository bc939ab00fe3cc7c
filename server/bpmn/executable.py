"""The executable process: what the engine walks.

A graph of elements and flows with every expression compiled. `compile.py` builds it and nothing
changes it afterwards, so that instances on any thread may share it.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from server import feel


class ElementType(StrEnum):
    """The kinds of element that the engine executes, as the wire spells them."""

    PROCESS = "PROCESS"
    SUB_PROCESS = "SUB_PROCESS"
    AD_HOC_SUB_PROCESS = "AD_HOC_SUB_PROCESS"
    AD_HOC_SUB_PROCESS_INNER_INSTANCE = "AD_HOC_SUB_PROCESS_INNER_INSTANCE"
    EVENT_SUB_PROCESS = "EVENT_SUB_PROCESS"
    MULTI_INSTANCE_BODY = "MULTI_INSTANCE_BODY"
    START_EVENT = "START_EVENT"
    INTERMEDIATE_CATCH_EVENT = "INTERMEDIATE_CATCH_EVENT"
    INTERMEDIATE_THROW_EVENT = "INTERMEDIATE_THROW_EVENT"
    BOUNDARY_EVENT = "BOUNDARY_EVENT"
    END_EVENT = "END_EVENT"
    SERVICE_TASK = "SERVICE_TASK"
    SEND_TASK = "SEND_TASK"
    SCRIPT_TASK = "SCRIPT_TASK"
    BUSINESS_RULE_TASK = "BUSINESS_RULE_TASK"
    USER_TASK = "USER_TASK"
    RECEIVE_TASK = "RECEIVE_TASK"
    CALL_ACTIVITY = "CALL_ACTIVITY"
    MANUAL_TASK = "MANUAL_TASK"
    TASK = "TASK"
    EXCLUSIVE_GATEWAY = "EXCLUSIVE_GATEWAY"
    PARALLEL_GATEWAY = "PARALLEL_GATEWAY"
    INCLUSIVE_GATEWAY = "INCLUSIVE_GATEWAY"
    EVENT_BASED_GATEWAY = "EVENT_BASED_GATEWAY"
    SEQUENCE_FLOW = "SEQUENCE_FLOW"


# Looking a member up in its enumeration costs more than comparing with it.
_MULTI_INSTANCE_BODY = ElementType.MULTI_INSTANCE_BODY


@dataclass(frozen=True, slots=True)
class Static:
    """An attribute without a leading `=`: the text itself."""

    text: str


@dataclass(frozen=True, slots=True)
class RefusedExpression:
    """An expression that an earlier version accepted at deployment and this one refuses: it fails when evaluated."""

    text: str
    reason: str

    def evaluate(self, _scope: feel.Scope, _ports: feel.Ports = feel.NO_PORTS) -> feel.Evaluation:
        raise feel.EvaluationError(self.reason)


Expression = feel.Expression | RefusedExpression
Attribute = Static | Expression


@dataclass(frozen=True, slots=True)
class VariableMapping:
    """One input or output mapping: source to target, the target's dotted path split at the dots.

    No source means null.
    """

    source: Attribute | None
    target: tuple[str, ...]


class BindingType(StrEnum):
    """Which version of what it refers to an element means, as the extensions spell it."""

    LATEST = "latest"
    DEPLOYMENT = "deployment"
    VERSION_TAG = "versionTag"


@dataclass(frozen=True, slots=True)
class Binding:
    """The version tag counts for that type alone."""

    type: BindingType
    version_tag: str = ""


@dataclass(frozen=True, slots=True)
class LinkedResource:
    """A generic resource that the worker of a job needs."""

    resource_id: str
    resource_type: str
    link_name: str | None
    binding: Binding


@dataclass(frozen=True, slots=True)
class JobDefinition:
    """The job of an element, before its expressions are evaluated."""

    type: Attribute
    retries: Attribute
    headers: Mapping[str, str]
    linked_resources: tuple[LinkedResource, ...] = ()


@dataclass(frozen=True, slots=True)
class LinkedForm:
    """The deployed form of a user task."""

    form_id: Attribute
    binding: Binding


@dataclass(frozen=True, slots=True)
class UserTaskDefinition:
    """A user task, before its expressions are evaluated; None for attributes that the file leaves out.

    Without a linked form, `form` is the external reference of a native user task, the form key of one that a job worker
    does.
    """

    is_native: bool
    assignee: Attribute | None
    candidate_groups: Attribute | None
    candidate_users: Attribute | None
    due_date: Attribute | None
    follow_up_date: Attribute | None
    priority: Attribute | None
    form: Attribute | None
    linked_form: LinkedForm | None
    headers: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Script:
    """The expression of a script task, and the variable of its result."""

    expression: Attribute
    result_variable: str


@dataclass(frozen=True, slots=True)
class CalledDecision:
    """The decision that a business rule task evaluates, and the variable that its output becomes."""

    decision_id: Attribute
    result_variable: str
    binding: Binding


@dataclass(frozen=True, slots=True)
class CalledElement:
    """The process that a call activity calls, and which variables go there and come back without a mapping."""

    process_id: Attribute
    binding: Binding
    propagates_all_parent_variables: bool
    propagates_all_child_variables: bool


@dataclass(frozen=True, slots=True)
class Loop:
    """How a multi-instance activity repeats what it does.

    The output element and collection are there together, or neither. `output_name` is the variable that the output
    element reads, where it is no more than a name or a path.
    """

    is_sequential: bool
    input_collection: Expression
    input_element: str | None = None
    output_collection: str | None = None
    output_element: Expression | None = None
    output_name: str | None = None
    completion_condition: Expression | None = None


@dataclass(frozen=True, slots=True)
class AdHoc:
    """Elements that an ad-hoc sub-process activates, and its completion condition.

    `activities` are the ids of the elements that can be activated, `description` tells about them as JSON text. The
    output element and collection are there together, or neither; `output_name` is the variable that the output element
    reads, where it is no more than a name or a path.
    """

    activities: frozenset[str]
    description: str
    active_elements: Expression | None = None
    completion_condition: Expression | None = None
    cancels_remaining: bool = True
    output_collection: str | None = None
    output_element: Expression | None = None
    output_name: str | None = None


class TimerKind(StrEnum):
    """BPMN 2.0.2 §10.5.5.11: what the value of a timer is."""

    DATE = "timeDate"
    DURATION = "timeDuration"
    CYCLE = "timeCycle"


@dataclass(frozen=True, slots=True)
class TimerTrigger:
    """Time: one instant, or several after each other."""

    kind: TimerKind
    value: Attribute


@dataclass(frozen=True, slots=True)
class ErrorTrigger:
    """An error with this code; every error without one."""

    code: str | None


@dataclass(frozen=True, slots=True)
class EscalationTrigger:
    """An escalation with this code; every escalation without one."""

    code: str | None


@dataclass(frozen=True, slots=True)
class MessageTrigger:
    """A message with this name and this correlation key; `properties` are those of the element that catches it."""

    name: Attribute
    correlation_key: Attribute
    properties: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class SignalTrigger:
    """A signal with this name."""

    name: Attribute


@dataclass(frozen=True, slots=True)
class ConditionTrigger:
    """A condition that becomes true: it is evaluated when one of these variables changes in one of these ways.

    The ways are `create` and `update`. `is_filtered` says that the model chooses the variables.
    """

    condition: Expression
    variable_names: tuple[str, ...]
    variable_events: tuple[str, ...]
    is_filtered: bool = False


@dataclass(frozen=True, slots=True)
class CompensationTrigger:
    """Compensation of the activity that the event is attached to, once that has completed."""


# Triggers that an event throws inside the scope that catches them; they have codes, and no subscriptions.
CodedTrigger = ErrorTrigger | EscalationTrigger
# Triggers of catching events.
Trigger = (
    TimerTrigger | MessageTrigger | SignalTrigger | ConditionTrigger | CompensationTrigger | CodedTrigger
)


@dataclass(frozen=True, slots=True)
class Termination:
    """Everything else in the scope is terminated."""


@dataclass(frozen=True, slots=True)
class ThrownError:
    """An error with this code is thrown."""

    code: Attribute


@dataclass(frozen=True, slots=True)
class ThrownEscalation:
    """An escalation with this code is thrown."""

    code: Attribute


@dataclass(frozen=True, slots=True)
class ThrownSignal:
    """A signal with this name is broadcast."""

    name: Attribute


@dataclass(frozen=True, slots=True)
class ThrownMessage:
    """A job worker sends a message: the event has a job, and waits for it."""


@dataclass(frozen=True, slots=True)
class ThrownCompensation:
    """Completed activities are compensated: those in the scope, or the activity with this id."""

    activity_id: str | None


# Results of throwing events.
Result = Termination | ThrownError | ThrownEscalation | ThrownSignal | ThrownMessage | ThrownCompensation


@dataclass(slots=True, eq=False)
class Flow:
    """A sequence flow; identity is equality, as with elements."""

    id: str
    source: "Element"
    target: "Element"
    condition: Expression | None = None


@dataclass(slots=True, eq=False)
class Element:
    """An element of the process, the process itself included.

    `outgoing` keeps the order of the document, in which an exclusive gateway tries its conditions.
    `flow_scope` is None for the process element alone. `none_start` is where a scope begins. `trigger` is what a
    catching event waits for, `result` what a throwing event does. `catches` are the events that an element waits for
    while it is active: those on the boundary of an activity, and the start events of the event sub-processes in a scope,
    which come first, and those behind an event-based gateway. `starts` are the start events of a process that begin a
    process instance when they are triggered. `event_start` is the start event of an event sub-process,
    `start_form_id` names the form that people start the process with,
    `link` the catching link event to which a throwing one leads, or the handler to which a boundary event for compensation
    does. `compensation` is that boundary event of an activity. `inclusive_joins` are those that lie in a scope, where
    each element and each flow has one of its `bits`. The listeners are jobs that have to be
    done before the element is active, and before it is left; `task_listeners` are those of a native user task, by the
    name of their event. A multi-instance activity is two elements with one id: its
    body, which has the flows, the boundary events and the `loop`, and the `inner` one that is repeated inside it.
    The content of an ad-hoc sub-process lies in its `inner_instance`, of which each activation makes an instance;
    its event sub-processes lie in itself.
    """

    id: str
    name: str | None
    type: ElementType
    incoming: tuple[Flow, ...] = ()
    outgoing: tuple[Flow, ...] = ()
    default_flow: Flow | None = None
    input_mappings: tuple[VariableMapping, ...] = ()
    output_mappings: tuple[VariableMapping, ...] = ()
    job: JobDefinition | None = None
    user_task: UserTaskDefinition | None = None
    script: Script | None = None
    called_decision: CalledDecision | None = None
    called_element: CalledElement | None = None
    flow_scope: "Element | None" = None
    none_start: "Element | None" = None
    event_start: "Element | None" = None
    starts: "tuple[Element, ...]" = ()
    loop: Loop | None = None
    inner: "Element | None" = None
    ad_hoc: AdHoc | None = None
    inner_instance: "Element | None" = None
    trigger: Trigger | None = None
    result: Result | None = None
    link: "Element | None" = None
    start_form_id: str | None = None
    compensation: "Element | None" = None
    is_for_compensation: bool = False
    is_interrupting: bool = True
    catches: "tuple[Element, ...]" = ()
    start_listeners: tuple[JobDefinition, ...] = ()
    end_listeners: tuple[JobDefinition, ...] = ()
    task_listeners: Mapping[str, tuple[JobDefinition, ...]] = field(default_factory=dict)
    properties: Mapping[str, str] = field(default_factory=dict)
    inclusive_joins: "tuple[InclusiveJoin, ...]" = ()
    bits: Mapping[str, int] = field(default_factory=dict)

    @property
    def linked_form(self) -> LinkedForm | None:
        return None if self.user_task is None else self.user_task.linked_form

    @property
    def linked_resources(self) -> tuple[LinkedResource, ...]:
        return () if self.job is None else self.job.linked_resources

    @property
    def is_repeated(self) -> bool:
        """Whether it is the inner element of a multi-instance activity."""
        return self.flow_scope is not None and self.flow_scope.inner is self


@dataclass(frozen=True, slots=True)
class InclusiveJoin:
    """An inclusive gateway with several incoming flows.

    `leading` are, for the id of each of these flows, the bits of the elements and flows of its scope from which a path
    leads to it that does not pass the gateway.
    """

    gateway: Element
    leading: Mapping[str, int]


@dataclass(slots=True, eq=False)
class ExecutableProcess:
    """A process ready to run; `elements` holds the root under the process id as well, `flows` every sequence flow.

    Of a multi-instance activity it holds the body, of an ad-hoc sub-process also its inner instance.
    """

    id: str
    name: str | None
    version_tag: str | None
    root: Element
    elements: Mapping[str, Element]
    flows: Mapping[str, Flow]

    @property
    def is_bound_to_deployment(self) -> bool:
        """Whether it refers to something that was deployed with it: a process, a decision, a form or a resource."""
        elements = (element.inner or element for element in self.elements.values())
        return any(
            each is not None and each.binding.type is BindingType.DEPLOYMENT
            for element in elements
            for each in (
                element.called_decision,
                element.called_element,
                element.linked_form,
                *element.linked_resources,
            )
        )

    @property
    def start_form_id(self) -> str | None:
        """The form that is linked to its none start event."""
        start = self.root.none_start
        return None if start is None else start.start_form_id

    def of(self, element_id: str, element_type: ElementType) -> Element:
        """The element that an element instance of this type is an instance of."""
        element = self.elements[element_id]
        if element.inner is None or element_type is _MULTI_INSTANCE_BODY:
            return element
        return element.inner
