"""The statement of a statistic.

Texts of which an index leaves long ones out are counted in two parts: those that stand in the index, from it alone, and
the others.
"""

from collections.abc import Iterable, Sequence
from typing import assert_never

from server.platform.query.clauses import Clause
from server.platform.query.conditions import Conditions
from server.platform.query.fields import Field
from server.platform.query.sql.arguments import Arguments
from server.platform.query.sql.predicates import predicate, where
from server.platform.query.sql.relation import INDEXED_CHARACTERS, Relation, guard_of, quoted
from server.platform.query.sql.statements import Statement
from server.platform.query.statistics import (
    MOST_GROUPS,
    Count,
    Different,
    Group,
    Interval,
    Latest,
    Measure,
    Statistic,
    lists_in,
)


def groups_of(
    relation: Relation, statistic: Statistic[object], clauses: Iterable[Clause], *, tenant_id: str
) -> Statement:
    """Select the values of each group."""
    arguments = Arguments(tenant_id)
    rows = _rows(relation, statistic.by)
    matches = where(relation, clauses, arguments)
    by = [_key(group, arguments) for group in statistic.by]
    measures = [_measure(measure, relation, arguments) for measure in statistic.measures]
    columns = ", ".join(f"{text} AS v{number}" for number, text in enumerate((*by, *measures)))
    places = ", ".join(str(number + 1) for number in range(len(by))) or "()"
    selected = [
        f"SELECT {columns} FROM {rows} WHERE {' AND '.join((matches, *part))} GROUP BY {places} HAVING count(*) > 0"  # noqa: S608  # values are arguments
        for part in _parts(relation, statistic.by)
    ]
    union = " UNION ALL ".join(selected)
    return Statement(f"{union} ORDER BY v{len(by)} DESC LIMIT {MOST_GROUPS}", arguments.values)


def _rows(relation: Relation, by: Sequence[Group]) -> str:
    items = (f", unnest({quoted(field.name)}) AS {_item(field)}" for field in lists_in(by))
    return f"{relation.name}{''.join(items)}"


def _parts(relation: Relation, by: Sequence[Group]) -> Sequence[Sequence[str]]:
    """Predicates of parts; each row is in one of them."""
    guarded = next(
        (each.name for each in by if isinstance(each, Field) and each.name in relation.guarded), None
    )
    if guarded is None:
        return [()]
    column = quoted(guarded)
    return [(guard_of(column),), (f"char_length({column}) > {INDEXED_CHARACTERS}",)]


def _key(group: Group, arguments: Arguments) -> str:
    if isinstance(group, Interval):
        seconds = f"{arguments.add(group.seconds)}::bigint"
        return f"to_timestamp(floor(extract(epoch FROM {quoted(group.field.name)}) / {seconds}) * {seconds})"
    return _item(group) if lists_in([group]) else quoted(group.name)


def _item(field: Field) -> str:
    return quoted(f"{field.name}#item")


def _measure(measure: Measure, relation: Relation, arguments: Arguments) -> str:
    match measure:
        case Count():
            return f"count(*){_filter(measure.conditions, relation, arguments)}"
        case Different():
            different = f"count(DISTINCT {quoted(measure.field.name)})"
            return f"{different}{_filter(measure.conditions, relation, arguments)}"
        case Latest():
            latest = f"max({quoted(measure.field.name)})"
            return f"{latest}{_filter(measure.conditions, relation, arguments)}"
        case _:
            assert_never(measure)


def _filter(conditions: Conditions, relation: Relation, arguments: Arguments) -> str:
    if not conditions:
        return ""
    texts = (predicate(condition, relation, arguments) for condition in conditions)
    return f" FILTER (WHERE {' AND '.join(texts)})"
