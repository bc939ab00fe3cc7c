"""The SQL statement of a statistic.

If an index excludes long texts, the statistic counts in two parts: the indexed texts from the index alone,
and the long texts.
"""

from collections.abc import Iterable, Sequence
from typing import assert_never

from server.platform.query.clauses import Clause, Clauses
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
    """Return the statement that selects the values of each group."""
    arguments = Arguments(tenant_id)
    matches = where(relation, clauses, arguments)
    columns = _columns(statistic, relation, arguments)
    rows = f"{relation.name}{_items(statistic.by)}"
    selected = [
        f"SELECT {columns} FROM {rows} WHERE {' AND '.join((matches, *part))} {_grouped(statistic)}"  # noqa: S608  # values are arguments
        for part in _parts(relation, statistic.by)
    ]
    return Statement(f"{' UNION ALL '.join(selected)} {_most(statistic)}", arguments.values)


def groups_within(
    relations: Sequence[Relation], statistic: Statistic[object], clauses: Clauses, *, tenant_id: str
) -> Statement:
    """Return a statement that evaluates the statistic over several tables; related rows belong to the same table."""
    # The tables differ only in their names, so all predicates have the same arguments.
    arguments = Arguments(tenant_id)
    where(relations[0], clauses, arguments)
    tables = [
        f"SELECT {', '.join(map(quoted, relation.columns))} FROM {relation.name}"  # noqa: S608  # values are arguments
        f" WHERE {where(relation, clauses, Arguments(tenant_id))}"
        for relation in relations
    ]
    columns = _columns(statistic, relations[0], arguments)
    rows = f"({' UNION ALL '.join(tables)}) AS found{_items(statistic.by)}"
    text = f"SELECT {columns} FROM {rows} {_grouped(statistic)} {_most(statistic)}"  # noqa: S608  # values are arguments
    return Statement(text, arguments.values)


def _columns(statistic: Statistic[object], relation: Relation, arguments: Arguments) -> str:
    by = [_key(group, arguments) for group in statistic.by]
    measures = [_measure(measure, relation, arguments) for measure in statistic.measures]
    return ", ".join(f"{text} AS v{number}" for number, text in enumerate((*by, *measures)))


def _items(by: Sequence[Group]) -> str:
    return "".join(f", unnest({quoted(field.name)}) AS {_item(field)}" for field in lists_in(by))


def _grouped(statistic: Statistic[object]) -> str:
    places = ", ".join(str(number + 1) for number in range(len(statistic.by))) or "()"
    return f"GROUP BY {places} HAVING count(*) > 0"


def _most(statistic: Statistic[object]) -> str:
    return f"ORDER BY v{len(statistic.by)} DESC LIMIT {MOST_GROUPS}"


def _parts(relation: Relation, by: Sequence[Group]) -> Sequence[Sequence[str]]:
    """Return the predicates of disjoint parts that together cover all rows."""
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
