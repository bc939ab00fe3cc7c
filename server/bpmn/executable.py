"""The executable process, as the engine uses it.

It is a graph of elements and flows with compiled expressions. `compile.py` builds it and nothing changes it
afterwards, so instances on any thread may share it.
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


# Looking up a member of an enumeration costs more than comparing with a constant.
_MULTI_INSTANCE_BODY = ElementType.MULTI_INSTANCE_BODY


@dataclass(frozen=True, slots=True)
class Static:
    """An attribute without a leading `=`: the text itself."""

    text: str


@dataclass(frozen=True, slots=True)
class RefusedExpression:
    """An expression that was accepted at deployment and that this version refuses; it fails when evaluated."""

    text: str
    reason: str

    def evaluate(self, _scope: feel.Scope, _ports: feel.Ports = feel.NO_PORTS) -> feel.Evaluation:
        raise feel.EvaluationError(self.reason)


Expression = feel.Expression | RefusedExpression
Attribute = Static | Expression


@dataclass(frozen=True, slots=True)
class VariableMapping:
    """An input or output mapping; `target` is the dotted path, split at the dots.

    A missing source means null.
    """

    source: Attribute | None
    target: tuple[str, ...]


class BindingType(StrEnum):
    """The version of a referenced resource that an element uses, as the extensions spell it."""

    LATEST = "latest"
    DEPLOYMENT = "deployment"
    VERSION_TAG = "versionTag"


@dataclass(frozen=True, slots=True)
class Binding:
    """A binding type; the version tag is used only with `VERSION_TAG`."""

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
    """A user task before its expressions are evaluated; None for missing attributes.

    Without a linked form, `form` is the external reference of a native user task, or the form key of a job
    worker's user task.
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
    """The decision that a business rule task evaluates, and the variable for its output."""

    decision_id: Attribute
    result_variable: str
    binding: Binding


@dataclass(frozen=True, slots=True)
class CalledElement:
    """The process that a call activity calls, and the variables that are passed and returned without mappings."""

    process_id: Attribute
    binding: Binding
    propagates_all_parent_variables: bool
    propagates_all_child_variables: bool


@dataclass(frozen=True, slots=True)
class Loop:
    """The loop of a multi-instance activity.

    Output element and output collection are both present or both missing. `output_name` is the variable that
    the output element reads, if it is only a name or a path.
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
    """The elements of an ad-hoc sub-process, and its completion condition.

    `activities` are the ids of the elements that can be activated, `description` describes them as JSON text.
    Output element and output collection are both present or both missing; `output_name` is the variable that
    the output element reads, if it is only a name or a path.
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
    """The kind of a timer's value (BPMN 2.0.2 §10.5.5.11)."""

    DATE = "timeDate"
    DURATION = "timeDuration"
    CYCLE = "timeCycle"


@dataclass(frozen=True, slots=True)
class TimerTrigger:
    """A timer with one or several due times."""

    kind: TimerKind
    value: Attribute


@dataclass(frozen=True, slots=True)
class ErrorTrigger:
    """Catches errors with this code, or all errors if it is None."""

    code: str | None


@dataclass(frozen=True, slots=True)
class EscalationTrigger:
    """Catches escalations with this code, or all escalations if it is None."""

    code: str | None


@dataclass(frozen=True, slots=True)
class MessageTrigger:
    """Catches a message with this name and correlation key; `properties` are those of the catching element."""

    name: Attribute
    correlation_key: Attribute
    properties: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class SignalTrigger:
    """Catches a signal with this name."""

    name: Attribute


@dataclass(frozen=True, slots=True)
class ConditionTrigger:
    """Catches a condition that becomes true; it is evaluated after one of these changes of one of these variables.

    The changes are `create` and `update`. `is_filtered` is true when the model lists the variables.
    """

    condition: Expression
    variable_names: tuple[str, ...]
    variable_events: tuple[str, ...]
    is_filtered: bool = False


@dataclass(frozen=True, slots=True)
class CompensationTrigger:
    """Catches the compensation of a completed activity that the event is attached to."""


# Triggers thrown inside the scope that catches them; they have codes, and no subscriptions.
CodedTrigger = ErrorTrigger | EscalationTrigger
# Triggers of catching events.
Trigger = (
    TimerTrigger | MessageTrigger | SignalTrigger | ConditionTrigger | CompensationTrigger | CodedTrigger
)


@dataclass(frozen=True, slots=True)
class Termination:
    """Terminates everything else in the scope."""


@dataclass(frozen=True, slots=True)
class ThrownError:
    """Throws an error with this code."""

    code: Attribute


@dataclass(frozen=True, slots=True)
class ThrownEscalation:
    """Throws an escalation with this code."""

    code: Attribute


@dataclass(frozen=True, slots=True)
class ThrownSignal:
    """Broadcasts a signal with this name."""

    name: Attribute


@dataclass(frozen=True, slots=True)
class ThrownMessage:
    """A job worker sends a message: the event creates a job, and waits for it."""


@dataclass(frozen=True, slots=True)
class ThrownCompensation:
    """Compensates completed activities: all in the scope, or the one with this id."""

    activity_id: str | None


# Results of throwing events.
Result = Termination | ThrownError | ThrownEscalation | ThrownSignal | ThrownMessage | ThrownCompensation


@dataclass(slots=True, eq=False)
class Flow:
    """A sequence flow; flows are equal only if identical, like elements."""

    id: str
    source: "Element"
    target: "Element"
    condition: Expression | None = None


@dataclass(slots=True, eq=False)
class Element:
    """An element of the process, the process itself included.

    - `outgoing`: flows in document order, in which an exclusive gateway evaluates conditions
    - `flow_scope`: the enclosing scope; None only for the process
    - `none_start`: the none start event of a scope; `start_form_id`: the form for starting the process there
    - `starts`: the triggered start events of a process; `event_start`: the start event of an event
      sub-process
    - `trigger`: the trigger of a catch event; `result`: the effect of a throw event
    - `catches`: the events that the element subscribes to while active: start events of event sub-processes
      first, then boundary events, or the events behind an event-based gateway
    - `link`: the catch event that a throwing link event jumps to, or the handler of a compensation boundary
      event
    - `compensation`: the compensation boundary event of an activity
    - `inclusive_joins`: the joining inclusive gateways of a scope; `bits`: one bit for each element and flow
      of that scope
    - `start_listeners`, `end_listeners`: jobs before the element is active and before it is left;
      `task_listeners`: those of a native user task, by event name

    A multi-instance activity is two elements with one id: the body, with the flows, boundary events and
    `loop`, and the `inner` element that is repeated inside it. The content of an ad-hoc sub-process is in its
    `inner_instance`, which each activation instantiates; its event sub-processes are in the ad-hoc
    sub-process itself.
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
        """Whether the element is the inner element of a multi-instance activity."""
        return self.flow_scope is not None and self.flow_scope.inner is self


@dataclass(frozen=True, slots=True)
class InclusiveJoin:
    """An inclusive gateway with several incoming flows.

    `leading` has, for the id of each of these flows, the bits of the elements and flows in the scope from
    which a path leads to it without passing the gateway.
    """

    gateway: Element
    leading: Mapping[str, int]


@dataclass(slots=True, eq=False)
class ExecutableProcess:
    """A process ready for execution; `elements` includes the root under the process id, `flows` every sequence flow.

    For a multi-instance activity, `elements` has the body; for an ad-hoc sub-process, also its inner
    instance.
    """

    id: str
    name: str | None
    version_tag: str | None
    root: Element
    elements: Mapping[str, Element]
    flows: Mapping[str, Flow]

    @property
    def is_bound_to_deployment(self) -> bool:
        """Whether the element binds a process, decision, form or resource to its own deployment."""
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
        """The id of the form that is linked to its none start event."""
        start = self.root.none_start
        return None if start is None else start.start_form_id

    def of(self, element_id: str, element_type: ElementType) -> Element:
        """The element of an element instance with this id and type."""
        element = self.elements[element_id]
        if element.inner is None or element_type is _MULTI_INSTANCE_BODY:
            return element
        return element.inner
