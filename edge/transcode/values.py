"""Scalar values: from JSON to fields of messages, and timestamps back.

Every function raises Malformed with a description of the expected value.
"""

import base64
import binascii
import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from functools import lru_cache

import msgspec
import orjson
from google.protobuf.timestamp_pb2 import Timestamp

from edge.transcode.malformed import Malformed, shown

MAX_INT64 = 2**63 - 1
_KEY = re.compile(r"[1-9][0-9]{0,18}")
_INTEGER = re.compile(r"0|-?[1-9][0-9]{0,19}")
# RFC 3339 §5.6: the offset is mandatory.
_DATE_TIME = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}[Tt][0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]+)?([Zz]|[+-][0-9]{2}:[0-9]{2})"
)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_FIRST_SECOND = -62_135_596_800
_LAST_SECOND = 253_402_300_799
_BOOLEANS = {"true": True, "false": False}


def key(text: str) -> int:
    if not _KEY.fullmatch(text) or (number := int(text)) > MAX_INT64:
        raise Malformed(f"expected a key, a decimal string from 1 to {MAX_INT64}, found {shown(text)}")
    return number


def integer(least: int, most: int) -> Callable[[str], int]:
    """Reader of integers in the text of a path, a query or a form."""

    def read(text: str) -> int:
        if not _INTEGER.fullmatch(text) or not least <= (number := int(text)) <= most:
            raise Malformed(f"expected an integer from {least} to {most}, found {shown(text)}")
        return number

    return read


def at_most(most: int) -> Callable[[int], int]:
    def check(number: int) -> int:
        if number > most:
            raise Malformed(f"expected an integer up to {most}, found {shown(number)}")
        return number

    return check


def boolean(text: str) -> bool:
    try:
        return _BOOLEANS[text]
    except KeyError:
        raise Malformed(f"expected true or false, found {shown(text)}") from None


def enum(names: Mapping[str, int], *, any_case: bool = False) -> Callable[[str], int]:
    """Reader of enum values by name; with `any_case` names may be in lower case, too."""

    def read(text: str) -> int:
        try:
            return names[text.upper() if any_case else text]
        except KeyError:
            raise Malformed(f"expected one of {', '.join(names)}, found {shown(text)}") from None

    return read


def timestamp(text: str) -> Timestamp:
    moment = _moment(text)
    since = moment - _EPOCH
    seconds = since.days * 86_400 + since.seconds
    if not _FIRST_SECOND <= seconds <= _LAST_SECOND:
        raise Malformed(f"expected a date-time in the years 1 to 9999, found {shown(text)}")
    return Timestamp(seconds=seconds, nanos=since.microseconds * 1000)


def _moment(text: str) -> datetime:
    if _DATE_TIME.fullmatch(text):
        try:
            return datetime.fromisoformat(text.upper())
        except ValueError:
            pass
    raise Malformed(f"expected an RFC 3339 date-time with an offset, found {shown(text)}")


def date_time(moment: Timestamp) -> str:
    """Format as RFC 3339 in UTC with milliseconds."""
    minute, second = divmod(moment.seconds, 60)
    return f"{_minute(minute)}{second:02}.{moment.nanos // 1_000_000:03}Z"


@lru_cache(maxsize=4096)
def _minute(since_1970: int) -> str:
    """Format all but the seconds; cached, because timestamps of a page tend to share the minute."""
    return (_EPOCH + timedelta(minutes=since_1970)).isoformat()[: len("2024-01-01T00:00:")]


def json_value(raw: bytes) -> bytes:
    """JSON text that all consumers accept: valid UTF-8, no lone surrogates, bounded depth."""
    try:
        orjson.loads(raw)
    except orjson.JSONDecodeError as error:
        if not _is_beyond_floats(raw):
            raise Malformed(f"expected valid JSON, found {error.msg}") from None
    return raw


def _is_beyond_floats(raw: bytes) -> bool:
    """Whether the text is valid but for a float's range: numbers of FEEL have the range of decimal128."""
    try:
        _exact.decode(raw)
    except (msgspec.DecodeError, ArithmeticError, RecursionError, UnicodeDecodeError):
        return False
    return True


_exact = msgspec.json.Decoder(float_hook=Decimal)


def json_object(raw: bytes) -> bytes:
    if raw[:1] != b"{":
        raise Malformed("expected an object")
    return json_value(raw)


def binary(text: str) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        raise Malformed("expected base64") from None
