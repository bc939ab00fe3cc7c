"""Converts the filter message of a search into clauses.

The number of conditions is bounded, and so is the number of conditions on related rows, each of which may
read all rows of the tenant.
"""

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime

from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message
from google.protobuf.timestamp_pb2 import Timestamp

from server.platform.errors import InvalidArgument
from server.platform.mapping import spellings
from server.platform.query.clauses import AnyOf, Clause, Clauses, Related, conditions_in, relations_in
from server.platform.query.conditions import Condition, Operator
from server.platform.query.fields import Field, Scalar
from server.platform.query.searchable import Association, Searchable

LONGEST_PATTERN = 1024
MOST_CONDITIONS = 200
MOST_RELATIONS = 20
_ALTERNATIVES = "$or"
_PLACE = "filter"

Value = bool | int | str | Message
"""The value of a field that is not repeated."""


def filter_clauses(searchable: Searchable[object], message: Message) -> Clauses:
    """Convert a filter message; raises InvalidArgument."""
    clauses = tuple(_clauses(searchable, message, _PLACE))
    _check_number(conditions_in(clauses), MOST_CONDITIONS, "conditions")
    _check_number(relations_in(clauses), MOST_RELATIONS, "conditions on related resources")
    return clauses


def selecting_clauses(searchable: Searchable[object], message: Message) -> Clauses:
    """Convert the filter message of a command, each of whose parts must have a condition; raises InvalidArgument."""
    _expect_conditions(message, _PLACE)
    return filter_clauses(searchable, message)


def _expect_conditions(message: Message, place: str) -> None:
    """Raise InvalidArgument for a part without content, such as an operator with an empty list."""
    fields = message.ListFields()
    if not fields:
        raise InvalidArgument(f"{place}: expected at least one condition, found none")
    for field, value in fields:
        if field.message_type is None or field.message_type is Timestamp.DESCRIPTOR:
            continue
        at = f"{place}.{field.json_name}"
        if field.is_repeated:
            for number, part in enumerate(value):
                _expect_conditions(part, f"{at}[{number}]")
        else:
            _expect_conditions(value, at)


def _check_number(found: Iterable[object], most: int, kind: str) -> None:
    number = sum(1 for _ in found)
    if number > most:
        raise InvalidArgument(f"{_PLACE}: expected at most {most} {kind}, found {number}")


def _clauses(searchable: Searchable[object], message: Message, place: str) -> Iterator[Clause]:
    """Yield the clauses of a message; clauses on related rows come last, because they are the most expensive."""
    for field, value in message.ListFields():
        at = f"{place}.{field.json_name}"
        reading = searchable.derived.get(field.name)
        if field.json_name == _ALTERNATIVES:
            branches = enumerate(value)
            yield AnyOf(tuple(tuple(_clauses(searchable, branch, f"{at}[{n}]")) for n, branch in branches))
        elif reading is not None:
            yield from reading(value)
        elif field.name not in searchable.associations:
            name = searchable.items.get(field.name, field.name)
            if field.is_repeated:
                for number, entry in enumerate(value):
                    yield from _conditions(searchable, name, field, entry, f"{at}[{number}]")
            else:
                yield from _conditions(searchable, name, field, value, at)
    yield from _relations(searchable, message, place)


def _relations(searchable: Searchable[object], message: Message, place: str) -> Iterator[Related]:
    """Yield one clause for all fields about the same related row, and one per value of a field about several rows."""
    together: dict[object, tuple[Association, list[Condition]]] = {}
    for field, value in message.ListFields():
        association, at = searchable.associations.get(field.name), f"{place}.{field.json_name}"
        if association is None:
            continue
        if association.field is None:
            for number, entry in enumerate(value):
                yield _related(searchable, association, _all(association, entry, f"{at}[{number}]"))
        else:
            _, wanted = together.setdefault(association.row, (association, []))
            wanted.extend(_conditions(association.searchable, association.field, field, value, at))
    for association, wanted in together.values():
        if wanted:
            yield _related(searchable, association, wanted)


def _all(association: Association, message: Message, place: str) -> Iterator[Condition]:
    for field, value in message.ListFields():
        at = f"{place}.{field.json_name}"
        yield from _conditions(association.searchable, field.name, field, value, at)


def _related(
    searchable: Searchable[object], association: Association, wanted: Iterable[Condition]
) -> Related:
    entity = association.searchable.entity
    key = searchable.key if association.key is None else searchable.fields[association.key]
    return Related(key, entity, association.link, (*association.besides, *wanted))


def _conditions(
    searchable: Searchable[object], name: str, field: FieldDescriptor, value: Value, place: str
) -> Iterator[Condition]:
    """Convert one filter field into conditions on the attribute `name`."""
    attribute = searchable.fields.get(name)
    if attribute is None:
        if isinstance(value, Message) and not value.ListFields():
            return
        raise InvalidArgument(f"{place}: this release cannot search by this property")
    if isinstance(value, Message):
        yield from operators(attribute, value, place)
    else:
        yield Condition(attribute, Operator.EQ, _scalar(field, value, place))


def operators(field: Field, message: Message, place: str) -> Iterator[Condition]:
    """Convert an operator object into conditions on a field; `place` is the path in error messages."""
    for entry, value in message.ListFields():
        operator, at = Operator(entry.name), f"{place}.{entry.json_name}"
        if entry.is_repeated:
            yield Condition(field, operator, tuple(_scalar(entry, item, at) for item in value))
        elif operator is Operator.LIKE and len(value) > LONGEST_PATTERN:
            raise InvalidArgument(f"{at}: expected at most {LONGEST_PATTERN} characters, found {len(value)}")
        else:
            yield Condition(field, operator, _scalar(entry, value, at))


def _scalar(field: FieldDescriptor, value: bool | int | str | Timestamp, place: str) -> Scalar:  # noqa: FBT001  # a value, no switch
    if isinstance(value, Timestamp):
        return _instant(value, place)
    if field.enum_type is None or isinstance(value, str):
        return value
    spelling = spellings(field.enum_type).get(value) if value else None
    if spelling is None:
        raise InvalidArgument(f"{place}: expected a value of {field.enum_type.name}, found {value}")
    return spelling


def _instant(value: Timestamp, place: str) -> datetime:
    try:
        return value.ToDatetime(UTC)
    except (ValueError, OverflowError) as error:
        raise InvalidArgument(f"{place}: expected a date-time of the years 1 to 9999") from error
