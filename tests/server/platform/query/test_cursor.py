import re
from base64 import b64decode, b64encode
from datetime import UTC, datetime

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnomon.engine.v1.process_instance_service_pb2 import SearchProcessInstancesRequest as Request
from server.platform.errors import InvalidArgument
from server.platform.query import evaluate, parse
from tests.server.platform.query.runs import RUNS, Run

SORT = [{"field": "startDate"}, {"field": "businessId"}, {"field": "hasIncident"}]
NOON = datetime(2026, 1, 1, 12, microsecond=3, tzinfo=UTC)


def cursor_of(run: Run, **request: object) -> str:
    cursor = evaluate([run], parse(RUNS, Request(**request))).end_cursor
    assert cursor is not None
    return cursor


GENUINE = cursor_of(Run(7, "ACTIVE", "b", NOON), sort=SORT)


def forged(*values: object) -> str:
    return b64encode(b64decode(GENUINE)[:8] + msgspec.msgpack.encode(values)).decode()


@pytest.mark.parametrize(
    ("run", "expected"),
    [
        (Run(7, "ACTIVE", "b", NOON), (NOON, "b", False, 7)),
        (Run((1 << 63) - 1, has_incident=True), (None, None, True, (1 << 63) - 1)),
    ],
    ids=["values", "missing values"],
)
def test_a_cursor_is_read_as_the_place_of_its_row(run: Run, expected: tuple[object, ...]) -> None:
    cursor = cursor_of(run, sort=SORT)

    query = parse(RUNS, Request(sort=SORT, page={"after": cursor}))

    assert expected == query.window.after
    assert re.fullmatch("[A-Za-z0-9+/]+={0,2}", cursor)


def test_a_cursor_does_not_depend_on_the_page_it_came_with() -> None:
    assert cursor_of(Run(7), page={"limit": 1}) == cursor_of(Run(7), page={"limit": 2})


@pytest.mark.parametrize(
    "cursor",
    [
        pytest.param("not base64", id="no base64"),
        pytest.param("é", id="no ASCII"),
        pytest.param(GENUINE[:-4], id="cut"),
        pytest.param(GENUINE + "AAAA", id="longer"),
        pytest.param(GENUINE.rstrip("=") if GENUINE.endswith("=") else GENUINE + "=", id="padded otherwise"),
        pytest.param(b64encode(b'["a",1]').decode(), id="base64 of something else"),
        pytest.param("AAAA", id="too short"),
        pytest.param(b64encode(b"12345678" + b"\x91" * 3000).decode(), id="deeply nested"),
        pytest.param(b64encode(b"12345678" + b"\xdd\xff\xff\xff\xff").decode(), id="claims to be huge"),
        pytest.param(forged(0, "b", False), id="too few values"),
        pytest.param(forged(0, "b", False, 7, 7), id="too many values"),
        pytest.param(forged(0, "b", False, None), id="no key"),
        pytest.param(forged(0, "b", False, "7"), id="a text for the key"),
        pytest.param(forged(0, "b", False, True), id="a bool for the key"),
        pytest.param(forged(0, 1, False, 7), id="an integer for a text"),
        pytest.param(forged(0, "b", 0, 7), id="an integer for a bool"),
        pytest.param(forged("0", "b", False, 7), id="a text for a date-time"),
        pytest.param(forged((1 << 63) - 1, "b", False, 7), id="a date-time beyond all years"),
        pytest.param(forged(0, "b", False, 1 << 63), id="a key of more than 64 bits"),
        pytest.param(forged(0, [[]], False, 7), id="a list for a text"),
        pytest.param(forged(0, 1.5, False, 7), id="a fraction"),
    ],
)
def test_a_cursor_that_no_search_answered_with_is_refused(cursor: str) -> None:
    with pytest.raises(InvalidArgument, match="cursor"):
        parse(RUNS, Request(sort=SORT, page={"after": cursor}))


@pytest.mark.parametrize(
    "request_fields",
    [
        {},
        {"sort": SORT[:2]},
        {"sort": [{"field": "startDate", "order": 2}, *SORT[1:]]},
        {"sort": SORT, "filter": {"has_incident": False}},
        {"sort": SORT, "filter": {"business_id": {"eq": "b"}}},
        {"sort": SORT, "filter": {"any_of": [{"business_id": {"eq": "b"}}]}},
    ],
    ids=str,
)
def test_a_cursor_of_another_query_is_refused(request_fields: dict[str, object]) -> None:
    with pytest.raises(InvalidArgument, match="same filter and sort"):
        parse(RUNS, Request(**request_fields, page={"before": GENUINE}))


@given(st.binary(max_size=80).map(lambda raw: b64encode(raw).decode()) | st.text(min_size=1, max_size=80))
def test_whatever_is_no_cursor_is_refused(text: str) -> None:
    with pytest.raises(InvalidArgument):
        parse(RUNS, Request(page={"after": text}))


@given(st.binary(max_size=40))
def test_whatever_follows_a_genuine_seal_is_read_or_refused(raw: bytes) -> None:
    cursor = b64encode(b64decode(GENUINE)[:8] + raw).decode()

    try:
        query = parse(RUNS, Request(sort=SORT, page={"after": cursor}))
    except InvalidArgument:
        return
    assert evaluate([Run(7)], query).total == 1
