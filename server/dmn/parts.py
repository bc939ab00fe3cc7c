"""Common parts of elements, read from markup."""

from enum import StrEnum
from typing import TypeVar

from server.dmn.boxed import InformationItem, LiteralExpression, UnaryTests
from server.dmn.errors import DmnReadError
from server.xml import Markup

_Choice = TypeVar("_Choice", bound=StrEnum)


def information_item(markup: Markup) -> InformationItem:
    return InformationItem(
        id=id_of(markup), line=markup.line, name=name_of(markup), type_ref=type_ref_of(markup)
    )


def unary_tests(markup: Markup) -> UnaryTests:
    return UnaryTests(id=id_of(markup), line=markup.line, text=text_of(markup), language=language_of(markup))


def literal_expression(markup: Markup) -> LiteralExpression:
    return LiteralExpression(
        id=id_of(markup),
        line=markup.line,
        type_ref=type_ref_of(markup),
        text=text_of(markup),
        language=language_of(markup),
    )


def id_of(markup: Markup) -> str:
    return markup.attributes.get("id", "").strip()


def definition_id_of(markup: Markup, namespace: str) -> str:
    """Return the id, or one derived from namespace and name in the form of a reference."""
    return id_of(markup) or f"{namespace}#{name_of(markup)}"


def name_of(markup: Markup) -> str:
    """Return the name with white space collapsed (DMN 1.5 §10.3.1.4)."""
    return " ".join(markup.attributes.get("name", "").split())


def type_ref_of(markup: Markup) -> str | None:
    """Return the type reference: an attribute, or an element in DMN 1.1 and item definitions."""
    written = markup.attributes.get("typeRef")
    if written is None:
        child = markup.first("typeRef")
        written = None if child is None else child.text
    return " ".join(written.split()) or None if written else None


def child_of(markup: Markup, tag: str) -> Markup:
    found = markup.first(tag)
    if found is None:
        raise DmnReadError(f"expected {tag} in {markup.tag}, found none", markup.line)
    return found


def text_of(markup: Markup) -> str:
    for child in markup.children:  # inlined, because most elements of a large table pass through here
        if child.tag == "text":
            return child.text
    return ""


def language_of(markup: Markup) -> str | None:
    return markup.attributes.get("expressionLanguage")


def choice_of(choices: type[_Choice], markup: Markup, attribute: str) -> _Choice | None:
    written = markup.attributes.get(attribute)
    if written is None:
        return None
    try:
        return choices(" ".join(written.split()))
    except ValueError:
        wanted = ", ".join(choices)
        raise DmnReadError(
            f"expected {attribute} to be one of {wanted}, found {written}", markup.line
        ) from None
