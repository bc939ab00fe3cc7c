"""The model of a BPMN file: typed views of its markup.

A view holds nothing besides its markup, so the linter, which reads attributes by name, and the compiler,
which reads them by type, cannot disagree.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from server.xml import Markup

EVENT_DEFINITION = "EventDefinition"
MULTI_INSTANCE = "multiInstanceLoopCharacteristics"


@dataclass(frozen=True, slots=True)
class BaseElement:
    """A BPMN element with an id, which is empty if the file lacks it."""

    markup: Markup

    @property
    def tag(self) -> str:
        return self.markup.tag

    @property
    def id(self) -> str:
        return self.markup.attributes.get("id", "")

    @property
    def name(self) -> str | None:
        return self.markup.attributes.get("name")

    @property
    def line(self) -> int:
        return self.markup.line


@dataclass(frozen=True, slots=True)
class FlowElement(BaseElement):
    """A flow node or a sequence flow."""


@dataclass(frozen=True, slots=True)
class SequenceFlow(FlowElement):
    """A connection of two flow nodes; in an unchecked model, its ids may dangle."""

    @property
    def source_ref(self) -> str:
        return self.markup.attributes.get("sourceRef", "")

    @property
    def target_ref(self) -> str:
        return self.markup.attributes.get("targetRef", "")

    @property
    def condition(self) -> str | None:
        """The condition with its leading `=`; None without a condition element."""
        child = self.markup.first("conditionExpression")
        return None if child is None else child.text


@dataclass(frozen=True, slots=True)
class FlowNode(FlowElement):
    """An event, an activity or a gateway."""

    @property
    def multi_instance(self) -> Markup | None:
        """The multi-instance characteristics of an activity, or None."""
        return self.markup.first(MULTI_INSTANCE)

    @property
    def is_for_compensation(self) -> bool:
        """Whether the node is a compensation handler, which no sequence flow leads to."""
        return self.markup.attributes.get("isForCompensation", "false").strip() in {"true", "1"}

    @property
    def event_definitions(self) -> tuple[str, ...]:
        """The kinds of its event definitions, such as `timer`, in document order."""
        tags = (child.tag for child in self.markup.children)
        return tuple(tag.removesuffix(EVENT_DEFINITION) for tag in tags if tag.endswith(EVENT_DEFINITION))


class FlowElementsContainer:
    """A process or a sub-process: a scope of flow elements, in the order of the document."""

    __slots__ = ()
    elements: tuple[FlowElement, ...]
    markup: Markup

    def flow_nodes(self) -> Iterator[FlowNode]:
        return (element for element in self.elements if isinstance(element, FlowNode))

    def sequence_flows(self) -> Iterator[SequenceFlow]:
        return (element for element in self.elements if isinstance(element, SequenceFlow))

    def associations(self) -> Iterator[tuple[str, str]]:
        """The source and the target of each association; the ids may dangle."""
        for association in self.markup.all("association"):
            attributes = association.attributes
            yield attributes.get("sourceRef", ""), attributes.get("targetRef", "")


@dataclass(frozen=True, slots=True)
class Event(FlowNode):
    """An event; its definitions say what it catches or throws."""

    @property
    def error_ref(self) -> str | None:
        """The id of the error; None catches all errors."""
        return self._defined("errorEventDefinition", "errorRef")

    @property
    def escalation_ref(self) -> str | None:
        """The id of the escalation; None catches all escalations."""
        return self._defined("escalationEventDefinition", "escalationRef")

    @property
    def signal_ref(self) -> str | None:
        """The id of the signal that it waits for or broadcasts; None for other kinds of events."""
        return self._defined("signalEventDefinition", "signalRef")

    @property
    def link_name(self) -> str | None:
        return self._defined("linkEventDefinition", "name")

    def _defined(self, tag: str, attribute: str) -> str | None:
        definition = self.markup.first(tag)
        return definition.attributes.get(attribute) if definition is not None else None


@dataclass(frozen=True, slots=True)
class ThrowEvent(Event):
    """An event with a result, or without one."""

    @property
    def activity_ref(self) -> str | None:
        """The id of the compensated activity; None for all in its scope."""
        return self._defined("compensateEventDefinition", "activityRef")


@dataclass(frozen=True, slots=True)
class EndEvent(ThrowEvent):
    """An event that ends a path."""


@dataclass(frozen=True, slots=True)
class IntermediateThrowEvent(ThrowEvent):
    """A throw event in the flow."""


@dataclass(frozen=True, slots=True)
class TimerDefinition:
    """The definition of a timer; its kind is `timeDate`, `timeDuration` or `timeCycle`."""

    kind: str
    text: str


@dataclass(frozen=True, slots=True)
class CatchEvent(Event):
    """An event that waits for its trigger."""

    @property
    def timer(self) -> TimerDefinition | None:
        """The first timer definition with text; the linter requires that there is only one."""
        definition = self.markup.first("timerEventDefinition")
        kinds = definition.children if definition is not None else ()
        return next((TimerDefinition(child.tag, child.text.strip()) for child in kinds if child.text), None)

    @property
    def conditional(self) -> Markup | None:
        """The conditional event definition; None for other kinds of events."""
        return self.markup.first("conditionalEventDefinition")

    @property
    def message_ref(self) -> str | None:
        """The id of the message that it waits for; None for other kinds of events."""
        return self._defined("messageEventDefinition", "messageRef")


@dataclass(frozen=True, slots=True)
class StartEvent(CatchEvent):
    """The first element of a scope; the start event of an event sub-process has a trigger."""

    @property
    def is_interrupting(self) -> bool:
        return self.markup.attributes.get("isInterrupting", "true").strip() in {"true", "1"}


@dataclass(frozen=True, slots=True)
class IntermediateCatchEvent(CatchEvent):
    """A catch event in the flow."""


@dataclass(frozen=True, slots=True)
class BoundaryEvent(CatchEvent):
    """A catch event on the boundary of an activity."""

    @property
    def attached_to_ref(self) -> str:
        return self.markup.attributes.get("attachedToRef", "")

    @property
    def is_interrupting(self) -> bool:
        return self.markup.attributes.get("cancelActivity", "true").strip() in {"true", "1"}


@dataclass(frozen=True, slots=True)
class JobTask(FlowNode):
    """A task that a job worker executes if it has a `zeebe:taskDefinition`."""


@dataclass(frozen=True, slots=True)
class ServiceTask(JobTask):
    pass


@dataclass(frozen=True, slots=True)
class SendTask(JobTask):
    pass


@dataclass(frozen=True, slots=True)
class ScriptTask(JobTask):
    pass


@dataclass(frozen=True, slots=True)
class BusinessRuleTask(JobTask):
    pass


@dataclass(frozen=True, slots=True)
class UserTask(FlowNode):
    """A task for a person: native with a `zeebe:userTask`, otherwise executed by a job worker."""


@dataclass(frozen=True, slots=True)
class ReceiveTask(FlowNode):
    """A task that waits for a message."""

    @property
    def message_ref(self) -> str | None:
        """The id of the message."""
        return self.markup.attributes.get("messageRef")


@dataclass(frozen=True, slots=True)
class ManualTask(FlowNode):
    pass


@dataclass(frozen=True, slots=True)
class Task(FlowNode):
    """A task of no particular kind."""


@dataclass(frozen=True, slots=True)
class ConditionalGateway(FlowNode):
    """A gateway whose outgoing flows have conditions."""

    @property
    def default(self) -> str | None:
        """The id of the default flow."""
        return self.markup.attributes.get("default")


@dataclass(frozen=True, slots=True)
class ExclusiveGateway(ConditionalGateway):
    pass


@dataclass(frozen=True, slots=True)
class InclusiveGateway(ConditionalGateway):
    pass


@dataclass(frozen=True, slots=True)
class EventBasedGateway(FlowNode):
    """A gateway that continues with the first triggered event behind it."""


@dataclass(frozen=True, slots=True)
class ParallelGateway(FlowNode):
    pass


@dataclass(frozen=True, slots=True)
class CallActivity(FlowNode):
    """An activity that calls a process."""


@dataclass(frozen=True, slots=True)
class Unsupported(FlowNode):
    """A flow node that the engine does not execute; it is read so that the linter can report it."""


@dataclass(frozen=True, slots=True)
class SubProcess(FlowElementsContainer, FlowNode):
    """An embedded sub-process."""

    elements: tuple[FlowElement, ...] = ()


@dataclass(frozen=True, slots=True)
class AdHocSubProcess(FlowElementsContainer, FlowNode):
    """A sub-process without a start event, whose activities are activated individually, any number of times."""

    elements: tuple[FlowElement, ...] = ()

    @property
    def completion_condition(self) -> str | None:
        """The text with its leading `=`; None when it is missing or blank."""
        child = self.markup.first("completionCondition")
        return child.text if child is not None and child.text.strip() else None

    @property
    def cancels_remaining(self) -> bool:
        """Whether its active children are terminated when the completion condition is true."""
        return self.markup.attributes.get("cancelRemainingInstances", "true").strip() in {"true", "1"}


@dataclass(frozen=True, slots=True)
class EventSubProcess(FlowElementsContainer, FlowNode):
    """A sub-process without incoming flows, which its start event starts while the surrounding scope is active."""

    elements: tuple[FlowElement, ...] = ()


@dataclass(frozen=True, slots=True)
class Process(FlowElementsContainer, BaseElement):
    elements: tuple[FlowElement, ...] = ()

    @property
    def is_executable(self) -> bool:
        return self.markup.attributes.get("isExecutable", "false").strip() in {"true", "1"}


@dataclass(frozen=True, slots=True)
class Definitions(BaseElement):
    """The whole file."""

    processes: tuple[Process, ...] = ()

    def error_codes(self) -> Mapping[str, str]:
        """The codes of the errors of the file, by their ids."""
        return {
            error.attributes.get("id", ""): error.attributes.get("errorCode", "")
            for error in self.markup.all("error")
        }

    def escalation_codes(self) -> Mapping[str, str]:
        """The codes of the escalations of the file, by their ids."""
        return {
            escalation.attributes.get("id", ""): escalation.attributes.get("escalationCode", "")
            for escalation in self.markup.all("escalation")
        }

    def signal_names(self) -> Mapping[str, str]:
        """The names of the signals of the file, by their ids."""
        return {
            signal.attributes.get("id", ""): signal.attributes.get("name", "")
            for signal in self.markup.all("signal")
        }

    def messages(self) -> Mapping[str, Markup]:
        """The messages of the file, by their ids."""
        return {message.attributes.get("id", ""): message for message in self.markup.all("message")}
