"""A compiled model, which can be evaluated any number of times."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from server.dmn.compiler import GraphCompiler
from server.dmn.dialects import DIALECTS, Dialect
from server.dmn.errors import DmnModelError, Problem
from server.dmn.model import Definitions
from server.dmn.modules import Module, linked
from server.dmn.nodes import DecisionNode, ServiceNode, Variables, Walk
from server.dmn.reader import read
from server.dmn.results import DecisionEvaluation, DecisionFailure, DecisionOutline
from server.dmn.session import Session
from server.feel import NO_PORTS, DialectName, EvaluationError, Ports

Target: TypeAlias = DecisionNode | ServiceNode


@dataclass(frozen=True, slots=True)
class Decisions:
    """The decisions and decision services of a model, by id.

    `problems` are the places that cannot be evaluated. An evaluation that reaches one gets null there and a
    failure.
    """

    id: str
    name: str
    namespace: str
    dialect: Dialect
    targets: Mapping[str, Target]
    problems: tuple[Problem, ...] = ()

    @property
    def outlines(self) -> tuple[DecisionOutline, ...]:
        """The decisions in document order, without decision services."""
        return tuple(
            DecisionOutline(node.element.definition_id, node.element.name, node.kind)
            for node in self.targets.values()
            if isinstance(node, DecisionNode)
        )

    def evaluate(
        self, decision_id: str, variables: Variables, *, ports: Ports = NO_PORTS
    ) -> DecisionEvaluation:
        """Evaluate a decision or decision service; raises KeyError for an unknown id."""
        target = self.targets[decision_id]
        session = Session(ports)
        walk = Walk(session, variables, variables if self.dialect.sees_all_variables else {})
        element = target.element
        try:
            value = target.decide(walk)
        except (EvaluationError, RecursionError) as error:
            message = "the evaluation nests too deep" if isinstance(error, RecursionError) else str(error)
            failure = DecisionFailure(session.decision_id or decision_id, "", message)
            return DecisionEvaluation(
                element.definition_id,
                element.name,
                None,
                tuple(walk.evaluated),
                tuple(session.failures),
                failure,
            )
        return DecisionEvaluation(
            element.definition_id, element.name, value, tuple(walk.evaluated), tuple(session.failures)
        )


def compile_definitions(
    xml: bytes, *, imports: Iterable[bytes] = (), dialect: DialectName = "camunda"
) -> Decisions:
    """Compile a model; `imports` are the files in which its imported models are looked up by namespace.

    Raises `DmnReadError` for invalid DMN, and the errors of `decisions_of`.
    """
    return decisions_of(read(xml), imports=map(read, imports), dialect=dialect)


def decisions_of(
    definitions: Definitions, *, imports: Iterable[Definitions] = (), dialect: DialectName = "camunda"
) -> Decisions:
    """Compile models that were already read.

    Raises `DmnModelError` for cycles and, in the camunda dialect, for all problems.
    """
    chosen = DIALECTS[dialect]
    module, problems = linked(definitions, imports)
    compiler = GraphCompiler(module, chosen, problems)
    compiler.compile()
    found = tuple(dict.fromkeys(problems))
    if found and chosen.refuses_problems:
        raise DmnModelError(*found)
    targets = _targets(module, compiler)
    return Decisions(
        definitions.definition_id, definitions.name, definitions.namespace, chosen, targets, found
    )


def _targets(module: Module, compiler: GraphCompiler) -> dict[str, Target]:
    keys = [key for key, _ in module.elements()]
    return {
        key[1]: node for key in keys if isinstance(node := compiler.nodes[key], DecisionNode | ServiceNode)
    }
