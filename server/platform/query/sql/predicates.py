"""Conditions as predicates. One is true, false or unknown for a row, and keeps it when true."""

from collections.abc import Callable, Mapping

from server.platform.query.conditions import Condition, Operator
from server.platform.query.fields import FieldType
from server.platform.query.sql.arguments import Arguments
from server.platform.query.sql.patterns import like_pattern, start_pattern
from server.platform.query.sql.relation import INDEXED_CHARACTERS, Relation, quoted, start_of

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
_COMPARISONS = frozenset(
    {
        *(Operator.EQ, Operator.NEQ, Operator.IN, Operator.NOT_IN),
        *(Operator.GT, Operator.GTE, Operator.LT, Operator.LTE),
    }
)

# What `text_of` makes of a value: to_char() cuts milliseconds off, as Python does.
_TEXTS: Mapping[FieldType, str] = {
    FieldType.TEXT: "{}",
    FieldType.INTEGER: "{}::text",
    FieldType.BOOLEAN: "initcap({}::text)",
    FieldType.DATE_TIME: """to_char({} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')""",
}


def predicate(condition: Condition, relation: Relation, arguments: Arguments) -> str:
    column, operand = quoted(condition.field.name), condition.operand
    write = _SPECIAL.get(condition.operator)
    if write is not None:
        return write(condition, relation, arguments)
    if condition.field.name in relation.prefixed and condition.operator in _COMPARISONS:
        return _by_start(condition, arguments)
    place = arguments.add_all(operand) if isinstance(operand, tuple) else arguments.add(operand)
    return _FORMS[condition.operator].format(column, place)


def _exists(condition: Condition, _relation: Relation, _arguments: Arguments) -> str:
    return f"{quoted(condition.field.name)} IS {'NOT ' if condition.operand else ''}NULL"


def _like(condition: Condition, relation: Relation, arguments: Arguments) -> str:
    column, pattern = quoted(condition.field.name), str(condition.operand)
    text = _TEXTS[condition.field.type].format(column)
    whole = f"{text} LIKE {arguments.add(like_pattern(pattern))}"
    start = start_pattern(pattern, INDEXED_CHARACTERS)
    if start is None or condition.field.name not in relation.prefixed:
        return whole
    return f"{start_of(column, INDEXED_CHARACTERS)} LIKE {arguments.add(start)} AND {whole}"


def _by_start(condition: Condition, arguments: Arguments) -> str:
    """Compare the text's start, which stands in an index.

    With operands that are shorter than the start, that is all there is to compare: the start of a longer text differs
    from them, and as the text does. With others it finds candidates.
    """
    column, operand = quoted(condition.field.name), condition.operand
    start = start_of(column, INDEXED_CHARACTERS)
    texts = [str(value) for value in operand] if isinstance(operand, tuple) else [str(operand)]
    place = arguments.add_all(texts) if isinstance(operand, tuple) else arguments.add(operand)
    if all(len(text) < INDEXED_CHARACTERS for text in texts):
        return _FORMS[condition.operator].format(start, place)
    whole = _FORMS[condition.operator].format(column, place)
    if condition.operator not in {Operator.EQ, Operator.IN}:
        return whole
    starts = arguments.add_all(text[:INDEXED_CHARACTERS] for text in texts)
    return f"{start} = ANY({starts}) AND {whole}"


_SPECIAL: Mapping[Operator, Callable[[Condition, Relation, Arguments], str]] = {
    Operator.EXISTS: _exists,
    Operator.LIKE: _like,
}
