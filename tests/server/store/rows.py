"""Rows for the store's tests: a builder for each entity that fills in what a test does not care about."""

from datetime import UTC, datetime, timedelta
from typing import cast

from hypothesis import strategies as st

from gnomon.engine.v1.process_instance_service_pb2 import SearchProcessInstancesRequest
from server.engine.batch_operations import BatchOperationType
from server.engine.keys import Key
from server.platform.query import parse
from server.store.entities import (
    BatchOperation,
    BatchOperationItem,
    DecisionDefinitionType,
    DecisionInstance,
    ElementInstance,
    Entity,
    Incident,
    Job,
    ProcessInstance,
    ProcessInstanceState,
    Variable,
)
from server.store.ports import Batch, Insert, Ledger, Store
from server.store.searchables import PROCESS_INSTANCES

TENANT = "acme"
START = datetime(2026, 1, 1, tzinfo=UTC)


def process_instance(key: int, **values: object) -> ProcessInstance:
    fields: dict[str, object] = {
        "process_instance_key": Key(key),
        "tenant_id": TENANT,
        "process_definition_key": Key(7),
        "process_definition_id": "order",
        "process_definition_name": None,
        "process_definition_version": 1,
        "process_definition_version_tag": None,
        "start_date": START,
    }
    return ProcessInstance(**(fields | values))


def element_instance(key: int, process_instance_key: int, **values: object) -> ElementInstance:
    fields: dict[str, object] = {
        "element_instance_key": Key(key),
        "tenant_id": TENANT,
        "process_instance_key": Key(process_instance_key),
        "process_definition_key": Key(7),
        "process_definition_id": "order",
        "element_id": "charge",
        "element_name": "Charge",
        "type": "SERVICE_TASK",
        "element_instance_scope_key": Key(process_instance_key),
        "start_date": START,
    }
    return ElementInstance(**(fields | values))


def job(key: int, process_instance_key: int, **values: object) -> Job:
    fields: dict[str, object] = {
        "job_key": Key(key),
        "tenant_id": TENANT,
        "type": "charge",
        "retries": 3,
        "custom_headers": {"currency": "EUR"},
        "element_id": "charge",
        "element_instance_key": Key(key + 1),
        "process_instance_key": Key(process_instance_key),
        "process_definition_key": Key(7),
        "process_definition_id": "order",
        "creation_time": START,
        "last_update_time": START,
    }
    return Job(**(fields | values))


def variable(key: int, process_instance_key: int, value: str = "1", **values: object) -> Variable:
    fields: dict[str, object] = {
        "variable_key": Key(key),
        "tenant_id": TENANT,
        "name": "amount",
        "scope_key": Key(process_instance_key),
        "process_instance_key": Key(process_instance_key),
        "value": value,
    }
    return Variable(**(fields | values))


def incident(key: int, process_instance_key: int, **values: object) -> Incident:
    fields: dict[str, object] = {
        "incident_key": Key(key),
        "tenant_id": TENANT,
        "process_definition_key": Key(7),
        "process_definition_id": "order",
        "process_instance_key": Key(process_instance_key),
        "element_id": "charge",
        "element_instance_key": Key(key + 1),
        "job_key": None,
        "error_type": "JOB_NO_RETRIES",
        "error_message": "card declined",
        "creation_time": START,
    }
    return Incident(**(fields | values))


def decision_instance(key: int, **values: object) -> DecisionInstance:
    """The first decision of the evaluation with the key before."""
    fields: dict[str, object] = {
        "decision_instance_key": Key(key),
        "tenant_id": TENANT,
        "decision_evaluation_key": Key(key - 1),
        "decision_evaluation_instance_key": f"{key - 1}-1",
        "decision_definition_key": Key(7),
        "decision_definition_id": "discount",
        "decision_definition_name": "Discount",
        "decision_definition_type": DecisionDefinitionType.DECISION_TABLE,
        "decision_definition_version": 1,
        "decision_requirements_key": Key(6),
        "root_decision_definition_key": Key(7),
        "evaluation_date": START,
        "result": "10",
        "inputs": "[]",
        "rules": "[]",
    }
    return DecisionInstance(**(fields | values))


def batch_operation(key: int, **values: object) -> BatchOperation:
    fields: dict[str, object] = {
        "batch_operation_key": Key(key),
        "tenant_id": TENANT,
        "operation_type": BatchOperationType.CANCEL_PROCESS_INSTANCE,
    }
    return BatchOperation(**(fields | values))


def batch_operation_item(key: int, batch_operation_key: int, **values: object) -> BatchOperationItem:
    fields: dict[str, object] = {
        "batch_operation_item_key": Key(key),
        "tenant_id": TENANT,
        "batch_operation_key": Key(batch_operation_key),
        "operation_type": BatchOperationType.CANCEL_PROCESS_INSTANCE,
        "item_key": Key(9),
        "process_instance_key": Key(9),
    }
    return BatchOperationItem(**(fields | values))


async def commit(store: Store, batch: Batch) -> None:
    """Commit to a store of these tests, which are ledgers too."""
    await cast("Ledger", store).commit(batch)


async def insert(store: Store, *rows: Entity) -> None:
    await commit(store, Batch([Insert(row) for row in rows]))


async def found(store: Store, tenant_id: str = TENANT, **request: object) -> list[int]:
    """Keys of the process instances that a search answers with."""
    query = parse(PROCESS_INSTANCES, SearchProcessInstancesRequest(**request))
    page = await store.search(ProcessInstance, query, tenant_id=tenant_id)
    return [row.process_instance_key for row in page.items]


_texts = st.sampled_from(["", "a", "b", "B", "ab", "é", "\U0001f40d", "a" * 700])
_instants = st.sampled_from([START + timedelta(days=days, milliseconds=days) for days in (-40_000, 0, 1, 2)])


@st.composite
def process_instances(draw: st.DrawFn, *, least_key: int = 1, least: int = 0) -> list[ProcessInstance]:
    """At least so many rows with few different values, in any order."""
    keys = draw(st.lists(st.integers(least_key, least_key + 60), unique=True, min_size=least, max_size=25))
    return [
        process_instance(
            key,
            business_id=draw(st.none() | _texts),
            process_definition_version=draw(st.integers(-1, 2)),
            parent_process_instance_key=draw(st.none() | st.integers(1, 3).map(Key)),
            end_date=draw(st.none() | _instants),
            state=draw(st.sampled_from(ProcessInstanceState)),
            has_incident=draw(st.booleans()),
        )
        for key in keys
    ]
