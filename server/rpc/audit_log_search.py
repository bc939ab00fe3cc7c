"""Filters for searches of the audit log.

An entry has one entity key; the entity's kind determines which filter key it matches.
"""

from collections.abc import Collection, Iterator, Mapping

from google.protobuf.message import Message

from gnomon.engine.v1 import audit_entry_pb2
from server.partition.audit import AUDITED, CONDITIONAL, GLOBAL_LISTENER, SIGNAL
from server.platform.errors import InvalidArgument
from server.platform.mapping import spellings
from server.platform.query import AnyOf, Clause, Clauses, Condition, Operator, Searchable, operators
from server.platform.query.readings import Reading
from server.rpc.audit_log_entry import CATEGORIES, KEYS, OPERATION_TYPES, UNKNOWN, Kind
from server.store.entities import AuditEntry
from server.store.searchables import AUDIT_ENTRIES

_FIELDS = AUDIT_ENTRIES.fields
_ENTITY_TYPE, _ENTITY_KEY, _ENTITY_ID = (_FIELDS[name] for name in ("entity_type", "entity_key", "entity_id"))
_LARGEST_KEY = (1 << 63) - 1
_DIGITS = len(str(_LARGEST_KEY))
_UNLIKE = frozenset({Operator.NEQ, Operator.NOT_IN})

_OTHERS = frozenset({"MESSAGE", SIGNAL, CONDITIONAL, "ELEMENT_INSTANCE", GLOBAL_LISTENER})
KNOWN_TYPES = CATEGORIES.keys() - _OTHERS
"""Kinds of entity that Camunda has."""

KNOWN = Condition(_ENTITY_TYPE, Operator.IN, tuple(sorted(KNOWN_TYPES)))


def _key_of(name: str, kind: Kind) -> Reading:
    """A filter for the keys of one kind of entity; entries about other kinds have no such key."""
    wanted = tuple(_is_of(kind, Operator.EQ))
    others = tuple((condition,) for condition in _is_of(kind, Operator.NEQ))

    def clauses(message: Message) -> Iterator[Clause]:
        for condition in operators(_ENTITY_KEY, message, f"filter.{name}"):
            if condition.operator in _UNLIKE:
                yield AnyOf(((condition,), *others))
            elif condition.operator is Operator.EXISTS and not condition.operand:
                yield AnyOf(others)
            else:
                yield from (*wanted, condition)

    return lambda message: tuple(clauses(message))


def _is_of(kind: Kind, operator: Operator) -> Iterator[Condition]:
    yield Condition(_ENTITY_TYPE, operator, kind.entity_type)
    if kind.operation_type is not None:
        yield Condition(_FIELDS["operation_type"], operator, kind.operation_type)


def _entity_key(message: Message) -> Clauses:
    """Clauses for the key or the id of the entity, whichever it has; raises InvalidArgument."""
    return tuple(
        clause
        for condition in operators(_ENTITY_ID, message, "filter.entityKey")
        for clause in _key_or_id(condition)
    )


def _key_or_id(condition: Condition) -> Clauses:
    both = (condition, *_same_of_key(condition))
    holds_for_missing = condition.operator in _UNLIKE or condition == Condition(
        _ENTITY_ID, Operator.EXISTS, operand=False
    )
    return both if holds_for_missing else (AnyOf(tuple((each,) for each in both)),)


def _same_of_key(condition: Condition) -> Iterator[Condition]:
    """Return the same condition on the key, or nothing if the texts are not keys."""
    operator, operand = condition.operator, condition.operand
    match operand:
        case bool():
            yield Condition(_ENTITY_KEY, operator, operand)
        case tuple():
            keys = tuple(int(text) for text in operand if isinstance(text, str) and _is_key(text))
            if keys:
                yield Condition(_ENTITY_KEY, operator, keys)
        case str() if operator is Operator.LIKE:
            yield Condition(_ENTITY_KEY, operator, operand)
        case str() if operator in {Operator.EQ, Operator.NEQ}:
            if _is_key(operand):
                yield Condition(_ENTITY_KEY, operator, int(operand))
        case _:
            raise InvalidArgument(
                f"filter.entityKey: expected $eq, $neq, $exists, $in, $notIn or $like, found ${operator}"
            )


def _is_key(text: str) -> bool:
    return text.isascii() and text.isdecimal() and len(text) <= _DIGITS and int(text) <= _LARGEST_KEY


def _words(name: str, attribute: str, meanings: Mapping[str, Collection[str]]) -> Reading:
    """A filter for words that each stand for some values of an attribute; raises InvalidArgument."""
    field = _FIELDS[attribute]

    def clause(condition: Condition) -> Clause:
        operator, operand = condition.operator, condition.operand
        if operator is Operator.EXISTS:
            return condition
        if operator not in _LISTED:
            raise InvalidArgument(
                f"filter.{name}: expected $eq, $neq, $exists, $in or $notIn, found ${operator}"
            )
        words = operand if isinstance(operand, tuple) else (operand,)
        values = sorted({value for word in words for value in meanings.get(str(word), ())})
        return Condition(field, _LISTED[operator], tuple(values))

    return lambda message: tuple(map(clause, operators(field, message, f"filter.{name}")))


_LISTED = {
    Operator.EQ: Operator.IN,
    Operator.IN: Operator.IN,
    Operator.NEQ: Operator.NOT_IN,
    Operator.NOT_IN: Operator.NOT_IN,
}
_OPERATIONS = {
    **{name: (name,) for name in OPERATION_TYPES},
    UNKNOWN: {audited.operation_type for audited in AUDITED.values()} - OPERATION_TYPES.keys(),
}
_KINDS = {
    name: [kind for kind, category in CATEGORIES.items() if category == value]
    for value, name in spellings(audit_entry_pb2.AuditCategory.DESCRIPTOR).items()
}

AUDIT_LOGS = Searchable.of(
    AuditEntry,
    "audit_entry_key",
    derived={
        **{name: _key_of(name, kind) for name, kind in KEYS.items()},
        "entity_key": _entity_key,
        "operation_type": _words("operationType", "operation_type", _OPERATIONS),
        "category": _words("category", "entity_type", _KINDS),
    },
    aliases={"audit_log_key": "audit_entry_key", "related_entity_key": "related_entity_id"},
)
"""Entries by the members of `AuditLog`."""
