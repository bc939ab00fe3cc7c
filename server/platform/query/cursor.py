"""Cursors: where a page starts and ends, as text that clients hand back without looking into it.

A cursor holds the place of a row in the order, not the row or an offset: what is inserted or removed elsewhere does not
move it. A fingerprint of filter and sort keeps it to its own query. It is no secret: it grants nothing, and what it says
is checked like any argument.
"""

from base64 import b64decode, b64encode
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from hashlib import blake2b

import msgspec

from server.platform.errors import InvalidArgument
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
    """Start and end cursor of a page."""
    if not items:
        return None, None
    seal, position = _fingerprint(query.conditions, query.sort), position_reader(query.sort)
    return _encode(seal, position(items[0])), _encode(seal, position(items[-1]))


def position_of(cursor: str, conditions: Sequence[Condition], sort: Sequence[SortKey]) -> Position:
    """Read a cursor of the query with these conditions and this order; raises InvalidArgument."""
    try:
        packed = b64decode(cursor, validate=True)
        values = _decoder.decode(packed[_FINGERPRINT_BYTES:])
    except (ValueError, msgspec.MsgspecError) as error:
        raise InvalidArgument("cursor: expected one that a search answered with") from error
    if packed[:_FINGERPRINT_BYTES] != _fingerprint(conditions, sort):
        raise InvalidArgument("cursor: expected one of a search with the same filter and sort")
    if len(values) != len(sort) or values[-1] is None:
        raise InvalidArgument("cursor: expected one that a search answered with")
    return tuple(_unpacked(value, key) for value, key in zip(values, sort, strict=True))


def _fingerprint(conditions: Sequence[Condition], sort: Sequence[SortKey]) -> bytes:
    filters = [(entry.field.name, entry.operator.value, entry.operand) for entry in conditions]
    keys = [(key.field.name, key.is_descending) for key in sort]
    return blake2b(repr((filters, keys)).encode(), digest_size=_FINGERPRINT_BYTES).digest()


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
