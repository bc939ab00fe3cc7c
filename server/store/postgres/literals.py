"""Columns of values as PostgreSQL array literals: one text for each column.

One text costs the driver and the server a fraction of an array of values. A JSON array of numbers, booleans,
instants and plain texts is a valid literal after replacing its brackets; other texts are quoted here.
Characters that PostgreSQL refuses, NUL and lone surrogates, become U+FFFD.
"""

import re
from collections.abc import Mapping, Sequence

import orjson

NO_ITEMS = "{}"

_UNSTORABLE = re.compile("[\0\ud800-\udfff]")


def storable(text: str) -> str:
    """The text as PostgreSQL can store it."""
    if text.isascii() and "\0" not in text:
        return text
    return _UNSTORABLE.sub("\ufffd", text)


def storable_texts(texts: Sequence[str]) -> Sequence[str]:
    return [storable(text) for text in texts]


def scalars(values: Sequence[object]) -> str:
    """An array literal of integers, booleans or instants; None is NULL."""
    return "{" + orjson.dumps(values)[1:-1].decode() + "}"


def texts(values: Sequence[str | None]) -> str:
    """An array literal of texts; None is NULL."""
    try:
        items = orjson.dumps(values)[1:-1]
    except orjson.JSONEncodeError:  # a lone surrogate
        items = b"\\u0000"
    if b"\\" not in items:
        return "{" + items.decode() + "}"
    if b"\\u0000" in items:
        values = [None if value is None else storable(value) for value in values]
    return "{" + ",".join(["NULL" if value is None else _quoted(value) for value in values]) + "}"


def json_object(value: Mapping[str, object]) -> str:
    """The object as JSON text; jsonb accepts no NUL, escaped or not."""
    try:
        text = orjson.dumps(value, default=dict).decode()
    except orjson.JSONEncodeError:  # a lone surrogate
        text = "\\u0000"
    return text if "\\u0000" not in text else orjson.dumps(_storable(value), default=dict).decode()


def json_objects(values: Sequence[Mapping[str, object] | None]) -> str:
    """An array literal of JSON texts."""
    return texts([None if value is None else json_object(value) for value in values])


def text_arrays(values: Sequence[Sequence[str] | None]) -> str:
    """An array literal of array literals, because arrays of different lengths cannot form a two-dimensional array."""
    return texts([None if value is None else texts(value) if value else NO_ITEMS for value in values])


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _storable(value: object) -> object:
    match value:
        case str():
            return storable(value)
        case Mapping():
            return {_storable(name): _storable(item) for name, item in value.items()}
        case Sequence():
            return [_storable(item) for item in value]
        case _:
            return value
