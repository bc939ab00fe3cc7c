from datetime import UTC, datetime

import pytest
from google.protobuf.timestamp_pb2 import Timestamp

from gnomon.engine.v1.process_instance_pb2 import ProcessInstanceState as State
from server.engine.keys import Key
from server.store.entities import ProcessInstanceState
from server.store.ports import Store
from tests.server.store.rows import found, insert, process_instance


def at(*, month: int, millisecond: int = 0, microsecond: int = 0) -> datetime:
    return datetime(2026, month, 1, microsecond=millisecond * 1000 + microsecond, tzinfo=UTC)


def stamp(moment: datetime) -> Timestamp:
    return Timestamp(seconds=int(moment.timestamp()), nanos=moment.microsecond * 1000)


ROWS = [
    process_instance(
        1,
        business_id="a",
        process_definition_version=1,
        parent_process_instance_key=Key(10),
        end_date=at(month=1, millisecond=500),
        state=ProcessInstanceState.COMPLETED,
        has_incident=True,
        tags=("red", "round"),
    ),
    process_instance(
        2,
        business_id="b*c",
        process_definition_version=2,
        parent_process_instance_key=Key(20),
        end_date=at(month=2, millisecond=7, microsecond=999),
        state=ProcessInstanceState.TERMINATED,
        tags=("red",),
    ),
    process_instance(3, business_id=None, process_definition_version=3),
    process_instance(
        4,
        business_id="A\\b",
        process_definition_version=-10,
        parent_process_instance_key=Key(100),
        end_date=at(month=12),
        state=ProcessInstanceState.COMPLETED,
        tags=("round", "flat"),
    ),
]

CASES = {
    "business_id": [
        ({"eq": "a"}, [1]),
        ({"eq": "A"}, []),
        ({"eq": ""}, []),
        ({"neq": "a"}, [2, 3, 4]),
        ({"exists": True}, [1, 2, 4]),
        ({"exists": False}, [3]),
        ({"in": ["a", "b*c", "z"]}, [1, 2]),
        ({"not_in": ["a", "b*c"]}, [3, 4]),
        ({"in": [], "not_in": []}, [1, 2, 3, 4]),
        ({"in": [], "neq": "a"}, [2, 3, 4]),
        ({"like": "?"}, [1]),
        ({"like": "*"}, [1, 2, 4]),
        ({"like": "b\\*c"}, [2]),
        ({"like": "b*"}, [2]),
        ({"like": "A\\\\b"}, [4]),
        ({"gt": "a"}, [2]),
        ({"gte": "a"}, [1, 2]),
        ({"lt": "a"}, [4]),
        ({"lte": "a"}, [1, 4]),
        ({"gt": "A", "lt": "b"}, [1, 4]),
        ({}, [1, 2, 3, 4]),
    ],
    "parent_process_instance_key": [
        ({"eq": 10}, [1]),
        ({"neq": 10}, [2, 3, 4]),
        ({"exists": True}, [1, 2, 4]),
        ({"exists": False}, [3]),
        ({"in": [10, 100, 10, 11]}, [1, 4]),
        ({"not_in": [10, 100]}, [2, 3]),
        ({"like": "1*"}, [1, 4]),
        ({"like": "?0"}, [1, 2]),
        ({"gt": 10}, [2, 4]),
        ({"gte": 10}, [1, 2, 4]),
        ({"lt": 20}, [1]),
        ({"lte": 20}, [1, 2]),
        ({"neq": 10, "exists": True}, [2, 4]),
    ],
    "process_instance_key": [
        ({"eq": 2}, [2]),
        ({"eq": 9}, []),
        ({"in": [4, 1, 1, 9]}, [1, 4]),
        ({"neq": 2}, [1, 3, 4]),
        ({"exists": False}, []),
    ],
    "process_definition_version": [
        ({"eq": -10}, [4]),
        ({"eq": 0}, []),
        ({"neq": 1}, [2, 3, 4]),
        ({"exists": True}, [1, 2, 3, 4]),
        ({"in": [1, 2]}, [1, 2]),
        ({"not_in": [1, 2]}, [3, 4]),
        ({"like": "-1?"}, [4]),
        ({"gt": -10, "lt": 3}, [1, 2]),
        ({"gte": 2}, [2, 3]),
        ({"lte": 1}, [1, 4]),
    ],
    "end_date": [
        ({"eq": stamp(at(month=1, millisecond=500))}, [1]),
        ({"neq": stamp(at(month=1, millisecond=500))}, [2, 3, 4]),
        ({"exists": False}, [3]),
        ({"in": [stamp(at(month=12)), stamp(at(month=11))]}, [4]),
        ({"not_in": [stamp(at(month=12))]}, [1, 2, 3]),
        ({"like": "2026-01-01T00:00:00.500Z"}, [1]),
        ({"like": "2026-??-01T00:00:00.00?Z"}, [2, 4]),
        ({"gt": stamp(at(month=1, millisecond=500))}, [2, 4]),
        ({"gte": stamp(at(month=1, millisecond=500))}, [1, 2, 4]),
        ({"lt": stamp(at(month=12))}, [1, 2]),
        ({"lte": stamp(at(month=12))}, [1, 2, 4]),
    ],
    "state": [
        ({"eq": State.PROCESS_INSTANCE_STATE_ACTIVE}, [3]),
        ({"neq": State.PROCESS_INSTANCE_STATE_ACTIVE}, [1, 2, 4]),
        ({"exists": False}, []),
        (
            {"in": [State.PROCESS_INSTANCE_STATE_ACTIVE, State.PROCESS_INSTANCE_STATE_TERMINATED]},
            [2, 3],
        ),
        ({"not_in": [State.PROCESS_INSTANCE_STATE_COMPLETED]}, [2, 3]),
        ({"like": "*TED"}, [1, 2, 4]),
        ({"like": "COMPLETED"}, [1, 4]),
        ({"gt": State.PROCESS_INSTANCE_STATE_COMPLETED}, [2]),
        ({"gte": State.PROCESS_INSTANCE_STATE_COMPLETED}, [1, 2, 4]),
        ({"lt": State.PROCESS_INSTANCE_STATE_COMPLETED}, [3]),
        ({"lte": State.PROCESS_INSTANCE_STATE_COMPLETED}, [1, 3, 4]),
    ],
}


@pytest.mark.parametrize(
    ("field", "operators", "expected"),
    [(field, operators, expected) for field, cases in CASES.items() for operators, expected in cases],
    ids=str,
)
async def test_a_search_keeps_the_rows_for_which_the_operators_hold(
    store: Store, field: str, operators: dict[str, object], expected: list[int]
) -> None:
    await insert(store, *ROWS)

    keys = await found(store, filter={field: operators})

    assert expected == keys


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        ({"has_incident": True}, [1]),
        ({"has_incident": False}, [2, 3, 4]),
        ({"tags": ["red"]}, [1, 2]),
        ({"tags": ["round", "red"]}, [1]),
        ({"tags": ["blue"]}, []),
        ({"tags": []}, [1, 2, 3, 4]),
        ({"business_id": {"exists": True}, "process_definition_version": {"gt": 1}}, [2]),
        ({"tenant_id": {"eq": "other"}}, []),
    ],
    ids=str,
)
async def test_fields_all_have_to_hold(store: Store, wanted: dict[str, object], expected: list[int]) -> None:
    await insert(store, *ROWS)

    assert expected == await found(store, filter=wanted)
