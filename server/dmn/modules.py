"""A model with its imported models, and the resolution of references (DMN 1.5 §6.3.3)."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from typing import TypeAlias

import msgspec

from server.dmn.boxed import ContextEntry, OutputClause, Rule
from server.dmn.errors import DmnModelError, Problem, ProblemKind
from server.dmn.model import Definitions, DrgElement, Import, ItemDefinition, Requirement

Key: TypeAlias = tuple[str, str]
"""The namespace of a model, and the definition id of an element in it."""


@dataclass(frozen=True, slots=True)
class Module:
    """A model; `imports` maps import names to modules, without imports that were not given."""

    definitions: Definitions
    imports: Mapping[str, "Module"]

    @property
    def namespace(self) -> str:
        return self.definitions.namespace

    def elements(self) -> Iterator[tuple[Key, DrgElement]]:
        return ((key_of(self, element), element) for element in self.definitions.elements)

    def target(self, requirement: Requirement) -> Key:
        namespace, _, element_id = requirement.href.rpartition("#")
        return namespace or self.namespace, element_id

    def import_name(self, namespace: str) -> str | None:
        """Return the import name for elements of a namespace, or None for the model's own elements."""
        return next((name for name, module in self.imports.items() if module.namespace == namespace), None)

    def members(self) -> frozenset[str]:
        """Return the names that can follow a dot or denote types: components, entries, outputs, item definitions."""
        return frozenset(name for part in _parts(self.definitions) for name in _names(part))

    def element_names(self) -> frozenset[str]:
        """Return the names of elements, which follow a dot in importing models."""
        return frozenset(name for element in self.definitions.elements for name in element.variable_names)

    def all(self) -> dict[str, "Module"]:
        """Return this module and all direct and indirect imports, by namespace."""
        result: dict[str, Module] = {}
        waiting = [self]
        while waiting:
            module = waiting.pop()
            if module.namespace not in result:
                result[module.namespace] = module
                waiting.extend(module.imports.values())
        return result


def key_of(module: Module, element: DrgElement) -> Key:
    return module.namespace, element.definition_id


def linked(definitions: Definitions, others: Iterable[Definitions]) -> tuple[Module, list[Problem]]:
    """Link a model with its imports among the others; a cycle raises `DmnModelError`."""
    given = {each.namespace: each for each in (*others, definitions)}
    order = _import_order(definitions, given)
    modules: dict[str, Module] = {}
    for namespace in order:
        found = {
            each.name: modules[each.namespace]
            for each in given[namespace].imports
            if each.namespace in modules
        }
        modules[namespace] = Module(given[namespace], found)
    missing = [each for each in definitions.imports if each.namespace not in modules]
    return modules[definitions.namespace], [_not_given(each) for each in missing]


def _not_given(import_: Import) -> Problem:
    message = f"expected a model of the namespace {import_.namespace}, none was given"
    return Problem(ProblemKind.IMPORT, import_.id, import_.line, message)


def _import_order(definitions: Definitions, given: Mapping[str, Definitions]) -> list[str]:
    sorter: TopologicalSorter[str] = TopologicalSorter()
    waiting, known = [definitions.namespace], set[str]()
    while waiting:
        namespace = waiting.pop()
        if namespace not in known:
            known.add(namespace)
            imported = [each.namespace for each in given[namespace].imports if each.namespace in given]
            sorter.add(namespace, *imported)
            waiting.extend(imported)
    try:
        return list(sorter.static_order())
    except CycleError as error:
        message = f"models import each other: {', '.join(error.args[1])}"
        raise DmnModelError(Problem(ProblemKind.IMPORT, definitions.id, definitions.line, message)) from error


def _parts(part: object) -> Iterator[object]:
    """Yield all parts of a definition except rules, which are many and contain no names."""
    yield part
    if isinstance(part, tuple):
        for each in part:
            yield from _parts(each)
    elif isinstance(part, msgspec.Struct) and not isinstance(part, Rule):
        for name in part.__struct_fields__:
            yield from _parts(getattr(part, name))


def _names(part: object) -> Iterator[str]:
    if isinstance(part, ItemDefinition):  # also matches components
        yield part.name
    elif isinstance(part, OutputClause):
        yield part.name or ""
    elif isinstance(part, ContextEntry) and part.variable is not None:
        yield part.variable.name
