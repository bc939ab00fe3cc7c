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
    START_EVENT = "START_EVENT"
    END_EVENT = "END_EVENT"
    SERVICE_TASK = "SERVICE_TASK"
    SEND_TASK = "SEND_TASK"
    SCRIPT_TASK = "SCRIPT_TASK"
    BUSINESS_RULE_TASK = "BUSINESS_RULE_TASK"
    MANUAL_TASK = "MANUAL_TASK"
    TASK = "TASK"
    EXCLUSIVE_GATEWAY = "EXCLUSIVE_GATEWAY"
    PARALLEL_GATEWAY = "PARALLEL_GATEWAY"
    SEQUENCE_FLOW = "SEQUENCE_FLOW"


@dataclass(frozen=True, slots=True)
class Static:
    """An attribute without a leading `=`: the text itself."""

    text: str


Attribute = Static | feel.Expression


@dataclass(frozen=True, slots=True)
class VariableMapping:
    """One input or output mapping: source to target, the target's dotted path split at the dots.

    No source means null.
    """

    source: Attribute | None
    target: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class JobDefinition:
    """What a job of this element looks like before its expressions are evaluated."""

    type: Attribute
    retries: Attribute
    headers: Mapping[str, str]


@dataclass(slots=True, eq=False)
class Flow:
    """A sequence flow; identity is equality, as with elements."""

    id: str
    source: "Element"
    target: "Element"
    condition: feel.Expression | None = None


@dataclass(slots=True, eq=False)
class Element:
    """An element of the process, the process itself included.

    `outgoing` keeps the order of the document, in which an exclusive gateway tries its conditions.
    `flow_scope` is None for the process element alone.
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
    flow_scope: "Element | None" = None
    properties: Mapping[str, str] = field(default_factory=dict)


@dataclass(slots=True, eq=False)
class ExecutableProcess:
    """A process ready to run; `elements` holds the root under the process id as well."""

    id: str
    name: str | None
    version_tag: str | None
    root: Element
    none_start: Element | None
    elements: Mapping[str, Element]
