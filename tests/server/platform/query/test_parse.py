from datetime import UTC, datetime

import pytest
from google.protobuf.timestamp_pb2 import Timestamp

from gnomon.engine.v1.incident_service_pb2 import SearchProcessInstanceIncidentsRequest
from gnomon.engine.v1.process_instance_pb2 import ProcessInstanceState as State
from gnomon.engine.v1.process_instance_service_pb2 import SearchProcessInstancesRequest as Request
from server.platform.errors import InvalidArgument
from server.platform.query import AnyOf, Condition, Operator, Query, Related, SortKey, Window, parse
from server.store.searchables import PROCESS_INSTANCES
from tests.server.platform.query.runs import RUNS

KEY = SortKey(RUNS.key)


def test_an_empty_request_asks_for_the_first_hundred_in_the_order_of_their_key() -> None:
    assert Query((), (KEY,), Window(limit=100)) == parse(RUNS, Request())


def test_filter_sort_and_page_become_data() -> None:
    request = Request(
        filter={
            "state": {"in": [State.PROCESS_INSTANCE_STATE_ACTIVE]},
            "business_id": {"gte": "a", "neq": "b"},
            "start_date": {"lt": Timestamp(seconds=1)},
            "has_incident": False,
            "tags": ["x", "y"],
        },
        sort=[{"field": "startDate", "order": 2}, {"field": "hasIncident"}],
        page={"limit": 500, "from": 3},
    )

    query = parse(RUNS, request)

    fields = RUNS.fields
    expected = {
        Condition(fields["state"], Operator.IN, ("ACTIVE",)),
        Condition(fields["business_id"], Operator.GTE, "a"),
        Condition(fields["business_id"], Operator.NEQ, "b"),
        Condition(fields["start_date"], Operator.LT, datetime(1970, 1, 1, 0, 0, 1, tzinfo=UTC)),
        Condition(fields["has_incident"], Operator.EQ, operand=False),
        Condition(fields["tags"], Operator.CONTAINS_EVERY, ("x", "y")),
    }
    assert expected == set(query.clauses)
    assert (
        SortKey(fields["start_date"], is_descending=True),
        SortKey(fields["has_incident"]),
        KEY,
    ) == query.sort
    assert Window(limit=500, offset=3) == query.window


def test_nothing_is_sorted_by_after_the_key() -> None:
    request = Request(sort=[{"field": "processInstanceKey", "order": 2}, {"field": "state"}])

    assert (SortKey(RUNS.key, is_descending=True),) == parse(RUNS, request).sort


def test_further_conditions_come_first() -> None:
    condition = Condition(RUNS.key, Operator.EQ, 7)

    query = parse(RUNS, Request(filter={"has_incident": True}), also=(condition,))

    assert condition == query.clauses[0]
    assert len(query.clauses) == 2


def test_alternatives_are_branches_of_conditions() -> None:
    business = {"business_id": {"eq": "a", "in": []}, "state": {"in": []}}

    query = parse(RUNS, Request(filter={"any_of": [business, {"has_incident": True}]}))

    fields = RUNS.fields
    branches = (
        (Condition(fields["business_id"], Operator.EQ, "a"),),
        (Condition(fields["has_incident"], Operator.EQ, operand=True),),
    )
    assert (AnyOf(branches),) == query.clauses


def test_fields_on_one_related_row_become_one_clause() -> None:
    wanted = {
        "element_id": {"eq": "charge"},
        "has_element_instance_incident": True,
        "error_message": {"in": []},
    }

    (clause,) = parse(PROCESS_INSTANCES, Request(filter=wanted)).clauses

    assert isinstance(clause, Related)
    names = [wanted.field.name for wanted in clause.clauses if isinstance(wanted, Condition)]
    assert names == ["element_id", "has_incident"]


@pytest.mark.parametrize(
    ("request_fields", "reason"),
    [
        ({"filter": {"state": {"eq": 0}}}, r"filter\.state\.\$eq"),
        ({"filter": {"state": {"not_in": [1, 0]}}}, r"filter\.state\.\$notIn"),
        ({"filter": {"state": {"neq": 77}}}, r"filter\.state\.\$neq"),
        ({"filter": {"state": {"like": "*" * 1025}}}, r"filter\.state\.\$like"),
        ({"filter": {"end_date": {"exists": True}}}, r"filter\.endDate"),
        ({"filter": {"start_date": {"gt": Timestamp(seconds=1 << 40)}}}, "years 1 to 9999"),
        ({"filter": {"start_date": {"gt": Timestamp(seconds=-(1 << 62))}}}, "years 1 to 9999"),
        ({"filter": {"variables": [{"name": "a"}]}}, r"filter\.variables"),
        ({"sort": [{"field": "colour"}]}, "'colour'"),
        ({"sort": [{"field": "start_date"}]}, "'start_date'"),
        ({"sort": [{"field": "StartDate"}]}, "'StartDate'"),
        ({"sort": [{"field": "tags"}]}, "'tags'"),
        ({"sort": [{}]}, "''"),
        ({"sort": [{"field": "state", "order": 3}]}, r"sort\.order"),
        ({"page": {"limit": 0}}, r"page\.limit"),
        ({"page": {"limit": -99}}, r"page\.limit"),
        ({"page": {"limit": 501}}, r"page\.limit"),
        ({"page": {"from": -1}}, r"page\.from"),
        ({"page": {"from": 0, "after": "AAAA"}}, "at most one"),
        ({"page": {"before": "AAAA", "after": "AAAA"}}, "at most one"),
    ],
    ids=str,
)
def test_a_request_that_makes_no_sense_is_refused(request_fields: dict[str, object], reason: str) -> None:
    with pytest.raises(InvalidArgument, match=reason):
        parse(RUNS, Request(**request_fields))


def test_a_request_that_only_goes_forward_is_read_the_same_way() -> None:
    request = SearchProcessInstanceIncidentsRequest(process_instance_key=1, page={"limit": 7})

    assert Window(limit=7) == parse(RUNS, request).window
