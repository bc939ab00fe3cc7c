"""The compiled elements of the requirements graph (DMN 1.5 §6, §10.4).

A node holds the bindings of its logic; a walk holds the values computed for one decision.
"""

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias

from server.dmn.arguments import Parameters
from server.dmn.checks import Check
from server.dmn.model import DrgElement
from server.dmn.place import checked
from server.dmn.results import DecisionType, EvaluatedDecision
from server.dmn.session import Evaluate, Frame, Session
from server.dmn.tables.table import Table, TableEvaluation, TableFailedError
from server.feel import EvaluationError, Function, Value
from server.feel.run import Run

Variables: TypeAlias = Mapping[str, Value]


class Walk:
    """The values of one evaluation; `variables` come from the caller, and every expression sees `base`."""

    def __init__(self, session: Session, variables: Variables, base: Variables) -> None:
        self.session = session
        self.variables = variables
        self.base = base
        self.values: dict[Node, Value] = {}
        self.evaluated: list[EvaluatedDecision] = []

    def value(self, node: "Node") -> Value:
        if node not in self.values:
            self.values[node] = node.evaluate(self)
        return self.values[node]

    def frame(self, bindings: Sequence["Binding"]) -> Frame:
        """Return the frame for an element; elements of an imported model are in a context with the import's name."""
        if not bindings:
            return Frame(self.base, self.session)
        scope: dict[str, Value] = {**self.base}
        imported: dict[str, dict[str, Value]] = {}
        for binding in bindings:
            values = dict.fromkeys(binding.names, self.value(binding.node))
            if binding.import_name:
                imported.setdefault(binding.import_name, {}).update(values)
            else:
                scope.update(values)
        return Frame(scope | imported, self.session)


class Node(Protocol):
    """A compiled element that others refer to; nodes compare by identity."""

    def evaluate(self, walk: Walk) -> Value: ...


@dataclass(frozen=True, slots=True)
class Binding:
    """A requirement with its visible names; `import_name` is set for imported elements."""

    names: tuple[str, ...]
    import_name: str | None
    node: Node


@dataclass(slots=True, eq=False)
class InputNode:
    """An input; `qualifier` is the import's name if the input belongs to an imported model."""

    element: DrgElement
    check: Check
    qualifier: str | None = None

    def evaluate(self, walk: Walk) -> Value:
        return self.check(walk.session, given(self.element, self.qualifier, walk.variables))


def given(element: DrgElement, qualifier: str | None, variables: Variables) -> Value:
    """Return the caller's value, from the variables or from a context with the import's name; null if missing."""
    within = variables.get(qualifier) if qualifier else None
    for place in (within, variables) if isinstance(within, dict) else (variables,):
        for name in element.variable_names:
            if name in place:
                return place[name]
    return None


@dataclass(slots=True, eq=False)
class DecisionNode:
    """A decision; `bindings` are the requirements that its logic sees."""

    element: DrgElement
    kind: DecisionType
    logic: Evaluate | Table
    check: Check
    bindings: tuple[Binding, ...]

    def decide(self, walk: Walk) -> Value:
        for node in order_of((self,)):
            walk.value(node)
        return walk.value(self)

    def evaluate(self, walk: Walk) -> Value:
        session = walk.session
        outside, session.decision_id = session.decision_id, self.element.definition_id
        try:
            evaluation = self._evaluation(walk.frame(self.bindings))
            value = self.check(session, evaluation.value)
        except EvaluationError as error:
            walk.evaluated.append(self._told(None, self._reached(error)))
            raise
        walk.evaluated.append(self._told(value, evaluation))
        session.decision_id = outside
        return value

    def _evaluation(self, frame: Frame) -> TableEvaluation:
        if isinstance(self.logic, Table):
            return self.logic.evaluate(frame)
        return TableEvaluation(self.logic(frame))

    def _reached(self, error: EvaluationError) -> TableEvaluation:
        """Return the progress of this decision's own table."""
        if isinstance(error, TableFailedError) and error.table is self.logic:
            return error.evaluation
        return TableEvaluation(None)

    def _told(self, value: Value, evaluation: TableEvaluation) -> EvaluatedDecision:
        element = self.element
        return EvaluatedDecision(
            element.definition_id, element.name, self.kind, value, evaluation.inputs, evaluation.matched_rules
        )


def order_of(outputs: Sequence[DecisionNode], given: Container[Node] = ()) -> list[DecisionNode]:
    """Return the decisions to evaluate, requirements first, except the given ones."""
    result: dict[DecisionNode, None] = {}
    waiting = [(node, False) for node in reversed(outputs)]
    while waiting:
        node, is_ready = waiting.pop()
        if is_ready:
            result[node] = None
        elif node not in result and node not in given:
            waiting.append((node, True))
            required = [each.node for each in node.bindings if isinstance(each.node, DecisionNode)]
            waiting.extend((each, False) for each in reversed(required))
    return list(result)


@dataclass(slots=True, eq=False)
class KnowledgeNode:
    """A business knowledge model: a function that sees its parameters and required knowledge."""

    element: DrgElement
    parameters: Parameters
    logic: Evaluate
    check: Check
    bindings: tuple[Binding, ...]

    def evaluate(self, walk: Walk) -> Value:
        def invoked(run: Run, arguments: Sequence[Value]) -> Value:
            function = self.logic(walk.frame(self.bindings))
            if not isinstance(function, Function):
                return None
            return self.check(walk.session, function.invoke(run, arguments))

        types = tuple(type_.feel for type_ in self.parameters.types)
        return Function(self.parameters.names, invoked, types)


@dataclass(slots=True, eq=False)
class ServiceNode:
    """A decision service: a part of the graph as a function, which sees only its parameters.

    `given` are the parameters' nodes; their values are set instead of evaluated.
    """

    element: DrgElement
    parameters: Parameters
    given: tuple[InputNode | DecisionNode, ...]
    outputs: tuple[DecisionNode, ...]
    check: Check

    def evaluate(self, walk: Walk) -> Value:
        def invoked(_run: Run, arguments: Sequence[Value]) -> Value:
            values = self.parameters.accepted(walk.session, arguments)
            if values is None:
                return None
            inner = Walk(walk.session, {}, {})
            inner.values.update(zip(self.given, values, strict=True))
            return walk.session.call(lambda: self._result(inner))

        types = tuple(type_.feel for type_ in self.parameters.types)
        return Function(self.parameters.names, invoked, types)

    def decide(self, walk: Walk) -> Value:
        """Evaluate the service with parameters from the caller's variables; one of the wrong type is null."""
        inner = Walk(walk.session, {}, {})
        inner.evaluated = walk.evaluated
        for node, type_ in zip(self.given, self.parameters.types, strict=True):
            value = given(node.element, None, walk.variables)
            inner.values[node] = checked(walk.session, value, type_, node.element.id)
        return self._result(inner)

    def _result(self, walk: Walk) -> Value:
        """Return the value of a single output, or a context of several outputs."""
        for node in order_of(self.outputs, walk.values):
            walk.value(node)
        values = {node.element.variable_names[0]: walk.value(node) for node in self.outputs}
        only = next(iter(values.values())) if len(values) == 1 else {**values}
        return self.check(walk.session, only)
