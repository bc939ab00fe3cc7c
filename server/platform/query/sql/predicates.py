"""Converts clauses to SQL predicates. A predicate can be true, false or NULL for a row; only true keeps the row."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import assert_never

from server.platform.query.clauses import AnyOf, Clause, Related, relations_in
from server.platform.query.conditions import Condition, Operator
from server.platform.query.fields import FieldType
from server.platform.query.sql.arguments import Arguments
from server.platform.query.sql.patterns import like_pattern, start_pattern
from server.platform.query.sql.relation import (
    INDEXED_CHARACTERS,
    START_CHARACTERS,
    Relation,
    guard_of,
    owned_by,
    quoted,
    start_of,
)

_FORMS: Mapping[Operator, str] = {
    Operator.EQ: "{} = {}",
    Operator.NEQ: "{} IS DISTINCT FROM {}",
    Operator.IN: "{} = ANY({})",
    Operator.NOT_IN: "({} = ANY({})) IS NOT TRUE",
    Operator.GT: "{} > {}",
    Operator.GTE: "{} >= {}",
    Operator.LT: "{} < {}",
    Operator.LTE: "{} <= {}",
    Operator.CONTAINS_EVERY: "{} @> {}",
    Operator.CONTAINS_NONE: "NOT {} && {}",
    Operator.LONGER_THAN: "char_length({}) > {}",
    Operator.NOT_LONGER_THAN: "char_length({}) <= {}",
}
_EQUALITIES = frozenset({Operator.EQ, Operator.IN})
_COMPARISONS = _EQUALITIES | {
    *(Operator.NEQ, Operator.NOT_IN),
    *(Operator.GT, Operator.GTE, Operator.LT, Operator.LTE),
}

# Produces the same text as `text_of`; to_char() truncates milliseconds as Python does.
_OF_LISTS = frozenset({Operator.CONTAINS_EVERY, Operator.CONTAINS_NONE})

_TEXTS: Mapping[FieldType, str] = {
    FieldType.TEXT: "{}",
    FieldType.INTEGER: "{}::text",
    FieldType.BOOLEAN: "initcap({}::text)",
    FieldType.DATE_TIME: """to_char({} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')""",
}


def where(relation: Relation, clauses: Iterable[Clause], arguments: Arguments) -> str:
    """Return the predicate of the tenant's rows that meet all clauses; rows without a tenant belong to all tenants."""
    tenant = owned_by(relation, arguments.tenant)
    return " AND ".join((tenant, *(predicate(clause, relation, arguments) for clause in clauses)))


def predicate(clause: Clause, relation: Relation, arguments: Arguments) -> str:
    """Return the predicate of one clause."""
    match clause:
        case Condition():
            return _condition(clause, relation, arguments)
        case Related():
            return _related(clause, relation, arguments)
        case AnyOf():
            return _any_of(clause, relation, arguments)
        case _:
            assert_never(clause)


def _any_of(clause: AnyOf, relation: Relation, arguments: Arguments) -> str:
    """Return the predicate of alternatives, as a UNION if a branch has related rows.

    PostgreSQL cannot use an index for related rows behind OR.
    """
    related = next(relations_in((clause,)), None)
    if related is None:
        branches = [
            " AND ".join(predicate(entry, relation, arguments) for entry in branch) or "TRUE"
            for branch in clause.branches
        ]
        return f"({' OR '.join(branches)})"
    key = quoted(related.key.name)
    found = [
        f"SELECT {key} FROM {relation.name} WHERE {where(relation, branch, arguments)}"  # noqa: S608  # values are arguments
        for branch in clause.branches
    ]
    return f"{key} IN ({' UNION ALL '.join(found)})"


def _related(clause: Related, relation: Relation, arguments: Arguments) -> str:
    """Return an IN predicate with a subquery, in which column names refer to the other relation."""
    other = relation.other(clause.entity)
    rows = f"SELECT {quoted(clause.link)} FROM {other.name} WHERE {where(other, clause.clauses, arguments)}"  # noqa: S608  # values are arguments
    return f"{quoted(clause.key.name)} {'IN' if clause.is_wanted else 'NOT IN'} ({rows})"


def _condition(condition: Condition, relation: Relation, arguments: Arguments) -> str:
    name, operator = condition.field.name, condition.operator
    if operator is Operator.BEGINS:
        return _begins(condition, relation, arguments)
    if condition.field.type is FieldType.TEXTS and operator not in _OF_LISTS:
        return _of_items(condition, arguments)
    if operator in _SPECIAL:
        return _SPECIAL[operator](condition, relation, arguments)
    if name in relation.by_start and operator in _COMPARISONS:
        return _by_start(condition, arguments)
    plain = _FORMS[operator].format(quoted(name), _place(condition, arguments))
    is_guarded = name in relation.guarded and operator in _EQUALITIES
    if is_guarded and all(len(text) <= INDEXED_CHARACTERS for text in _texts(condition)):
        return f"{plain} AND {guard_of(quoted(name))}"
    return plain


def _of_items(condition: Condition, arguments: Arguments) -> str:
    """Return the condition on an item of a list, in a form that an index on the items supports."""
    column, operator, operand = quoted(condition.field.name), condition.operator, condition.operand
    match operator:
        case Operator.EXISTS:
            return f"{column} {'<>' if operand else '='} '{{}}'"
        case Operator.EQ:
            return f"{column} @> {arguments.add_all([operand])}"
        case Operator.IN:
            return f"{column} && {_place(condition, arguments)}"
        case Operator.NEQ:
            return f"NOT {column} && {arguments.add_all([operand])}"
        case Operator.NOT_IN:
            return f"NOT {column} && {_place(condition, arguments)}"
        case Operator.LIKE | Operator.NOT_LIKE:
            fits = f"item LIKE {arguments.add(like_pattern(str(operand)))}"
        case _:
            fits = _FORMS[operator].format("item", _place(condition, arguments))
    no = "NOT " if operator is Operator.NOT_LIKE else ""
    return f"{no}EXISTS (SELECT FROM unnest({column}) AS item WHERE {fits})"


def _begins(condition: Condition, relation: Relation, arguments: Arguments) -> str:
    """Return the condition on the words of a tsvector, which its index supports; each word is prefixed by its tenant."""
    if condition.field.name not in relation.words:
        raise TypeError(f"{condition.field.name} has no index of words")
    start = f"{arguments.tenant_id}/{condition.operand}"
    lexeme = start.replace("\\", "\\\\").replace("'", "''")
    place = arguments.add(f"'{lexeme}':*")
    return f"{quoted(condition.field.name)} @@ ({place}::text)::tsquery"


def _exists(condition: Condition, _relation: Relation, _arguments: Arguments) -> str:
    return f"{quoted(condition.field.name)} IS {'NOT ' if condition.operand else ''}NULL"


def _like(condition: Condition, relation: Relation, arguments: Arguments) -> str:
    column, pattern = quoted(condition.field.name), str(condition.operand)
    text = _TEXTS[condition.field.type].format(column)
    whole = f"{text} LIKE {arguments.add(like_pattern(pattern))}"
    start = start_pattern(pattern, START_CHARACTERS)
    if start is None or condition.field.name not in relation.by_start:
        return whole
    return f"{start_of(column)} LIKE {arguments.add(start)} AND {whole}"


def _not_like(condition: Condition, _relation: Relation, arguments: Arguments) -> str:
    text = _TEXTS[condition.field.type].format(quoted(condition.field.name))
    return f"({text} LIKE {arguments.add(like_pattern(str(condition.operand)))}) IS NOT TRUE"


def _by_start(condition: Condition, arguments: Arguments) -> str:
    """Compare the indexed prefix of the text.

    For operands shorter than the prefix this is exact: the prefix of a longer text differs from the operand,
    and compares as the whole text does. For other operands it finds candidates, which the whole text then
    confirms.
    """
    column, operator = quoted(condition.field.name), condition.operator
    place, texts = _place(condition, arguments), _texts(condition)
    if all(len(text) < START_CHARACTERS for text in texts):
        return _FORMS[operator].format(start_of(column), place)
    whole = _FORMS[operator].format(column, place)
    if operator not in _EQUALITIES:
        return whole
    starts = arguments.add_all(text[:START_CHARACTERS] for text in texts)
    return f"{start_of(column)} = ANY({starts}) AND {whole}"


def _place(condition: Condition, arguments: Arguments) -> str:
    operand = condition.operand
    is_integer = condition.field.type is FieldType.INTEGER
    if isinstance(operand, tuple):
        return f"{arguments.add_all(operand)}{'::bigint[]' if is_integer else ''}"
    return arguments.add_integer(operand) if is_integer else arguments.add(operand)


def _texts(condition: Condition) -> Sequence[str]:
    operand = condition.operand
    return [str(value) for value in operand] if isinstance(operand, tuple) else [str(operand)]


_SPECIAL: Mapping[Operator, Callable[[Condition, Relation, Arguments], str]] = {
    Operator.EXISTS: _exists,
    Operator.LIKE: _like,
    Operator.NOT_LIKE: _not_like,
}
