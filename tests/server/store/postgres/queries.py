"""Strategies for rows and queries of every entity, made of its annotations; values are few, so that they meet."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from enum import Enum
from typing import Any, get_args, get_origin, get_type_hints

import msgspec
from hypothesis import strategies as st

from server.engine.keys import Key, partition_of
from server.platform.query import (
    AnyOf,
    Clause,
    Condition,
    Field,
    FieldType,
    Operator,
    Query,
    Related,
    Searchable,
    SortKey,
    Window,
)
from server.store.entities import Entity, ProcessInstance, ProcessInstanceState, Variable
from server.store.searchables import PROCESS_INSTANCES, SEARCHABLES, VARIABLES
from tests.server.store.rows import START, TENANT

_LONG = "a" * 64
TEXTS = (
    *(
        "",
        "a",
        "b",
        "B",
        "ab",
        "abc",
        "é",
        "\U0001f40d",
        "\ufffd",
        "a b\n",
        "%",
        "_",
        "\\",
        "a%b",
        "a_b\\",
        "*?",
    ),
    *(
        _LONG * 4,
        _LONG * 4 + "a",
        _LONG[:-1],
        _LONG,
        _LONG + "a",
        _LONG + "b",
        _LONG * 10,
        _LONG * 10 + "b",
        _LONG * 9 + "b" + _LONG,
    ),
)
INTEGERS = (-(1 << 63), -10, -1, 0, 1, 2, 10, 12, (1 << 51) + 1, (1 << 63) - 1)
INSTANTS = (
    *(START + timedelta(days=days, microseconds=days * 1999) for days in (0, 1, 2)),
    # The driver takes the very first and the very last instant of Python for infinite ones.
    *(START + timedelta(microseconds=1), datetime(1, 1, 2, tzinfo=UTC), datetime(9999, 12, 31, tzinfo=UTC)),
)
_OF_ONE = (Operator.EQ, Operator.NEQ, Operator.GT, Operator.GTE, Operator.LT, Operator.LTE)
_OF_SOME = (Operator.IN, Operator.NOT_IN)
_OF_TEXTS = (Operator.CONTAINS_EVERY, Operator.CONTAINS_NONE)
ENDED = ProcessInstanceState.COMPLETED
_LENGTHS = (Operator.LONGER_THAN, Operator.NOT_LONGER_THAN)

texts = st.sampled_from(TEXTS)
_values: Mapping[FieldType, st.SearchStrategy[Any]] = {
    FieldType.TEXT: texts,
    FieldType.INTEGER: st.sampled_from(INTEGERS),
    FieldType.BOOLEAN: st.booleans(),
    FieldType.DATE_TIME: st.sampled_from(INSTANTS),
}
_patterns = st.one_of(
    st.text("ab*?%_\\é", max_size=8),
    st.tuples(texts, st.sampled_from(["*", "?", ""])).map("".join),
    st.sampled_from(
        ["*", "1*", "-?*", "2026-*", "*.00?Z", "0001-*", "9999-12-31T00:00:00.000Z", "T*", "*TED", "*e"]
    ),
)


def rows_of(searchable: Searchable[Entity]) -> st.SearchStrategy[list[Entity]]:
    """Rows of one tenant and of another, with different keys."""
    hints = get_type_hints(searchable.entity)
    columns = {name: _column(hints[name]) for name in searchable.entity.__struct_fields__}
    columns |= {
        searchable.key.name: st.integers(1, 60),
        "tenant_id": st.sampled_from([TENANT, TENANT, TENANT, "other"]),
    }
    if "partition_id" in columns:
        columns["partition_id"] = st.just(partition_of(Key(1)))
    new: Callable[..., Entity] = searchable.entity
    rows = st.builds(new, **columns)
    return st.lists(rows, max_size=20, unique_by=lambda row: getattr(row, searchable.key.name))


def _column(hint: Any) -> st.SearchStrategy[Any]:
    options = get_args(hint)
    if type(None) in options:
        return st.none() | _column(options[0])
    if get_origin(hint) is tuple:
        return st.lists(texts, max_size=3).map(tuple)
    if get_origin(hint) is Mapping:
        return st.dictionaries(texts, texts, max_size=2)
    if isinstance(hint, type) and issubclass(hint, Enum):
        return st.sampled_from(hint)
    plain = getattr(hint, "__supertype__", hint)
    return {
        str: texts,
        int: _values[FieldType.INTEGER],
        bool: st.booleans(),
        datetime: _values[FieldType.DATE_TIME],
    }[plain]


def row_of(entity: type[Entity], **values: object) -> Entity:
    """A row that has ended, with nothing more than these values."""
    hints = get_type_hints(entity)
    new: Callable[..., Entity] = entity
    return new(**{name: values.get(name, _nothing(hints[name])) for name in entity.__struct_fields__})


def _nothing(hint: Any) -> object:
    if type(None) in get_args(hint):
        return None
    if isinstance(hint, type) and issubclass(hint, Enum):
        return list(hint)[-1]
    plain = getattr(hint, "__supertype__", get_origin(hint) or hint)
    return {str: "", int: 0, bool: False, datetime: START, tuple: (), Mapping: {}}[plain]


@st.composite
def conditions(draw: st.DrawFn, field: Field) -> Condition:
    if field.type is FieldType.TEXTS:
        operator = draw(st.sampled_from(_OF_TEXTS))
        return Condition(field, operator, tuple(draw(st.lists(texts, max_size=2))))
    lengths = _LENGTHS if field.type is FieldType.TEXT else ()
    operator = draw(st.sampled_from([*_OF_ONE, *_OF_SOME, Operator.EXISTS, Operator.LIKE, *lengths]))
    values = _values[field.type]
    if operator in _OF_SOME:
        return Condition(field, operator, tuple(draw(st.lists(values, max_size=4))))
    operand = {Operator.EXISTS: st.booleans(), Operator.LIKE: _patterns}.get(operator, values)
    return Condition(field, operator, draw(st.integers(0, 70) if operator in _LENGTHS else operand))


def conditions_of(searchable: Searchable[Entity]) -> st.SearchStrategy[Condition]:
    found = sorted(searchable.fields.values(), key=lambda field: field.name)
    return st.sampled_from(found).flatmap(conditions)


def with_alternatives(clauses: st.SearchStrategy[Clause]) -> st.SearchStrategy[Clause]:
    """One of these, or some of them as alternatives; a branch may ask for nothing."""
    branches = st.lists(st.lists(clauses, max_size=2).map(tuple), min_size=1, max_size=3).map(tuple)
    return clauses | st.builds(AnyOf, branches)


def variables_with(key: Field) -> st.SearchStrategy[Clause]:
    """Variables of the process instance with this key."""
    wanted = st.lists(conditions_of(VARIABLES), max_size=1).map(tuple)
    return st.builds(Related, st.just(key), st.just(Variable), st.just(key.name), wanted, st.booleans())


@st.composite
def queries_of(draw: st.DrawFn, searchable: Searchable[Entity], clauses: st.SearchStrategy[Clause]) -> Query:
    """A page of its beginning, or from an offset."""
    wanted = draw(st.lists(with_alternatives(clauses), max_size=3))
    found = sorted(searchable.fields.values(), key=lambda field: field.name)
    sortable = [field for field in found if field.type is not FieldType.TEXTS]
    sort = draw(st.lists(st.builds(SortKey, st.sampled_from(sortable), st.booleans()), max_size=3))
    window = Window(limit=draw(st.none() | st.integers(1, 7)), offset=draw(st.sampled_from([0, 0, 0, 3])))
    return searchable.query(*wanted, sort=sort, window=window)


Search = tuple[Searchable[Entity], list[Entity], Query]


@st.composite
def searches(draw: st.DrawFn) -> Search:
    searchable = draw(st.sampled_from(list(SEARCHABLES.values())))
    return searchable, draw(rows_of(searchable)), draw(queries_of(searchable, conditions_of(searchable)))


@st.composite
def searches_by_variables(draw: st.DrawFn) -> Search:
    """Process instances that have ended, and with each of them the variables that lie where it does."""
    searchable: Searchable[Entity] = PROCESS_INSTANCES
    instances = [
        msgspec.structs.replace(row, state=ENDED)
        for row in draw(rows_of(searchable))
        if isinstance(row, ProcessInstance)
    ]
    keys = [row.process_instance_key for row in instances] or [Key(1)]
    variables = [
        msgspec.structs.replace(
            row, variable_key=Key(2 * row.variable_key + key % 2), process_instance_key=key
        )
        for row in draw(rows_of(VARIABLES))
        if isinstance(row, Variable)
        for key in [draw(st.sampled_from(keys))]
    ]
    asked = variables_with(searchable.key)
    query = draw(queries_of(searchable, conditions_of(searchable) | asked))
    wanted = (*query.clauses[:1], draw(with_alternatives(asked)))
    return searchable, [*instances, *variables], replace(query, clauses=wanted)


def with_window(query: Query, **values: object) -> Query:
    return replace(query, window=Window(limit=query.window.limit, **values))  # type: ignore[arg-type]  # as named
