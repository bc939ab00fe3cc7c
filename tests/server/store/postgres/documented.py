"""The searches that the contract documents, each with filters and orders as clients send them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta

from google.protobuf.message import Message
from google.protobuf.timestamp_pb2 import Timestamp

from gnomon.engine.v1 import (
    batch_operation_service_pb2,
    decision_instance_service_pb2,
    element_instance_service_pb2,
    incident_service_pb2,
    job_service_pb2,
    message_subscription_service_pb2,
    process_definition_service_pb2,
    process_instance_service_pb2,
    user_task_service_pb2,
    variable_service_pb2,
)
from server.platform.query import Condition, Operator, Query, Searchable, SortKey, Window, equals, parse
from server.store.entities import Entity
from server.store.searchables import (
    AUDIT_ENTRIES,
    BATCH_OPERATION_ITEMS,
    CORRELATED_MESSAGE_SUBSCRIPTIONS,
    DECISION_INSTANCES,
    ELEMENT_INSTANCES,
    INCIDENTS,
    JOBS,
    MESSAGE_SUBSCRIPTIONS,
    PROCESS_DEFINITIONS,
    PROCESS_INSTANCES,
    USER_TASKS,
    VARIABLES,
)
from tests.server.store.postgres.population import END, definition_key, key

NUMBER = 9000
"""Of the row that the searches for few rows look for; it is one of the larger tenant's."""

_REQUESTS: Mapping[type[Entity], type[Message]] = {
    PROCESS_DEFINITIONS.entity: process_definition_service_pb2.SearchProcessDefinitionsRequest,
    PROCESS_INSTANCES.entity: process_instance_service_pb2.SearchProcessInstancesRequest,
    ELEMENT_INSTANCES.entity: element_instance_service_pb2.SearchElementInstancesRequest,
    JOBS.entity: job_service_pb2.SearchJobsRequest,
    VARIABLES.entity: variable_service_pb2.SearchVariablesRequest,
    INCIDENTS.entity: incident_service_pb2.SearchIncidentsRequest,
    USER_TASKS.entity: user_task_service_pb2.SearchUserTasksRequest,
    MESSAGE_SUBSCRIPTIONS.entity: message_subscription_service_pb2.SearchMessageSubscriptionsRequest,
    CORRELATED_MESSAGE_SUBSCRIPTIONS.entity: (
        message_subscription_service_pb2.SearchCorrelatedMessageSubscriptionsRequest
    ),
    DECISION_INSTANCES.entity: decision_instance_service_pb2.SearchDecisionInstancesRequest,
    BATCH_OPERATION_ITEMS.entity: batch_operation_service_pb2.SearchBatchOperationItemsRequest,
}


@dataclass(frozen=True, slots=True)
class Search:
    """The first page of a search; of a broad one a large part of the tenant's rows has to be looked at."""

    name: str
    searchable: Searchable[Entity]
    query: Query
    is_broad: bool = False


def _search(name: str, searchable: Searchable[Entity], sort: str = "", /, **wanted: object) -> Search:
    """`sort` names fields as the wire does, with a minus for a descending order."""
    keys = [{"field": entry.removeprefix("-"), "order": 1 + entry.startswith("-")} for entry in sort.split()]
    request = _REQUESTS[searchable.entity](filter=wanted, sort=keys)
    return Search(name, searchable, parse(searchable, request))


def _broad(name: str, searchable: Searchable[Entity], sort: str = "", /, **wanted: object) -> Search:
    found = _search(name, searchable, sort, **wanted)
    return Search(name, searchable, found.query, is_broad=True)


def _audit(name: str, *conditions: Condition, is_broad: bool = False) -> Search:
    """Audit entries, latest first."""
    sort = [
        SortKey(field, is_descending=True) for field in (AUDIT_ENTRIES.fields["timestamp"], AUDIT_ENTRIES.key)
    ]
    query = AUDIT_ENTRIES.query(*conditions, sort=sort, window=Window())
    return Search(name, AUDIT_ENTRIES, query, is_broad)


def _hour_before_end(weeks: int = 4) -> dict[str, Timestamp]:
    begin, end = Timestamp(), Timestamp()
    begin.FromDatetime(END - timedelta(weeks=weeks))
    end.FromDatetime(END - timedelta(weeks=weeks) + timedelta(hours=1))
    return {"gte": begin, "lt": end}


_RARE, _MAIN = {"eq": definition_key(7)}, {"eq": definition_key(0)}
_INSTANCE = {"eq": key(NUMBER // 3)}
_HOUR = _hour_before_end()
_ORDER = {"name": "orderId", "value": {"eq": f'"value-{NUMBER}"'}}

SEARCHES: Sequence[Search] = (
    _search("latest definitions", PROCESS_DEFINITIONS, "name", is_latest_version=True),
    _search(
        "versions of a process",
        PROCESS_DEFINITIONS,
        "-version",
        process_definition_id={"eq": "order-process-7"},
    ),
    _search("definitions by a part of their name", PROCESS_DEFINITIONS, "name", name={"like": "*number 17*"}),
    _broad("all", PROCESS_INSTANCES),
    _broad("all, latest first", PROCESS_INSTANCES, "-startDate"),
    _broad("all, by business id", PROCESS_INSTANCES, "businessId"),
    _search("of a definition", PROCESS_INSTANCES, "-startDate", process_definition_key=_RARE),
    _search("of a process", PROCESS_INSTANCES, "-startDate", process_definition_id={"eq": "order-process-7"}),
    _broad(
        "completed, of the main definition",
        PROCESS_INSTANCES,
        "-endDate",
        process_definition_key=_MAIN,
        state={"eq": 2},
    ),
    _search(
        "active, of the main definition",
        PROCESS_INSTANCES,
        "-startDate",
        process_definition_key=_MAIN,
        state={"eq": 1},
    ),
    _broad("terminated", PROCESS_INSTANCES, "-endDate", state={"eq": 3}),
    _search("with an incident", PROCESS_INSTANCES, "-startDate", has_incident=True),
    _search("with a business id", PROCESS_INSTANCES, business_id={"eq": f"order-2026-{NUMBER}"}),
    _search(
        "with business ids",
        PROCESS_INSTANCES,
        business_id={"in": [f"order-2026-{n}" for n in range(NUMBER, NUMBER + 50)]},
    ),
    _search(
        "business id begins with", PROCESS_INSTANCES, "businessId", business_id={"like": "order-2026-77*"}
    ),
    _search("business id contains", PROCESS_INSTANCES, business_id={"like": "*6-777*"}),
    _search("started within an hour", PROCESS_INSTANCES, "-startDate", start_date=_HOUR),
    _search("ended within an hour", PROCESS_INSTANCES, "-endDate", end_date=_HOUR),
    _search("called by an instance", PROCESS_INSTANCES, parent_process_instance_key={"eq": key(NUMBER + 4)}),
    _search(
        "with one of 50 keys",
        PROCESS_INSTANCES,
        process_instance_key={"in": [key(NUMBER + n) for n in range(50)]},
    ),
    _search("with a variable of a value", PROCESS_INSTANCES, "-startDate", variables=[_ORDER]),
    _search(
        "with a business id or a variable of a value",
        PROCESS_INSTANCES,
        any_of=[{"business_id": {"eq": f"order-2026-{NUMBER}"}}, {"variables": [_ORDER]}],
    ),
    _search(
        "of a definition, with a variable",
        PROCESS_INSTANCES,
        process_definition_key=_RARE,
        variables=[{"name": "orderId", "value": {"exists": True}}],
    ),
    _search(
        "active in an element",
        PROCESS_INSTANCES,
        element_id={"eq": "task-7"},
        element_instance_state={"eq": 1},
    ),
    _search("error message contains", PROCESS_INSTANCES, error_message={"like": "*host-295*"}),
    _search("with a failed job that has retries left", PROCESS_INSTANCES, has_retries_left=True),
    _broad("with two tags", PROCESS_INSTANCES, "-startDate", tags=["test", "batch-3"]),
    _broad("all, latest first", ELEMENT_INSTANCES, "-startDate"),
    _search("of an instance", ELEMENT_INSTANCES, "startDate", process_instance_key=_INSTANCE),
    _search(
        "of an element of a definition",
        ELEMENT_INSTANCES,
        process_definition_key=_RARE,
        element_id={"eq": "task-7"},
    ),
    _broad("of an element", ELEMENT_INSTANCES, "-startDate", element_id={"eq": "task-7"}),
    _broad(
        "user tasks of a process",
        ELEMENT_INSTANCES,
        process_definition_id={"eq": "order-process-7"},
        type={"eq": 20},
    ),
    _search("with an incident", ELEMENT_INSTANCES, has_incident=True),
    _search("started within an hour", ELEMENT_INSTANCES, "startDate", start_date=_HOUR),
    _broad("all", JOBS),
    _search("of an instance", JOBS, process_instance_key=_INSTANCE),
    _search("of a type, offered", JOBS, type={"eq": "work-7"}, state={"eq": 3}),
    _broad("of a type, completed", JOBS, "-endTime", type={"eq": "work-7"}, state={"eq": 2}),
    _search("failed", JOBS, state={"eq": 5}),
    _search("of a worker", JOBS, worker={"eq": "worker-7"}),
    _search("created within an hour", JOBS, "-jobKey", creation_time=_HOUR),
    _broad("error message contains", JOBS, error_message={"like": "*host-777*"}),
    _broad("all", VARIABLES),
    _search("of an instance", VARIABLES, "name", process_instance_key=_INSTANCE),
    _search("of a scope", VARIABLES, "name", scope_key=_INSTANCE),
    _search("of a name and a value", VARIABLES, name={"eq": "orderId"}, value={"eq": f'"value-{NUMBER}"'}),
    _broad("of a name", VARIABLES, name={"eq": "orderId"}),
    _broad("of a name, value contains", VARIABLES, name={"eq": "orderId"}, value={"like": "*-777*"}),
    _search("long values", VARIABLES, is_truncated=True),
    _broad("all, latest first", INCIDENTS, "-creationTime"),
    _search("of an instance", INCIDENTS, process_instance_key={"eq": key(NUMBER // 20)}),
    _search(
        "active, of a definition", INCIDENTS, "-creationTime", process_definition_key=_RARE, state={"eq": 1}
    ),
    _search("of a definition and a type", INCIDENTS, process_definition_key=_RARE, error_type={"eq": 8}),
    _search("error message contains", INCIDENTS, error_message={"like": "*host-777*"}),
    _broad("but those of tests", INCIDENTS, excluded_tags=["test"]),
    _audit("all, latest first", is_broad=True),
    _audit("of an entity", equals(AUDIT_ENTRIES, "entity_key", key(NUMBER // 2))),
    _audit("of an instance", equals(AUDIT_ENTRIES, "process_instance_key", key(NUMBER // 4))),
    _audit("refused", equals(AUDIT_ENTRIES, "result", "FAIL")),
    _audit("of an actor", equals(AUDIT_ENTRIES, "actor_id", "user-7")),
    _audit(
        "of an actor within an hour",
        equals(AUDIT_ENTRIES, "actor_id", "user-7"),
        Condition(AUDIT_ENTRIES.fields["timestamp"], Operator.GTE, END - timedelta(weeks=4)),
        Condition(
            AUDIT_ENTRIES.fields["timestamp"], Operator.LT, END - timedelta(weeks=4) + timedelta(hours=1)
        ),
    ),
    _broad("all", USER_TASKS),
    _broad("all, latest first", USER_TASKS, "-creationDate"),
    _search("of an instance", USER_TASKS, process_instance_key=key(NUMBER // 2)),
    _search("open, of an assignee", USER_TASKS, "-priority", assignee={"eq": "user-7"}, state={"eq": 2}),
    _search("of an assignee", USER_TASKS, "-creationDate", assignee={"eq": "user-7"}),
    _search("open, of a group", USER_TASKS, "dueDate", candidate_group={"eq": "group-7"}, state={"eq": 2}),
    _broad("of a group", USER_TASKS, "-creationDate", candidate_group={"eq": "group-7"}),
    _search(
        *("open, of one of three groups and nobody", USER_TASKS, "-priority"),
        state={"eq": 2},
        assignee={"exists": False},
        candidate_group={"in": ["group-7", "group-17", "group-27"]},
    ),
    _search("of a candidate", USER_TASKS, "-creationDate", candidate_user={"eq": "user-1"}),
    _search("due within an hour", USER_TASKS, "dueDate", due_date=_HOUR),
    _search("completed within an hour", USER_TASKS, "-completionDate", completion_date=_HOUR),
    _search("open, of a definition", USER_TASKS, process_definition_key=definition_key(7), state={"eq": 2}),
    _search("with a variable of a value", USER_TASKS, process_instance_variables=[_ORDER]),
    _broad("canceled", USER_TASKS, "-completionDate", state={"eq": 8}),
    _broad("all", MESSAGE_SUBSCRIPTIONS),
    _broad("all, latest first", MESSAGE_SUBSCRIPTIONS, "-lastUpdatedDate"),
    _search("of an instance", MESSAGE_SUBSCRIPTIONS, process_instance_key={"eq": key(NUMBER // 2)}),
    _search("of a name", MESSAGE_SUBSCRIPTIONS, message_name={"eq": "paid-7"}),
    _search("of a correlation key", MESSAGE_SUBSCRIPTIONS, correlation_key={"eq": f"order-{NUMBER}"}),
    _search(
        *("open, of a definition", MESSAGE_SUBSCRIPTIONS, "-lastUpdatedDate"),
        process_definition_key=_RARE,
        message_subscription_state={"eq": 1},
    ),
    _broad("open", MESSAGE_SUBSCRIPTIONS, message_subscription_state={"eq": 1}),
    _broad("all", CORRELATED_MESSAGE_SUBSCRIPTIONS),
    _broad("all, latest first", CORRELATED_MESSAGE_SUBSCRIPTIONS, "-correlationTime"),
    _search(
        "of an instance", CORRELATED_MESSAGE_SUBSCRIPTIONS, process_instance_key={"eq": key(NUMBER // 2)}
    ),
    _search("of a message", CORRELATED_MESSAGE_SUBSCRIPTIONS, message_key={"eq": key(NUMBER)}),
    _search("of a name", CORRELATED_MESSAGE_SUBSCRIPTIONS, message_name={"eq": "paid-7"}),
    _search("within an hour", CORRELATED_MESSAGE_SUBSCRIPTIONS, correlation_time=_HOUR),
    _broad("all", DECISION_INSTANCES),
    _broad("all, latest first", DECISION_INSTANCES, "-evaluationDate"),
    _search("of an instance", DECISION_INSTANCES, process_instance_key={"eq": key(NUMBER // 4)}),
    _search("of an evaluation", DECISION_INSTANCES, decision_evaluation_key={"eq": key(NUMBER // 2)}),
    _search("of a definition", DECISION_INSTANCES, "-evaluationDate", decision_definition_key=_RARE),
    _broad("of the main definition", DECISION_INSTANCES, "-evaluationDate", decision_definition_key=_MAIN),
    _broad(
        "of a decision", DECISION_INSTANCES, "-evaluationDate", decision_definition_id={"eq": "decision-7"}
    ),
    _search("failed", DECISION_INSTANCES, "-evaluationDate", state={"eq": 2}),
    _search("evaluated within an hour", DECISION_INSTANCES, "-evaluationDate", evaluation_date=_HOUR),
    _search("failure contains", DECISION_INSTANCES, evaluation_failure={"like": "*customer-777*"}),
    _broad("all", BATCH_OPERATION_ITEMS),
    _search("of a batch operation", BATCH_OPERATION_ITEMS, batch_operation_key={"eq": key(7)}),
    _search(
        "failed, of a batch operation",
        BATCH_OPERATION_ITEMS,
        batch_operation_key={"eq": key(7)},
        state={"eq": 3},
    ),
    _search("of an instance", BATCH_OPERATION_ITEMS, process_instance_key={"eq": key(NUMBER)}),
    _search("failed", BATCH_OPERATION_ITEMS, state={"eq": 3}),
)
