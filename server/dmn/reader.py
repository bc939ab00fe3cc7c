"""Reads DMN 1.1 to 1.6 XML into the model.

Raises `DmnReadError`. References are resolved later, see `modules`.
"""

from collections.abc import Callable, Mapping

from server.dmn.boxed import InformationItem, UnaryTests
from server.dmn.boxed_reader import expression_in, function_definition
from server.dmn.document import Document, parse
from server.dmn.errors import DmnReadError
from server.dmn.model import (
    BusinessKnowledgeModel,
    Decision,
    DecisionService,
    Definitions,
    DrgElement,
    FunctionItem,
    Import,
    InputData,
    ItemDefinition,
    Requirement,
)
from server.dmn.parts import definition_id_of, id_of, information_item, name_of, type_ref_of, unary_tests
from server.xml import Markup


def read(xml: bytes) -> Definitions:
    """Read one file; raises `DmnReadError`."""
    return definitions_of(parse(xml))


def definitions_of(document: Document) -> Definitions:
    """Read a parsed document; raises `DmnReadError`."""
    root = document.root
    namespace = root.attributes.get("namespace", "")
    return Definitions(
        id=id_of(root),
        line=root.line,
        name=name_of(root),
        definition_id=definition_id_of(root, namespace),
        namespace=namespace,
        version=document.version,
        version_tag=_version_tag(root),
        language=root.attributes.get("expressionLanguage"),
        prefixes=document.prefixes,
        imports=tuple(map(_import, root.all("import"))),
        item_definitions=tuple(map(_item_definition, root.all("itemDefinition"))),
        elements=_distinct(
            tuple(_ELEMENTS[child.tag](child, namespace) for child in root.children if child.tag in _ELEMENTS)
        ),
    )


def _distinct(elements: tuple[DrgElement, ...]) -> tuple[DrgElement, ...]:
    known: set[str] = set()
    for element in elements:
        if element.definition_id in known:
            raise DmnReadError(f"expected {_once(element)} again", element.line)
        known.add(element.definition_id)
    return elements


def _once(element: DrgElement) -> str:
    if element.id:
        return f"every id once, found {element.id}"
    return f"every name once among elements without an id, found {element.name}"


def _import(markup: Markup) -> Import:
    return Import(
        id=id_of(markup),
        line=markup.line,
        name=name_of(markup),
        namespace=markup.attributes.get("namespace", ""),
    )


def _item_definition(markup: Markup) -> ItemDefinition:
    function = markup.first("functionItem")
    return ItemDefinition(
        id=id_of(markup),
        line=markup.line,
        name=name_of(markup),
        type_ref=type_ref_of(markup),
        components=tuple(map(_item_definition, markup.all("itemComponent"))),
        function=None if function is None else _function_item(function),
        allowed_values=_tests(markup, "allowedValues"),
        constraint=_tests(markup, "typeConstraint"),
        is_collection=markup.attributes.get("isCollection", "").strip() in {"true", "1"},
    )


def _tests(markup: Markup, tag: str) -> UnaryTests | None:
    child = markup.first(tag)
    tests = None if child is None else unary_tests(child)
    return tests if tests is not None and tests.text else None


def _function_item(markup: Markup) -> FunctionItem:
    output = markup.attributes.get("outputTypeRef")
    return FunctionItem(
        id=id_of(markup),
        line=markup.line,
        parameters=tuple(map(information_item, markup.all("parameters"))),
        output_type_ref=" ".join(output.split()) or None if output else None,
    )


def _input_data(markup: Markup, namespace: str) -> InputData:
    return InputData(
        id=id_of(markup),
        line=markup.line,
        name=name_of(markup),
        definition_id=definition_id_of(markup, namespace),
        variable=_variable(markup),
    )


def _decision(markup: Markup, namespace: str) -> Decision:
    return Decision(
        id=id_of(markup),
        line=markup.line,
        name=name_of(markup),
        definition_id=definition_id_of(markup, namespace),
        variable=_variable(markup),
        logic=expression_in(markup),
        version_tag=_version_tag(markup),
        required_inputs=_requirements(markup, "informationRequirement", "requiredInput"),
        required_decisions=_requirements(markup, "informationRequirement", "requiredDecision"),
        required_knowledge=_requirements(markup, "knowledgeRequirement", "requiredKnowledge"),
    )


def _version_tag(markup: Markup) -> str | None:
    extensions = markup.first("extensionElements")
    tag = None if extensions is None else extensions.first("zeebe:versionTag")
    return None if tag is None else tag.attributes.get("value", "").strip() or None


def _knowledge_model(markup: Markup, namespace: str) -> BusinessKnowledgeModel:
    logic = markup.first("encapsulatedLogic")
    return BusinessKnowledgeModel(
        id=id_of(markup),
        line=markup.line,
        name=name_of(markup),
        definition_id=definition_id_of(markup, namespace),
        variable=_variable(markup),
        logic=None if logic is None else function_definition(logic),
        required_knowledge=_requirements(markup, "knowledgeRequirement", "requiredKnowledge"),
    )


def _decision_service(markup: Markup, namespace: str) -> DecisionService:
    return DecisionService(
        id=id_of(markup),
        line=markup.line,
        name=name_of(markup),
        definition_id=definition_id_of(markup, namespace),
        variable=_variable(markup),
        output_decisions=tuple(map(_requirement, markup.all("outputDecision"))),
        input_decisions=tuple(map(_requirement, markup.all("inputDecision"))),
        input_data=tuple(map(_requirement, markup.all("inputData"))),
    )


def _variable(markup: Markup) -> InformationItem | None:
    variable = markup.first("variable")
    return None if variable is None else information_item(variable)


def _requirements(markup: Markup, tag: str, target: str) -> tuple[Requirement, ...]:
    return tuple(_requirement(found) for each in markup.all(tag) for found in each.all(target))


def _requirement(markup: Markup) -> Requirement:
    href = markup.attributes.get("href", "")
    if not href:
        raise DmnReadError(f"expected an href of {markup.tag}, found none", markup.line)
    return Requirement(line=markup.line, href=href)


_ELEMENTS: Mapping[str, Callable[[Markup, str], DrgElement]] = {
    "inputData": _input_data,
    "decision": _decision,
    "businessKnowledgeModel": _knowledge_model,
    "decisionService": _decision_service,
}
