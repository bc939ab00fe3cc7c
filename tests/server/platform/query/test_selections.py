"""Filters of commands that change all matches: each part needs a condition, so that none widens the command."""

import pytest
from google.protobuf.message import Message

from gnomon.engine.v1.batch_operation_service_pb2 import (
    CancelProcessInstancesBatchOperationRequest as Command,
)
from gnomon.engine.v1.batch_operation_service_pb2 import ResolveIncidentsBatchOperationRequest
from server.platform.errors import InvalidArgument
from server.platform.query import Condition, Operator, parse_selection
from server.store.searchables import PROCESS_INSTANCES


@pytest.mark.parametrize(
    ("command", "place"),
    [
        pytest.param(ResolveIncidentsBatchOperationRequest(), "filter", id="absent filter"),
        pytest.param(Command(filter={}), "filter", id="empty filter"),
        pytest.param(Command(filter={"tags": []}), "filter", id="empty list"),
        pytest.param(
            Command(filter={"process_instance_key": {"in": []}}),
            "filter.processInstanceKey",
            id="empty operator",
        ),
        pytest.param(
            Command(filter={"process_instance_key": {"in": []}, "state": {"eq": 1}}),
            "filter.processInstanceKey",
            id="empty operator beside a condition",
        ),
        pytest.param(
            Command(filter={"any_of": [{"state": {"eq": 1}}, {}]}), "filter.$or[1]", id="empty alternative"
        ),
        pytest.param(
            Command(filter={"any_of": [{"state": {"eq": 1}}, {"business_id": {}}]}),
            "filter.$or[1].businessId",
            id="alternative with an empty operator",
        ),
        pytest.param(Command(filter={"variables": [{}]}), "filter.variables[0]", id="empty variable"),
    ],
)
def test_a_filter_without_a_condition_is_refused(command: Message, place: str) -> None:
    with pytest.raises(InvalidArgument) as refused:
        parse_selection(PROCESS_INSTANCES, command)

    assert str(refused.value).startswith(f"{place}: expected at least one condition")


def test_everything_is_selected_by_a_condition_that_says_so() -> None:
    command = Command(filter={"process_instance_key": {"exists": True}})

    query = parse_selection(PROCESS_INSTANCES, command)

    key = PROCESS_INSTANCES.fields["process_instance_key"]
    assert (Condition(key, Operator.EXISTS, operand=True),) == query.clauses


def test_the_first_second_of_1970_is_a_condition() -> None:
    command = Command(filter={"start_date": {"gte": {"seconds": 0}}})

    query = parse_selection(PROCESS_INSTANCES, command)

    assert [each.operator for each in query.clauses if isinstance(each, Condition)] == [Operator.GTE]
