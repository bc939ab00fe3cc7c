"""The content of a DMN file: definitions and the elements of its requirements graph (DMN 1.5 §6)."""

from collections.abc import Mapping

from server.dmn.boxed import Element, Expression, FunctionDefinition, InformationItem, UnaryTests


class FunctionItem(Element, frozen=True, kw_only=True):
    parameters: tuple[InformationItem, ...]
    output_type_ref: str | None = None


class ItemDefinition(Element, frozen=True, kw_only=True):
    """A type: a reference, components, or a function.

    `allowed_values` restrict the type, or the items of a collection. `constraint` restricts the collection.
    """

    name: str
    type_ref: str | None = None
    components: tuple["ItemDefinition", ...] = ()
    function: FunctionItem | None = None
    allowed_values: UnaryTests | None = None
    constraint: UnaryTests | None = None
    is_collection: bool = False


class Import(Element, frozen=True, kw_only=True):
    name: str
    namespace: str


class DrgElement(Element, frozen=True, kw_only=True):
    """An element of the requirements graph.

    `variable` gives its value's name and type; without one, the element's name and id are used.
    `definition_id` is the id or, if the file has none, derived from namespace and name.
    """

    name: str
    definition_id: str
    variable: InformationItem | None = None

    @property
    def variable_names(self) -> tuple[str, ...]:
        if self.variable is not None and self.variable.name:
            return (self.variable.name,)
        return tuple(name for name in dict.fromkeys((self.name, self.id)) if name)

    @property
    def type_ref(self) -> str | None:
        return None if self.variable is None else self.variable.type_ref


class InputData(DrgElement, frozen=True, kw_only=True):
    pass


class Requirement(Element, frozen=True, kw_only=True):
    """A reference as written: `#id` or `namespace#id`."""

    href: str


class Decision(DrgElement, frozen=True, kw_only=True):
    """A decision; `version_tag` names its version. Without one, the file's version tag applies."""

    logic: Expression | None
    version_tag: str | None = None
    required_inputs: tuple[Requirement, ...] = ()
    required_decisions: tuple[Requirement, ...] = ()
    required_knowledge: tuple[Requirement, ...] = ()


class BusinessKnowledgeModel(DrgElement, frozen=True, kw_only=True):
    logic: FunctionDefinition | None
    required_knowledge: tuple[Requirement, ...] = ()


class DecisionService(DrgElement, frozen=True, kw_only=True):
    """A part of the graph as a function: first parameters are input data, then input decisions."""

    output_decisions: tuple[Requirement, ...]
    input_decisions: tuple[Requirement, ...] = ()
    input_data: tuple[Requirement, ...] = ()


class Definitions(Element, frozen=True, kw_only=True):
    """The whole file; `prefixes` are the namespace prefixes that type references may use.

    `definition_id` is defined as for elements.
    """

    name: str
    definition_id: str
    namespace: str
    version: str
    version_tag: str | None = None
    language: str | None = None
    prefixes: Mapping[str, str]
    imports: tuple[Import, ...] = ()
    item_definitions: tuple[ItemDefinition, ...] = ()
    elements: tuple[DrgElement, ...] = ()

    @property
    def version_tags(self) -> Mapping[str, str | None]:
        """The version tag of each decision by id: its own, or the file's."""
        return {
            element.definition_id: element.version_tag or self.version_tag
            for element in self.elements
            if isinstance(element, Decision)
        }
