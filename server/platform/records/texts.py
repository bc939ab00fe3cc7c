"""The texts by which a record can be found, and the field types that hold them."""

from typing import Any, get_args, get_origin, get_type_hints

from server.platform.errors import InvalidArgument
from server.platform.records.port import Kind, R, Record

# PostgreSQL's text cannot store this character.
_NUL = "\0"


def texts_of(record: Record, field: str) -> frozenset[str]:
    """Return the texts in a field, or at a path of fields, by which the record can be found."""
    value: Any = record
    for name in field.split("."):
        value = None if value is None else getattr(value, name)
    if isinstance(value, str):
        return frozenset(filter(None, (value,)))
    # Derived fields may also be times and truth values, by which no record is looked up.
    return frozenset(filter(None, value)) if isinstance(value, tuple | frozenset | list) else frozenset()


def holds_many(kind: type[Record], field: str) -> bool:
    """Whether the field is a collection of texts, each of which finds the record."""
    # Properties have no type hint here; a property holds one text.
    hint = get_type_hints(kind).get(field, str)
    return any(get_origin(part) in (tuple, frozenset) for part in (hint, *get_args(hint)))


def expect_unique_texts(kind: Kind[R]) -> None:
    """Raise TypeError for a kind with a unique field of several texts."""
    if any(holds_many(kind.type, field) for field in kind.unique):
        raise TypeError(f"{kind.name}: expected a unique field to hold one text")


def can_be_kept(*texts: str) -> bool:
    """Whether records can have these texts as ids or in lookup fields."""
    return not any(_NUL in text for text in texts)


def expect_that_can_be_kept(record: Record, fields: tuple[str, ...]) -> None:
    """Raise InvalidArgument for a lookup text that cannot be stored."""
    texts = (text for field in fields for text in texts_of(record, field))
    if not can_be_kept(record.tenant_id, record.id, *texts):
        raise InvalidArgument("expected texts without NUL")
