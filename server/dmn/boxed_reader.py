"""Reads boxed expressions from markup.

Raises `DmnReadError` with the line of the element that lacks something.
"""

from collections.abc import Callable, Mapping
from typing import Final

from server.dmn.boxed import (
    Binding,
    Conditional,
    Context,
    ContextEntry,
    Expression,
    Filter,
    For,
    FunctionDefinition,
    FunctionKind,
    Invocation,
    ListExpression,
    Quantified,
    Relation,
)
from server.dmn.errors import DmnReadError
from server.dmn.parts import child_of, choice_of, id_of, information_item, literal_expression, type_ref_of
from server.dmn.table_reader import decision_table
from server.xml import Markup


def expression_in(parent: Markup) -> Expression | None:
    """Read the first boxed expression among the children, or return None."""
    found = next((child for child in parent.children if child.tag in _READERS), None)
    return None if found is None else _expression(found)


def required_expression_in(parent: Markup) -> Expression:
    found = expression_in(parent)
    if found is None:
        raise DmnReadError(f"expected an expression in {parent.tag}, found none", parent.line)
    return found


def function_definition(markup: Markup) -> FunctionDefinition:
    return FunctionDefinition(
        id=id_of(markup),
        line=markup.line,
        type_ref=type_ref_of(markup),
        parameters=tuple(map(information_item, markup.all("formalParameter"))),
        body=expression_in(markup),
        kind=choice_of(FunctionKind, markup, "kind") or FunctionKind.FEEL,
    )


def _expression(markup: Markup) -> Expression:
    return _READERS[markup.tag](markup)


def _context(markup: Markup) -> Context:
    return Context(
        id=id_of(markup),
        line=markup.line,
        type_ref=type_ref_of(markup),
        entries=tuple(map(_context_entry, markup.all("contextEntry"))),
    )


def _context_entry(markup: Markup) -> ContextEntry:
    variable = markup.first("variable")
    return ContextEntry(
        id=id_of(markup),
        line=markup.line,
        variable=None if variable is None else information_item(variable),
        value=required_expression_in(markup),
    )


def _list(markup: Markup) -> ListExpression:
    items = (child for child in markup.children if child.tag in _READERS)
    return ListExpression(
        id=id_of(markup),
        line=markup.line,
        type_ref=type_ref_of(markup),
        items=tuple(map(_expression, items)),
    )


def _relation(markup: Markup) -> Relation:
    columns = tuple(map(information_item, markup.all("column")))
    rows = tuple(map(_list, markup.all("row")))
    for row in rows:
        if len(row.items) != len(columns):
            raise DmnReadError(f"expected {len(columns)} cells in a row, found {len(row.items)}", row.line)
    return Relation(
        id=id_of(markup), line=markup.line, type_ref=type_ref_of(markup), columns=columns, rows=rows
    )


def _invocation(markup: Markup) -> Invocation:
    return Invocation(
        id=id_of(markup),
        line=markup.line,
        type_ref=type_ref_of(markup),
        function=required_expression_in(markup),
        bindings=tuple(map(_binding, markup.all("binding"))),
    )


def _binding(markup: Markup) -> Binding:
    return Binding(
        id=id_of(markup),
        line=markup.line,
        parameter=information_item(child_of(markup, "parameter")),
        value=expression_in(markup),
    )


def _conditional(markup: Markup) -> Conditional:
    return Conditional(
        id=id_of(markup),
        line=markup.line,
        type_ref=type_ref_of(markup),
        condition=required_expression_in(child_of(markup, "if")),
        then=required_expression_in(child_of(markup, "then")),
        otherwise=required_expression_in(child_of(markup, "else")),
    )


def _for(markup: Markup) -> For:
    return For(
        id=id_of(markup),
        line=markup.line,
        type_ref=type_ref_of(markup),
        variable=_iterator_variable(markup),
        source=required_expression_in(child_of(markup, "in")),
        body=required_expression_in(child_of(markup, "return")),
    )


def _quantified(markup: Markup) -> Quantified:
    return Quantified(
        id=id_of(markup),
        line=markup.line,
        type_ref=type_ref_of(markup),
        variable=_iterator_variable(markup),
        source=required_expression_in(child_of(markup, "in")),
        body=required_expression_in(child_of(markup, "satisfies")),
        is_every=markup.tag == "every",
    )


def _iterator_variable(markup: Markup) -> str:
    name = " ".join(markup.attributes.get("iteratorVariable", "").split())
    if not name:
        raise DmnReadError(f"expected an iteratorVariable of {markup.tag}, found none", markup.line)
    return name


def _filter(markup: Markup) -> Filter:
    return Filter(
        id=id_of(markup),
        line=markup.line,
        type_ref=type_ref_of(markup),
        source=required_expression_in(child_of(markup, "in")),
        match=required_expression_in(child_of(markup, "match")),
    )


_READERS: Final[Mapping[str, Callable[[Markup], Expression]]] = {
    "literalExpression": literal_expression,
    "context": _context,
    "list": _list,
    "relation": _relation,
    "functionDefinition": function_definition,
    "invocation": _invocation,
    "conditional": _conditional,
    "for": _for,
    "some": _quantified,
    "every": _quantified,
    "filter": _filter,
    "decisionTable": decision_table,
}

EXPRESSION_TAGS: Final = frozenset(_READERS)
"""The tags of boxed expressions."""
