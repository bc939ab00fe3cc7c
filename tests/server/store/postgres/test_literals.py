"""Columns of values mean the same to the database as here."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone
from types import MappingProxyType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from server.platform.postgres.pool import open_pool
from server.store.postgres.literals import json_objects, scalars, storable, text_arrays, texts

any_text = st.text(st.characters(categories=None)) | st.sampled_from(
    ['"', "\\", "NULL", "null", "{}", "\\u0000"]
)
integers = st.integers(-(1 << 63), (1 << 63) - 1)
moments = st.datetimes(
    datetime(1, 1, 2),  # noqa: DTZ001  # the strategy adds the zone
    datetime(9999, 12, 30),  # noqa: DTZ001
    timezones=st.sampled_from([UTC, timezone(timedelta(hours=5))]),
)
items = st.none() | st.booleans() | integers | any_text | st.lists(any_text, max_size=3)


@dataclass(frozen=True)
class Kind:
    """`type` is what an item of the literal is read as, `item_type` what it is in the literal."""

    literal: Callable[[Sequence[Any]], str]
    values: st.SearchStrategy[Any]
    item_type: str
    type: str


KINDS = (
    Kind(scalars, integers, "bigint", "bigint"),
    Kind(scalars, st.booleans(), "boolean", "boolean"),
    Kind(scalars, moments, "timestamptz", "timestamptz"),
    Kind(texts, any_text, "text", "text"),
    Kind(text_arrays, st.lists(any_text, max_size=3), "text", "text[]"),
    Kind(json_objects, st.dictionaries(any_text, items, max_size=4), "text", "jsonb"),
)


@given(st.tuples(*(st.lists(st.none() | kind.values) for kind in KINDS)))
async def test_columns_of_every_kind_are_read_as_they_were_written(
    durable_dsn: str, columns: tuple[list[object], ...]
) -> None:
    async with open_pool(durable_dsn, 1) as pool:
        for kind, column in zip(KINDS, columns, strict=True):
            text = f"SELECT item::{kind.type} FROM unnest($1::text::{kind.item_type}[]) AS item"  # noqa: S608

            found = await pool.fetch(text, kind.literal(column))

            assert [kept(value) for value in column] == [row[0] for row in found]


def kept(value: object) -> object:
    """A value as the database holds it."""
    match value:
        case str():
            return storable(value)
        case dict():
            return {kept(name): kept(item) for name, item in value.items()}
        case list():
            return [kept(item) for item in value]
        case _:
            return value


def test_any_mapping_is_an_object() -> None:
    assert json_objects([MappingProxyType({"a": "b"})]) == '{"{\\"a\\":\\"b\\"}"}'


@pytest.mark.parametrize(
    ("text", "stored"),
    [
        pytest.param("", "", id="nothing"),
        pytest.param("plain", "plain", id="plain"),
        pytest.param("é\U0001f40d", "é\U0001f40d", id="beyond ASCII"),
        pytest.param("a\0b", "a\ufffdb", id="NUL"),
        pytest.param("\ud800\udc00", "\ufffd\ufffd", id="surrogates"),
    ],
)
def test_what_no_text_of_the_database_holds_is_replaced(text: str, stored: str) -> None:
    assert storable(text) == stored
