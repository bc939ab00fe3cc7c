"""What a BPMN file says, element by element.

Every class is a typed reading of one piece of markup and holds nothing besides it, so that the
linter, which asks for attributes by name, and the compiler, which asks by type, cannot disagree.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from server.xml import Markup

EVENT_DEFINITION = "EventDefinition"


@dataclass(frozen=True, slots=True)
class BaseElement:
    """Anything that BPMN gives an id; the id is empty where the file forgot it."""

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
    """A connection of two flow nodes; the ids may dangle until the linter has looked."""

    @property
    def source_ref(self) -> str:
        return self.markup.attributes.get("sourceRef", "")

    @property
    def target_ref(self) -> str:
        return self.markup.attributes.get("targetRef", "")

    @property
    def condition(self) -> str | None:
        """The text with its leading `=`, or None when there is no condition element."""
        child = self.markup.first("conditionExpression")
        return None if child is None else child.text


@dataclass(frozen=True, slots=True)
class FlowNode(FlowElement):
    """An event, an activity or a gateway."""

    @property
    def event_definitions(self) -> tuple[str, ...]:
        """The kinds of trigger, such as `timer`, in the order of the document."""
        tags = (child.tag for child in self.markup.children)
        return tuple(tag.removesuffix(EVENT_DEFINITION) for tag in tags if tag.endswith(EVENT_DEFINITION))


@dataclass(frozen=True, slots=True)
class StartEvent(FlowNode):
    """A start event without trigger."""


@dataclass(frozen=True, slots=True)
class EndEvent(FlowNode):
    """An end event without result."""


@dataclass(frozen=True, slots=True)
class JobTask(FlowNode):
    """A task that a job worker does when it has a `zeebe:taskDefinition`."""


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
class ManualTask(FlowNode):
    pass


@dataclass(frozen=True, slots=True)
class Task(FlowNode):
    """A task of no particular kind."""


@dataclass(frozen=True, slots=True)
class ExclusiveGateway(FlowNode):
    @property
    def default(self) -> str | None:
        """The id of the default flow."""
        return self.markup.attributes.get("default")


@dataclass(frozen=True, slots=True)
class ParallelGateway(FlowNode):
    pass


@dataclass(frozen=True, slots=True)
class Unsupported(FlowNode):
    """A flow node that is not executed; it is read so that the linter can name it."""


@dataclass(frozen=True, slots=True)
class Process(BaseElement):
    """A process with its flow elements in the order of the document."""

    elements: tuple[FlowElement, ...] = ()

    @property
    def is_executable(self) -> bool:
        return self.markup.attributes.get("isExecutable", "false").strip() in {"true", "1"}

    def flow_nodes(self) -> Iterator[FlowNode]:
        return (element for element in self.elements if isinstance(element, FlowNode))

    def sequence_flows(self) -> Iterator[SequenceFlow]:
        return (element for element in self.elements if isinstance(element, SequenceFlow))


@dataclass(frozen=True, slots=True)
class Definitions(BaseElement):
    """The whole file."""

    processes: tuple[Process, ...] = ()
