"""The statements of a search: its page, and the number of all matches.

An index gives an order without missing values forwards and backwards. Where there is one, an order that may begin with
missing values is read in two parts, the rows that have its first value and those that have not; but from an offset, which
has to pass all rows before it anyway, it is read in one.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from server.platform.query.clauses import Clause
from server.platform.query.model import Position, Query, Window
from server.platform.query.sql.arguments import Arguments
from server.platform.query.sql.order import Order
from server.platform.query.sql.predicates import where
from server.platform.query.sql.relation import Relation, quoted

_PART = quoted("#part")


@dataclass(frozen=True, slots=True)
class Statement:
    text: str
    arguments: Sequence[object]


@dataclass(frozen=True, slots=True)
class _Part:
    """A stretch of an order: the rows with a predicate, from a position in it on."""

    predicate: str
    order: Order
    position: Position | None = None

    def where(self, arguments: Arguments) -> str:
        beyond = "" if self.position is None else self.order.beyond(self.position, arguments)
        return "".join(f" AND {text}" for text in (self.predicate, beyond) if text)


def count_of(relation: Relation, clauses: Iterable[Clause], *, tenant_id: str) -> Statement:
    """Count all matches."""
    arguments = Arguments(tenant_id)
    matches = where(relation, clauses, arguments)
    text = f"SELECT count(*) FROM {relation.name} WHERE {matches}"  # noqa: S608  # values are arguments
    return Statement(text, arguments.values)


def bounded_count_of(
    relation: Relation, clauses: Iterable[Clause], *, tenant_id: str, most: int
) -> Statement:
    """Count matches up to a number."""
    arguments = Arguments(tenant_id)
    matches = where(relation, clauses, arguments)
    found = f"SELECT FROM {relation.name} WHERE {matches} LIMIT {arguments.add(most)}"  # values are arguments
    return Statement(f"SELECT count(*) FROM ({found}) AS matches", arguments.values)  # noqa: S608  # the same


def page_of(relation: Relation, query: Query, *, tenant_id: str) -> Statement:
    """Select the rows of a query's window; those before a position come last row first."""
    arguments, window = Arguments(tenant_id), query.window
    matches = where(relation, query.clauses, arguments)
    order = Order(query.sort, relation, is_reversed=window.before is not None)
    parts = _parts(order, window)
    limit = "" if window.limit is None else f" LIMIT {arguments.add(window.limit)}"
    columns = ", ".join(map(quoted, relation.columns))
    selected = [
        f"FROM {relation.name} WHERE {matches}{part.where(arguments)} ORDER BY {part.order.text()}{limit}"
        for part in parts
    ]
    if len(parts) == 1:
        offset = f" OFFSET {arguments.add(window.offset)}" if window.offset else ""
        return Statement(f"SELECT {columns} {selected[0]}{offset}", arguments.values)
    union = " UNION ALL ".join(
        f"(SELECT {columns}, {number} AS {_PART} {rows})" for number, rows in enumerate(selected)
    )
    whole_order = f"ORDER BY {_PART}, {order.text()}{limit}"
    text = f"SELECT {columns} FROM ({union}) AS parts {whole_order}"  # noqa: S608  # values are arguments
    return Statement(text, arguments.values)


def page_of_few(relation: Relation, query: Query, *, tenant_id: str) -> Statement:
    """The same page where all matches together are few: find them first, then put them in order.

    The planner would rather read an order until it has the page, and does not know how far it has to read.
    """
    arguments, window = Arguments(tenant_id), query.window
    met = where(relation, query.clauses, arguments)
    order = Order(query.sort, relation, is_reversed=window.before is not None)
    rest = _Part("", order, window.before or window.after).where(arguments)
    limit = "" if window.limit is None else f" LIMIT {arguments.add(window.limit)}"
    columns = ", ".join(map(quoted, relation.columns))
    # Within a subquery with an offset the planner does not look at the order.
    matches = f"(SELECT {columns} FROM {relation.name} WHERE {met}{rest} OFFSET 0) AS matches"  # noqa: S608  # values are arguments
    offset = f" OFFSET {arguments.add(window.offset)}" if window.offset else ""
    text = f"SELECT {columns} FROM {matches} ORDER BY {order.text()}{limit}{offset}"  # noqa: S608  # values are arguments
    return Statement(text, arguments.values)


def _parts(order: Order, window: Window) -> Sequence[_Part]:
    """Stretches that follow one another and begin where the window does."""
    position = window.before if order.is_reversed else window.after
    first = order.keys[0].field.name
    nullable = order.relation.nullable
    may_split = first in nullable and first in order.relation.in_order
    if not may_split or window.offset or window.limit is None:
        return [_Part("", order, position)]
    without = replace(order.relation, nullable=nullable - {first})
    present = _Part(f"{quoted(first)} IS NOT NULL", replace(order, relation=without))
    missing = _Part(f"{quoted(first)} IS NULL", replace(order, keys=order.keys[1:]))
    parts = [missing, present] if order.is_reversed else [present, missing]
    if position is None:
        return parts
    if position[0] is None:
        begun = replace(missing, position=position[1:])
        return [begun, present] if order.is_reversed else [begun]
    begun = replace(present, position=position)
    return [begun] if order.is_reversed else [begun, missing]
