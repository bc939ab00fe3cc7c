"""Compiles a module's requirements graph into nodes.

Errors are collected in `problems`. Only a cycle raises `DmnModelError`, because its nodes cannot be compiled.
"""

from collections.abc import Iterable, Iterator, Mapping
from graphlib import CycleError, TopologicalSorter
from typing import Final

from server.dmn.arguments import Parameters
from server.dmn.boxed import (
    Conditional,
    Context,
    DecisionTable,
    Expression,
    Filter,
    For,
    FunctionDefinition,
    Invocation,
    ListExpression,
    LiteralExpression,
    Quantified,
    Relation,
)
from server.dmn.checks import as_it_is, conversion, function_check, result_check
from server.dmn.dialects import Dialect
from server.dmn.errors import DmnModelError, Problem, ProblemKind
from server.dmn.item_types import ItemTypes
from server.dmn.logic import compile_logic
from server.dmn.logic.calls import parameters_of
from server.dmn.model import (
    BusinessKnowledgeModel,
    Decision,
    DecisionService,
    DrgElement,
    Requirement,
)
from server.dmn.modules import Key, Module
from server.dmn.names import Names
from server.dmn.nodes import (
    Binding,
    DecisionNode,
    InputNode,
    KnowledgeNode,
    Node,
    ServiceNode,
)
from server.dmn.place import Place, unusable
from server.dmn.results import DecisionType
from server.dmn.session import Evaluate
from server.dmn.tables.table import Table
from server.dmn.texts import Texts
from server.dmn.types import Type

_KINDS: Final[Mapping[type[Expression], DecisionType]] = {
    DecisionTable: DecisionType.DECISION_TABLE,
    LiteralExpression: DecisionType.LITERAL_EXPRESSION,
    Context: DecisionType.CONTEXT,
    ListExpression: DecisionType.LIST,
    Relation: DecisionType.RELATION,
    Invocation: DecisionType.INVOCATION,
    FunctionDefinition: DecisionType.FUNCTION_DEFINITION,
    Conditional: DecisionType.CONDITIONAL,
    For: DecisionType.FOR,
    Quantified: DecisionType.QUANTIFIED,
    Filter: DecisionType.FILTER,
}


class GraphCompiler:
    """Compiles a module; `nodes` holds the compiled elements of the module and its imports."""

    def __init__(self, module: Module, dialect: Dialect, problems: list[Problem]) -> None:
        self.nodes: dict[Key, Node] = {}
        self._dialect = dialect
        self._problems = problems
        self._root = module
        self._elements = {
            key: (each, element) for each in module.all().values() for key, element in each.elements()
        }
        self._places: dict[str, Place] = {}
        self._place_of(module)

    def compile(self) -> None:
        for key in self._order():
            module, element = self._elements[key]
            self.nodes[key] = self._node(element, module)

    def _place_of(self, module: Module) -> Place:
        if module.namespace not in self._places:
            imported = {name: self._place_of(each).types for name, each in module.imports.items()}
            texts = Texts(self._dialect, module.definitions.language, self._problems)
            types = ItemTypes(module.definitions, imported, texts)
            self._places[module.namespace] = Place(
                texts, types, _names(module), _functions(module), frozenset(), compile_logic
            )
        return self._places[module.namespace]

    def _order(self) -> list[Key]:
        """Return the elements, requirements first; missing ones are omitted."""
        sorter: TopologicalSorter[Key] = TopologicalSorter()
        for key, (module, element) in self._elements.items():
            sorter.add(
                key,
                *(
                    target
                    for each in _requirements(element)
                    if (target := module.target(each)) in self._elements
                ),
            )
        try:
            return list(sorter.static_order())
        except CycleError as error:
            _, element = self._elements[error.args[1][0]]
            circle = " → ".join(element_id for _, element_id in reversed(error.args[1]))
            message = f"requires itself: {circle}"
            raise DmnModelError(
                Problem(ProblemKind.REQUIREMENT_CYCLE, element.id, element.line, message)
            ) from error

    def _node(self, element: DrgElement, module: Module) -> Node:
        place = self._places[module.namespace]
        if isinstance(element, Decision):
            return self._decision(element, module, place)
        if isinstance(element, BusinessKnowledgeModel):
            return self._knowledge(element, module, place)
        if isinstance(element, DecisionService):
            return self._service(element, module, place)
        return InputNode(element, conversion(element, place), self._root.import_name(module.namespace))

    def _decision(self, element: Decision, module: Module, place: Place) -> Node:
        bindings = self._bindings(element, module)
        inner = place.inner(_seen(bindings))
        kind = DecisionType.UNSPECIFIED if element.logic is None else _KINDS[type(element.logic)]
        return DecisionNode(element, kind, _logic(element, inner), result_check(element, inner), bindings)

    def _knowledge(self, element: BusinessKnowledgeModel, module: Module, place: Place) -> Node:
        bindings = self._bindings(element, module)
        inner = place.inner(_seen(bindings))
        if element.logic is None:
            # The standard makes this logic optional, so only an invocation fails.
            logic = unusable(element, f"expected logic of {element.name} to invoke, found none")
            return KnowledgeNode(element, Parameters(element.id, (), ()), logic, as_it_is, bindings)
        parameters = parameters_of(element.logic, inner)
        check = function_check(element, place)
        return KnowledgeNode(element, parameters, inner.compile(element.logic), check, bindings)

    def _service(self, element: DecisionService, module: Module, place: Place) -> Node:
        inputs = {
            key: node
            for key in self._found(element, element.input_data + element.input_decisions, module)
            if isinstance(node := self.nodes[key], InputNode | DecisionNode)
        }
        outputs = tuple(
            node
            for key in self._found(element, element.output_decisions, module)
            if isinstance(node := self.nodes[key], DecisionNode)
        )
        names = tuple(node.element.variable_names[0] for node in inputs.values())
        parameters = Parameters(element.id, names, tuple(map(self._type_of, inputs)))
        check = function_check(element, place)
        return ServiceNode(element, parameters, tuple(inputs.values()), outputs, check)

    def _type_of(self, key: Key) -> Type:
        module, element = self._elements[key]
        return self._places[module.namespace].type(element.type_ref, element)

    def _bindings(self, element: Decision | BusinessKnowledgeModel, module: Module) -> tuple[Binding, ...]:
        return tuple(
            Binding(self._elements[key][1].variable_names, module.import_name(key[0]), self.nodes[key])
            for key in self._found(element, _requirements(element), module)
        )

    def _found(
        self, element: DrgElement, requirements: Iterable[Requirement], module: Module
    ) -> Iterator[Key]:
        for requirement in requirements:
            key = module.target(requirement)
            if key in self._elements:
                yield key
            else:
                message = f"expected an element behind {requirement.href}, found none"
                self._problems.append(
                    Problem(ProblemKind.REQUIREMENT_RESOLVES, element.id, requirement.line, message)
                )


def _logic(element: Decision, place: Place) -> Evaluate | Table:
    if isinstance(element.logic, DecisionTable):
        return Table(element.logic, place)
    if element.logic is not None:
        return place.compile(element.logic)
    message = (
        "expected a decision logic, found none:"
        " add a decision table, a literal expression or another boxed expression, or remove the decision"
    )
    return place.problem(element, ProblemKind.DECISION_LOGIC, message)


def _functions(module: Module) -> frozenset[str]:
    functions = (
        element
        for element in module.definitions.elements
        if isinstance(element, BusinessKnowledgeModel | DecisionService)
    )
    return frozenset(name for element in functions for name in element.variable_names)


def _names(module: Module) -> Names:
    """Return the names that are visible everywhere in the module."""
    modules = module.all().values()
    members = frozenset[str]().union(*(each.members() for each in modules))
    imported = frozenset[str]().union(*(each.element_names() for each in modules if each is not module))
    return Names.of(members | imported)


def _requirements(element: DrgElement) -> tuple[Requirement, ...]:
    if isinstance(element, Decision):
        return element.required_inputs + element.required_decisions + element.required_knowledge
    if isinstance(element, BusinessKnowledgeModel):
        return element.required_knowledge
    if isinstance(element, DecisionService):
        return element.output_decisions + element.input_decisions + element.input_data
    return ()


def _seen(bindings: Iterable[Binding]) -> Iterator[str]:
    for binding in bindings:
        yield from (binding.import_name,) if binding.import_name else binding.names
