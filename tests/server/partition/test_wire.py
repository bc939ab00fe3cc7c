"""Commands, answers and origins survive packing and unpacking."""

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from enum import Enum
from types import UnionType
from typing import Any, get_args, get_origin, get_type_hints

import pytest
from hypothesis import given
from hypothesis import strategies as st

from server.engine import process_instance_commands
from server.engine.answers import DONE, Answer
from server.engine.commands import Command
from server.engine.formats import WIRE_FORMAT, UnreadableFormat
from server.engine.keys import Key
from server.engine.pages import DocumentId, Kind
from server.partition.idempotency import IdempotencyKey
from server.partition.origin import Origin
from server.partition.wire import ANSWERS, AUDIT_ENTRIES, COMMANDS, ORIGINS
from server.store.entities import AuditEntry, AuditResult

numbers = st.integers(0, 2**63 - 1)
keys = numbers.map(Key)
instants = st.datetimes(datetime(1970, 1, 1), datetime(9999, 1, 1), timezones=st.just(UTC))  # noqa: DTZ001  # hypothesis adds it
spans = st.integers(0, 10**12).map(lambda milliseconds: timedelta(milliseconds=milliseconds))
variables = st.dictionaries(st.text(), st.text(), max_size=3)

# Values that the types alone do not determine.
BY_HINT: Mapping[object, st.SearchStrategy[Any]] = {
    Key: keys,
    Key | None: st.none() | keys,
    int: numbers,
    int | None: st.none() | numbers,
    datetime: instants,
    timedelta: spans,
    timedelta | None: st.none() | spans,
    Mapping[str, str]: variables,
    dict[str, str]: variables,
    tuple[Key, ...]: st.lists(keys, max_size=3).map(tuple),
    tuple[DocumentId, ...]: st.lists(st.builds(DocumentId, st.sampled_from(Kind), keys), max_size=3).map(
        tuple
    ),
    tuple[tuple[Key, datetime], ...]: st.lists(st.tuples(keys, instants), max_size=3).map(tuple),
}


def values(kind: type) -> st.SearchStrategy[Any]:
    """Any value of a class, its fields by their hints."""
    return st.builds(kind, **{name: field(hint) for name, hint in get_type_hints(kind).items()})


def field(hint: Any) -> st.SearchStrategy[Any]:
    if hint in BY_HINT:
        return BY_HINT[hint]
    if isinstance(hint, type) and issubclass(hint, Enum):
        return st.sampled_from(hint)
    if hint in NESTED:
        return values(hint)
    items = get_args(hint)
    if items and items[0] in NESTED and get_origin(hint) is UnionType:
        return st.one_of(list(map(field, items)))
    if items and items[0] in NESTED:
        return st.lists(values(items[0]), max_size=2).map(tuple)
    return st.from_type(hint)


def nested(kind: type) -> Iterator[type]:
    """Classes of ours in the fields of a class, and in theirs."""
    for hint in get_type_hints(kind).values():
        for found in (hint, *get_args(hint)):
            if getattr(found, "__module__", "").startswith("server.engine") and isinstance(found, type):
                yield found
                yield from nested(found)


NESTED = {found for union in (Command, Answer) for member in get_args(union) for found in nested(member)}


@pytest.mark.parametrize("kind", get_args(Command))
@given(data=st.data())
def test_a_command_comes_out_as_it_went_in(kind: type, data: st.DataObject) -> None:
    command = data.draw(values(kind))

    assert COMMANDS.unpack(COMMANDS.pack(command)) == command


@pytest.mark.parametrize("kind", get_args(Answer))
@given(data=st.data())
def test_an_answer_comes_out_as_it_went_in(kind: type, data: st.DataObject) -> None:
    answer = data.draw(values(kind))

    assert ANSWERS.unpack(ANSWERS.pack(answer)) == answer


idempotency = st.builds(IdempotencyKey, st.text(), st.text(), st.binary())


@given(
    st.builds(
        Origin,
        st.text(),
        st.text(),
        st.text(),
        idempotency=st.none() | idempotency,
        operation_reference=st.none() | numbers,
    )
)
def test_an_origin_comes_out_as_it_went_in(origin: Origin) -> None:
    assert ORIGINS.unpack(ORIGINS.pack(origin)) == origin


def test_audit_entries_come_out_as_they_went_in() -> None:
    entry = AuditEntry(
        tenant_id="default",
        timestamp=datetime(2026, 1, 1, tzinfo=UTC),
        operation_type="FAIL",
        result=AuditResult.FAIL,
        actor_type="CLIENT",
        actor_id="worker",
        entity_type="JOB",
        entity_key=Key(7),
        reason="NOT_FOUND",
    )

    assert AUDIT_ENTRIES.unpack(AUDIT_ENTRIES.pack((entry, entry))) == (entry, entry)


@pytest.mark.parametrize(
    ("content", "number"),
    [
        pytest.param(ANSWERS.pack(DONE), WIRE_FORMAT, id="a name that is unknown"),
        pytest.param(b"\x92\xabCompleteJob\x80", WIRE_FORMAT, id="fields are missing"),
        pytest.param(
            COMMANDS.pack(process_instance_commands.ResolveIncident("acme", Key(1))),
            WIRE_FORMAT + 1,
            id="newer",
        ),
    ],
)
def test_what_this_version_cannot_read_is_reported_as_unreadable(content: bytes, number: int) -> None:
    with pytest.raises(UnreadableFormat):
        COMMANDS.unpack(content, number)
