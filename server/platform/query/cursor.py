"""Cursors: the start and end of a page, as opaque text for clients.

A cursor holds the position of a row in the order instead of the row or an offset, so inserts and deletes
elsewhere do not affect it. A fingerprint of filter and sort ties it to its query. A cursor is no secret and
grants no access; its content is validated like any argument.
"""

from base64 import b64decode, b64encode
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from hashlib import blake2b
from typing import assert_never

import msgspec

from server.platform.errors import InvalidArgument
from server.platform.query.clauses import AnyOf, Clause, Related
from server.platform.query.conditions import Condition
from server.platform.query.fields import FieldType, Scalar
from server.platform.query.model import Position, Query, SortKey, position_reader

_FINGERPRINT_BYTES = 8
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_INT64 = range(-(1 << 63), 1 << 63)
_PYTHON_TYPES = {
    FieldType.TEXT: str,
    FieldType.INTEGER: int,
    FieldType.BOOLEAN: bool,
    FieldType.DATE_TIME: int,
}
_encoder = msgspec.msgpack.Encoder()
_decoder = msgspec.msgpack.Decoder(list[bool | int | str | None])


def cursors(query: Query, items: Sequence[object]) -> tuple[str | None, str | None]:
    """Return the start and end cursors of a page, None for an empty page."""
    if not items:
        return None, None
    sealed = query.clauses if query.sealed is None else query.sealed
    seal, position = _fingerprint(sealed, query.sort), position_reader(query.sort)
    return _encode(seal, position(items[0])), _encode(seal, position(items[-1]))


def position_of(cursor: str, clauses: Sequence[Clause], sort: Sequence[SortKey]) -> Position:
    """Decode a cursor of the query with these clauses and this order; raises InvalidArgument."""
    try:
        packed = b64decode(cursor, validate=True)
        values = _decoder.decode(packed[_FINGERPRINT_BYTES:])
    except (ValueError, msgspec.MsgspecError) as error:
        raise InvalidArgument("cursor: expected one that a search answered with") from error
    if packed[:_FINGERPRINT_BYTES] != _fingerprint(clauses, sort):
        raise InvalidArgument("cursor: expected one of a search with the same filter and sort")
    if len(values) != len(sort) or values[-1] is None:
        raise InvalidArgument("cursor: expected one that a search answered with")
    return tuple(_unpacked(value, key) for value, key in zip(values, sort, strict=True))


def _fingerprint(clauses: Sequence[Clause], sort: Sequence[SortKey]) -> bytes:
    filters = [_spelling(clause) for clause in clauses]
    keys = [(key.field.name, key.is_descending) for key in sort]
    return blake2b(repr((filters, keys)).encode(), digest_size=_FINGERPRINT_BYTES).digest()


def _spelling(clause: Clause) -> tuple[object, ...]:
    match clause:
        case Condition():
            return clause.field.name, clause.operator.value, clause.operand
        case Related():
            asked = [_spelling(entry) for entry in clause.clauses]
            return clause.entity.__name__, clause.link, asked, clause.is_wanted
        case AnyOf():
            return ("$or", [[_spelling(entry) for entry in branch] for branch in clause.branches])
        case _:
            assert_never(clause)


def _encode(seal: bytes, position: Position) -> str:
    return b64encode(seal + _encoder.encode([_packed(value) for value in position])).decode("ascii")


def _packed(value: Scalar | None) -> object:
    return (value - _EPOCH) // _MICROSECOND if isinstance(value, datetime) else value


def _unpacked(value: bool | int | str | None, key: SortKey) -> Scalar | None:  # noqa: FBT001  # a value, no switch
    if value is None:
        return None
    is_sound = type(value) is _PYTHON_TYPES[key.field.type] and (isinstance(value, str) or value in _INT64)
    if not is_sound:
        raise InvalidArgument("cursor: expected one that a search answered with")
    return _instant(int(value)) if key.field.type is FieldType.DATE_TIME else value


def _instant(microseconds: int) -> datetime:
    try:
        return _EPOCH + microseconds * _MICROSECOND
    except OverflowError as error:
        raise InvalidArgument("cursor: expected one that a search answered with") from error
