"""Types by name: a model's item definitions, its imports' item definitions, and FEEL's types."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Final

from server import feel
from server.dmn.boxed import Element, UnaryTests
from server.dmn.errors import Problem, ProblemKind
from server.dmn.model import Definitions, FunctionItem, ItemDefinition
from server.dmn.names import Names
from server.dmn.texts import Texts
from server.dmn.types import ANY, Collection, Plain, Reference, Restricted, Signature, Structure, Type
from server.feel import Value
from server.feel.types import ModelTypes, NamedType

MAX_ALIASES: Final = 64
"""Longest chain of item definitions that refer to each other."""

_BUILTIN: Final[Mapping[str, str]] = {
    **{
        name: name
        for name in (
            "Any",
            "boolean",
            "context",
            "date",
            "date and time",
            "days and time duration",
            "function",
            "list",
            "number",
            "range",
            "string",
            "time",
            "years and months duration",
        )
    },
    "any": "Any",
    "dateTime": "date and time",
    "dayTimeDuration": "days and time duration",
    "yearMonthDuration": "years and months duration",
    "double": "number",
    "integer": "number",
    "long": "number",
}
"""FEEL's type names, including the variants of DMN 1.1 and of modelers."""


class ItemTypes:
    """The types that a model can refer to; `imported` are the types of imported models by import name."""

    def __init__(self, definitions: Definitions, imported: Mapping[str, "ItemTypes"], texts: Texts) -> None:
        self._namespace = definitions.namespace
        self._prefixes = definitions.prefixes
        self._definitions = {definition.name: definition for definition in definitions.item_definitions}
        self._imported = imported
        self._texts = texts
        self._types: dict[str, Type] = {}
        for definition in definitions.item_definitions:
            if self._is_circular(definition):
                self._complain(definition, f"type {definition.name} is an alias of itself")
            else:
                self._types[definition.name] = self._type_of(definition)
        self.model: ModelTypes = dict(self._conditions())

    def _conditions(self) -> Iterator[tuple[str, Callable[[Value], bool]]]:
        """Yield the type conditions that FEEL evaluates for a type's name."""
        for name, type_ in self._types.items():
            yield name, type_.shape.conforms
        for import_name, imported in self._imported.items():
            for name, type_ in imported.named_types():
                yield f"{import_name}.{name}", type_.shape.conforms

    def named_types(self) -> Iterable[tuple[str, Type]]:
        return self._types.items()

    def named(self, type_ref: str | None, at: Element) -> Type:
        """Find a type; a missing type is a problem and is replaced by Any."""
        if type_ref is None:
            return ANY
        found = self.find(type_ref)
        if found is None:
            self._complain(at, f"expected a type, found {type_ref}")
            return ANY
        return found

    def find(self, type_ref: str) -> Type | None:
        return (
            self._own(type_ref)
            or self._of_import(type_ref)
            or self._of_namespace(type_ref)
            or _generic(type_ref)
        )

    def allowed_values(self, type_ref: str | None) -> UnaryTests | None:
        """Find the allowed values of an item definition, or of the one that it refers to."""
        definition = None if type_ref is None else self._definitions.get(type_ref)
        for _ in range(MAX_ALIASES):
            if definition is None or definition.allowed_values is not None:
                break
            definition = self._definitions.get(definition.type_ref or "")
        return None if definition is None else definition.allowed_values

    def _own(self, name: str) -> Type | None:
        if name in self._definitions:
            return Reference(name, self._resolved)
        return Plain(NamedType(_BUILTIN[name])) if name in _BUILTIN else None

    def _resolved(self, name: str) -> Type:
        return self._types.get(name, ANY)

    def _of_import(self, type_ref: str) -> Type | None:
        for name, types in self._imported.items():
            if type_ref.startswith(f"{name}."):
                return types.find(type_ref.removeprefix(f"{name}."))
        return None

    def _of_namespace(self, type_ref: str) -> Type | None:
        """Find a type by a DMN 1.1 qualified name: `feel:string`, or with the prefix of an import's namespace."""
        prefix, colon, name = type_ref.rpartition(":")
        namespace = self._prefixes.get(prefix)
        imported = (types for types in self._imported.values() if types.is_of(namespace))
        return next(imported, self).find(name) if colon else None

    def is_of(self, namespace: str | None) -> bool:
        return self._namespace == namespace

    def _complain(self, at: Element, message: str) -> None:
        self._texts.problems.append(Problem(ProblemKind.TYPE, at.id, at.line, message))

    def _is_circular(self, definition: ItemDefinition) -> bool:
        current: ItemDefinition | None = definition
        for _ in range(MAX_ALIASES):
            if current is None or current.type_ref is None:
                return False
            current = self._definitions.get(current.type_ref)
        return True

    def _type_of(self, definition: ItemDefinition) -> Type:
        item = self._narrowed(self._unnarrowed(definition), definition.allowed_values)
        return self._narrowed(Collection(item), definition.constraint) if definition.is_collection else item

    def _unnarrowed(self, definition: ItemDefinition) -> Type:
        if definition.components:
            return Structure(tuple((each.name, self._type_of(each)) for each in definition.components))
        if definition.function is not None:
            return self._signature(definition.function)
        return self.named(definition.type_ref, definition)

    def _signature(self, function: FunctionItem) -> Type:
        parameters = tuple(self.named(parameter.type_ref, parameter) for parameter in function.parameters)
        return Signature(parameters, self.named(function.output_type_ref, function))

    def _narrowed(self, origin: Type, allowed: UnaryTests | None) -> Type:
        tests = None if allowed is None else self._texts.unary_tests(allowed, Names())
        return origin if tests is None else Restricted(origin, tests)


def _generic(type_ref: str) -> Type | None:
    if "<" not in type_ref:
        return None
    try:
        return Plain(feel.parse_type(type_ref))
    except feel.FeelSyntaxError:
        return None
