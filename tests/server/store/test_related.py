"""Process instances are found by what belongs to them, and by alternatives."""

import pytest

from gnomon.engine.v1.element_instance_pb2 import ElementInstanceState as State
from server.engine.keys import Key
from server.platform.errors import InvalidArgument
from server.platform.query.filters import MOST_CONDITIONS, MOST_RELATIONS
from server.store.entities import (
    ElementInstanceState,
    Entity,
    IncidentState,
    JobState,
    ProcessInstanceState,
)
from server.store.ports import Store
from tests.server.store.rows import (
    START,
    batch_operation_item,
    element_instance,
    found,
    incident,
    insert,
    job,
    process_instance,
    variable,
)

ENDED = {"state": ProcessInstanceState.COMPLETED, "end_date": START}
ROWS: list[Entity] = [
    process_instance(1, business_id="a"),
    process_instance(2, business_id="b", **ENDED),
    process_instance(3, business_id="c"),
    process_instance(4, business_id="a", tenant_id="other"),
    variable(11, 1, '"red"', name="color"),
    variable(12, 1, "10", name="amount"),
    variable(13, 2, '"red"', name="color"),
    variable(14, 2, "20", name="amount", scope_key=Key(22)),
    variable(15, 4, '"red"', name="color", tenant_id="other"),
    element_instance(21, 1, element_id="charge", has_incident=True),
    element_instance(22, 1, element_id="check", state=ElementInstanceState.COMPLETED, end_date=START),
    element_instance(23, 2, element_id="charge", state=ElementInstanceState.COMPLETED, end_date=START),
    element_instance(24, 3, element_id="check"),
    job(31, 1, state=JobState.FAILED, retries=2, has_failed_with_retries_left=True),
    job(32, 2, state=JobState.FAILED, retries=0),
    job(33, 3, state=JobState.COMPLETED, retries=3, has_failed_with_retries_left=True),
    job(34, 2, state=JobState.MIGRATED, retries=3),
    job(35, 3, state=JobState.MIGRATED, retries=2, has_failed_with_retries_left=True),
    incident(41, 1, error_message="card declined"),
    incident(42, 2, error_message="card declined", state=IncidentState.RESOLVED),
    incident(43, 3, error_message="no such card"),
    batch_operation_item(61, 50, process_instance_key=Key(1)),
    batch_operation_item(62, 50, process_instance_key=Key(2)),
    batch_operation_item(63, 51, process_instance_key=Key(2)),
    batch_operation_item(64, 50, process_instance_key=Key(4), tenant_id="other"),
]

RED = {"name": "color", "value": {"eq": '"red"'}}
CASES: list[tuple[dict[str, object], list[int]]] = [
    ({"variables": [RED]}, [1, 2]),
    ({"variables": [RED, {"name": "amount", "value": {"eq": "10"}}]}, [1]),
    ({"variables": [{"name": "amount", "value": {"in": ["10", "20"]}}]}, [1, 2]),
    ({"variables": [{"name": "amount", "value": {"neq": "10"}}]}, [2]),
    ({"variables": [{"name": "amount", "value": {"like": "?0"}}]}, [1, 2]),
    ({"variables": [{"name": "amount", "value": {"exists": True}}]}, [1, 2]),
    ({"variables": [{"name": "amount", "value": {"exists": False}}]}, []),
    ({"variables": [{"name": "color", "value": {"eq": "10"}}]}, []),
    ({"variables": []}, [1, 2, 3]),
    ({"element_id": {"eq": "charge"}}, [1, 2]),
    ({"element_instance_state": {"eq": State.ELEMENT_INSTANCE_STATE_ACTIVE}}, [1, 3]),
    ({"has_element_instance_incident": True}, [1]),
    ({"has_element_instance_incident": False}, [1, 2, 3]),
    (
        {
            "element_id": {"eq": "check"},
            "element_instance_state": {"eq": State.ELEMENT_INSTANCE_STATE_ACTIVE},
        },
        [3],
    ),
    ({"element_id": {"eq": "check"}, "has_element_instance_incident": True}, []),
    ({"error_message": {"eq": "card declined"}}, [1]),
    ({"error_message": {"like": "*card*"}}, [1, 3]),
    ({"error_message": {"in": [], "not_in": []}}, [1, 2, 3]),
    ({"has_retries_left": True}, [1, 3]),
    ({"has_retries_left": False}, [2]),
    ({"any_of": []}, [1, 2, 3]),
    ({"any_of": [{"business_id": {"eq": "a"}}]}, [1]),
    ({"any_of": [{"business_id": {"eq": "a"}}, {"business_id": {"eq": "c"}}]}, [1, 3]),
    ({"any_of": [{"business_id": {"eq": "a"}}, {"business_id": {"like": "*"}}]}, [1, 2, 3]),
    ({"any_of": [{"business_id": {"eq": "z"}}, {}]}, [1, 2, 3]),
    ({"any_of": [{"business_id": {"gt": "a", "lt": "c"}}, {"variables": [RED]}]}, [1, 2]),
    (
        {"any_of": [{"business_id": {"eq": "b"}, "has_incident": True}, {"element_id": {"eq": "check"}}]},
        [1, 3],
    ),
    (
        {
            "business_id": {"neq": "c"},
            "any_of": [{"has_retries_left": False}, {"error_message": {"eq": "no such card"}}],
        },
        [2],
    ),
    ({"process_instance_key": {"in": [1, 3]}, "variables": [RED]}, [1]),
    ({"incident_error_hash_code": {}}, [1, 2, 3]),
    ({"batch_operation_key": {"eq": 50}}, [1, 2]),
    ({"batch_operation_id": {"eq": 50}, "business_id": {"eq": "b"}}, [2]),
    ({"batch_operation_key": {"neq": 50}}, [2]),
    ({"batch_operation_key": {"in": [51, 52]}}, [2]),
]


@pytest.mark.parametrize(("wanted", "expected"), CASES, ids=str)
async def test_a_search_looks_at_what_belongs_to_an_instance(
    store: Store, wanted: dict[str, object], expected: list[int]
) -> None:
    await insert(store, *ROWS)

    assert expected == await found(store, filter=wanted)


async def test_what_this_release_has_no_data_for_is_refused_by_name(store: Store) -> None:
    with pytest.raises(
        InvalidArgument, match=r"^filter\.\$or\[1\]\.incidentErrorHashCode: this release cannot"
    ):
        await found(store, filter={"any_of": [{}, {"incident_error_hash_code": {"exists": True}}]})


@pytest.mark.parametrize(
    ("wanted", "reason"),
    [
        (
            {"any_of": [{"variables": [RED] * 7}] * 3},
            f"at most {MOST_RELATIONS} conditions on related resources, found 21",
        ),
        (
            {"any_of": [{"business_id": {"eq": "a"}}] * (MOST_CONDITIONS + 1)},
            f"at most {MOST_CONDITIONS} conditions, found 201",
        ),
    ],
    ids=["related resources", "conditions"],
)
async def test_a_filter_that_would_cost_too_much_is_refused(
    store: Store, wanted: dict[str, object], reason: str
) -> None:
    with pytest.raises(InvalidArgument, match=reason):
        await found(store, filter=wanted)


async def test_the_next_page_of_alternatives_follows_the_first(store: Store) -> None:
    await insert(store, *ROWS)
    wanted = {"any_of": [{"variables": [RED]}, {"business_id": {"eq": "c"}}]}

    keys = [await found(store, filter=wanted, page={"limit": 1, "from": offset}) for offset in range(4)]

    assert keys == [[1], [2], [3], []]
