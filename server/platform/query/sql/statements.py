"""The statements of a search: its page, and the number of all matches.

An index provides an order without missing values in both directions. With such an index, an order that may
begin with missing values is read in two parts: the rows that have a first value, and the rows that lack it.
With an offset the order is read in one part, because all earlier rows must be skipped anyway.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from server.platform.query.clauses import Clause
from server.platform.query.model import Position, Query, Window
from server.platform.query.sql.arguments import Arguments
from server.platform.query.sql.order import Order
from server.platform.query.sql.predicates import where
from server.platform.query.sql.relation import Relation, owned_by, quoted

_PART = quoted("#part")

TOTAL = "#total"
_SIZE, _BEFORE, _FOUND = quoted("#size"), quoted("#before"), quoted("#found")
_ANY_AMOUNT = (1 << 63) - 1


@dataclass(frozen=True, slots=True)
class Statement:
    text: str
    arguments: Sequence[object]


@dataclass(frozen=True, slots=True)
class _Part:
    """A part of an order: the rows that meet a predicate, after a position."""

    predicate: str
    order: Order
    position: Position | None = None

    def where(self, arguments: Arguments) -> str:
        beyond = "" if self.position is None else self.order.beyond(self.position, arguments)
        return "".join(f" AND {text}" for text in (self.predicate, beyond) if text)


def count_of(relation: Relation, clauses: Iterable[Clause], *, tenant_id: str) -> Statement:
    """Return the statement that counts all matches."""
    arguments = Arguments(tenant_id)
    matches = where(relation, clauses, arguments)
    text = f"SELECT count(*) FROM {relation.name} WHERE {matches}"  # noqa: S608  # values are arguments
    return Statement(text, arguments.values)


def bounded_count_of(
    relation: Relation, clauses: Iterable[Clause], *, tenant_id: str, most: int
) -> Statement:
    """Return the statement that counts matches up to `most`."""
    arguments = Arguments(tenant_id)
    matches = where(relation, clauses, arguments)
    found = f"SELECT FROM {relation.name} WHERE {matches} LIMIT {arguments.add(most)}"  # values are arguments
    return Statement(f"SELECT count(*) FROM ({found}) AS matches", arguments.values)  # noqa: S608  # the same


def page_of(relation: Relation, query: Query, *, tenant_id: str) -> Statement:
    """Return the statement of a query's page; a page before a position comes in reverse order."""
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


def page_of_first(relation: Relation, query: Query, *, tenant_id: str, most: int) -> Statement:
    """Return the statement of the same page among the next `most` rows in the order; it may end too early.

    An index must provide the order. When most rows match, this reads hardly more rows than the page has.
    """
    arguments, window = Arguments(tenant_id), query.window
    first = _parts(Order(query.sort, relation, is_reversed=window.before is not None), window)[0]
    tenant, rest, order = owned_by(relation, arguments.tenant), first.where(arguments), first.order
    rows = (
        f"SELECT *, {order.places()} FROM {relation.name} WHERE {tenant}{rest} "  # noqa: S608  # values are arguments
        f"ORDER BY {order.text()} LIMIT {arguments.add(most)}"
    )
    met = where(relation, query.clauses, arguments)
    limit = "" if window.limit is None else f" LIMIT {arguments.add(window.limit)}"
    columns = ", ".join(map(quoted, relation.columns))
    text = f"SELECT {columns} FROM ({rows}) AS first WHERE {met} ORDER BY {order.text_of_places()}{limit}"  # noqa: S608  # the same
    return Statement(text, arguments.values)


def page_of_few(relation: Relation, query: Query, *, tenant_id: str) -> Statement:
    """Return the statement of the same page for few matches: it finds all matches and then sorts them.

    The planner would otherwise read rows in order until the page is full, without knowing how many it must
    read.
    """
    arguments, window = Arguments(tenant_id), query.window
    met = where(relation, query.clauses, arguments)
    order = Order(query.sort, relation, is_reversed=window.before is not None)
    rest = _Part("", order, window.before or window.after).where(arguments)
    limit = "" if window.limit is None else f" LIMIT {arguments.add(window.limit)}"
    columns = ", ".join(map(quoted, relation.columns))
    # OFFSET 0 keeps the planner from using the order inside the subquery.
    matches = f"(SELECT {columns} FROM {relation.name} WHERE {met}{rest} OFFSET 0) AS matches"  # noqa: S608  # values are arguments
    offset = f" OFFSET {arguments.add(window.offset)}" if window.offset else ""
    text = f"SELECT {columns} FROM {matches} ORDER BY {order.text()}{limit}{offset}"  # noqa: S608  # values are arguments
    return Statement(text, arguments.values)


def bounded_page_of(page: Statement, relation: Relation, query: Query) -> Statement:
    """Return the statement of the same page without its rows beyond the query's amount of text, and with cut texts.

    Each row has one more value at its end: the number of rows of the whole page. Texts are read from the
    database only for the rows that remain.
    """
    columns = ", ".join(map(quoted, relation.columns))
    shown = ", ".join(_cut(column, query.cut) for column in relation.columns)
    size = " + ".join(_sizes(relation, query.cut)) or "0"
    most = f"${len(page.arguments) + 1}"
    sized = f"SELECT {columns}, ({size})::bigint AS {_SIZE} FROM ({page.text}) AS page"  # noqa: S608  # values are arguments
    # Without an order of its own, a window has the order of the rows that it reads.
    measured = (
        f"SELECT {columns}, count(*) OVER () AS {_FOUND}, "  # noqa: S608  # the same
        f"sum({_SIZE}) OVER (ROWS UNBOUNDED PRECEDING) - {_SIZE} AS {_BEFORE} FROM ({sized}) AS sized"
    )
    text = f"SELECT {shown}, {_FOUND} FROM ({measured}) AS measured WHERE {_BEFORE} < {most}::bigint"  # noqa: S608  # the same
    return Statement(text, [*page.arguments, query.most_octets or _ANY_AMOUNT])


def _cut(column: str, cut: Mapping[str, int]) -> str:
    name = quoted(column)
    return f"left({name}, {cut[column]}) AS {name}" if column in cut else name


def _sizes(relation: Relation, cut: Mapping[str, int]) -> Iterator[str]:
    """Yield the octets of each column; those of a text are known without reading it."""
    for column in relation.columns:
        name = quoted(column)
        if column in relation.composites:
            yield f"coalesce(octet_length({name}::text), 0)"
        elif column in relation.texts and column not in cut:
            yield f"coalesce(octet_length({name}), 0)"
        elif cut.get(column):
            most = cut[column]
            longer = f"octet_length(left({name}, {most}))"
            yield f"CASE WHEN octet_length({name}) > {most} THEN {longer} ELSE coalesce(octet_length({name}), 0) END"


def counted_page_of(relation: Relation, query: Query, *, tenant_id: str, most: int) -> Statement:
    """Return the statement of the same page with the number of matches as TOTAL, which reads them once.

    It stops after `most` matches, and its page is then not that of the query. Without a row on the page, it has one row
    without other values.
    """
    arguments, window = Arguments(tenant_id), query.window
    met = where(relation, query.clauses, arguments)
    order = Order(query.sort, relation, is_reversed=window.before is not None)
    rest = _Part("", order, window.before or window.after).where(arguments)
    limit = "" if window.limit is None else f" LIMIT {arguments.add(window.limit)}"
    offset = f" OFFSET {arguments.add(window.offset)}" if window.offset else ""
    columns, ordered, total = ", ".join(map(quoted, relation.columns)), order.text(), quoted(TOTAL)
    matches = f"SELECT {columns} FROM {relation.name} WHERE {met} LIMIT {arguments.add(most)}"  # noqa: S608  # values are arguments
    page = f"SELECT {columns} FROM matches WHERE true{rest} ORDER BY {ordered}{limit}{offset}"  # noqa: S608  # the same
    text = (
        f"WITH matches AS MATERIALIZED ({matches}) "  # noqa: S608  # the same
        f"SELECT {total}, {columns} FROM (SELECT count(*) AS {total} FROM matches) AS counted "
        f"LEFT JOIN ({page}) AS page ON true ORDER BY {ordered}"
    )
    return Statement(text, arguments.values)


def _parts(order: Order, window: Window) -> Sequence[_Part]:
    """Return consecutive parts of the order, starting where the window starts."""
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
