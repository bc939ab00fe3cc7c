"""Contexts, lists and relations."""

from typing import Final

from server.dmn.boxed import Context, ContextEntry, ListExpression, Relation
from server.dmn.errors import ProblemKind
from server.dmn.place import Place
from server.dmn.session import Evaluate, Frame
from server.feel import Value

MAX_ENTRIES: Final = 1_000
"""Most entries of a context; each entry copies the scope of the previous one."""


def context(node: Context, place: Place) -> Evaluate:
    """Compile a context: each entry sees the entries before it; an entry without a variable is the result."""
    if len(node.entries) > MAX_ENTRIES:
        return place.problem(
            node, ProblemKind.TOO_LARGE, f"expected at most {MAX_ENTRIES} entries, found {len(node.entries)}"
        )
    entries: list[tuple[str, Evaluate]] = []
    for entry in node.entries:
        evaluate = _entry(entry, place)
        if entry.variable is None:
            return _with_result(tuple(entries), evaluate)
        entries.append((entry.variable.name, evaluate))
        place = place.inner((entry.variable.name,))
    return _all_of(tuple(entries))


def _entry(entry: ContextEntry, place: Place) -> Evaluate:
    evaluate = place.compile(entry.value)
    if entry.variable is None:
        return evaluate
    return place.typed(evaluate, entry.variable.type_ref, entry.variable)


def _all_of(entries: tuple[tuple[str, Evaluate], ...]) -> Evaluate:
    def all_of(frame: Frame) -> Value:
        values, _ = _evaluated(entries, frame)
        return values

    return all_of


def _with_result(entries: tuple[tuple[str, Evaluate], ...], result: Evaluate) -> Evaluate:
    def with_result(frame: Frame) -> Value:
        _, inner = _evaluated(entries, frame)
        return result(inner)

    return with_result


def _evaluated(entries: tuple[tuple[str, Evaluate], ...], frame: Frame) -> tuple[dict[str, Value], Frame]:
    values: dict[str, Value] = {}
    inner = frame.inner({})
    for name, evaluate in entries:
        values[name] = evaluate(inner)
        inner = inner.inner({name: values[name]})
    return values, inner


def list_expression(node: ListExpression, place: Place) -> Evaluate:
    items = tuple(map(place.compile, node.items))
    return lambda frame: [item(frame) for item in items]


def relation(node: Relation, place: Place) -> Evaluate:
    """Compile a relation to a list of contexts, one per row."""
    names = [column.name for column in node.columns]
    rows = [
        tuple(
            place.typed(place.compile(cell), column.type_ref, cell)
            for cell, column in zip(row.items, node.columns, strict=True)
        )
        for row in node.rows
    ]

    def contexts(frame: Frame) -> Value:
        return [{name: cell(frame) for name, cell in zip(names, row, strict=True)} for row in rows]

    return contexts
