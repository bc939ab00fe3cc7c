"""The field tables agree with the contract."""

from collections.abc import Iterator

import pytest
from google.protobuf.descriptor import Descriptor, FieldDescriptor
from google.protobuf.message import Message

from gnomon.buf.validate import validate_pb2
from gnomon.engine.v1 import (
    batch_operation_service_pb2,
    decision_definition_service_pb2,
    decision_instance_service_pb2,
    decision_requirements_service_pb2,
    element_instance_service_pb2,
    incident_service_pb2,
    job_service_pb2,
    process_definition_service_pb2,
    process_instance_service_pb2,
    variable_service_pb2,
)
from gnomon.query.v1 import filter_pb2
from server.platform.query import FieldType, Searchable, parse
from server.store import searchables
from server.store.entities import Entity

SEARCHES: list[tuple[Searchable[Entity], type[Message]]] = [
    (
        searchables.PROCESS_DEFINITIONS,
        process_definition_service_pb2.SearchProcessDefinitionsRequest,
    ),
    (searchables.PROCESS_INSTANCES, process_instance_service_pb2.SearchProcessInstancesRequest),
    (searchables.ELEMENT_INSTANCES, element_instance_service_pb2.SearchElementInstancesRequest),
    (searchables.JOBS, job_service_pb2.SearchJobsRequest),
    (searchables.VARIABLES, variable_service_pb2.SearchVariablesRequest),
    (searchables.INCIDENTS, incident_service_pb2.SearchIncidentsRequest),
    (searchables.INCIDENTS, incident_service_pb2.SearchProcessInstanceIncidentsRequest),
    (searchables.INCIDENTS, incident_service_pb2.SearchElementInstanceIncidentsRequest),
    (
        searchables.DECISION_REQUIREMENTS,
        decision_requirements_service_pb2.SearchDecisionRequirementsRequest,
    ),
    (searchables.DECISION_DEFINITIONS, decision_definition_service_pb2.SearchDecisionDefinitionsRequest),
    (searchables.BATCH_OPERATIONS, batch_operation_service_pb2.SearchBatchOperationsRequest),
    (searchables.BATCH_OPERATION_ITEMS, batch_operation_service_pb2.SearchBatchOperationItemsRequest),
    (searchables.DECISION_INSTANCES, decision_instance_service_pb2.SearchDecisionInstancesRequest),
]
TYPES = {
    filter_pb2.StringFilter.DESCRIPTOR.full_name: FieldType.TEXT,
    filter_pb2.KeyFilter.DESCRIPTOR.full_name: FieldType.INTEGER,
    filter_pb2.IntegerFilter.DESCRIPTOR.full_name: FieldType.INTEGER,
    filter_pb2.DateTimeFilter.DESCRIPTOR.full_name: FieldType.DATE_TIME,
}
ALTERNATIVES = "any_of"
# Fields for which this release has no data.
REFUSED = {"incident_error_hash_code"}
OPERATORS = {"eq", "neq", "exists", "in", "not_in", "like", "gt", "gte", "lt", "lte"}
every_search = pytest.mark.parametrize(
    ("searchable", "request_type"), SEARCHES, ids=[kind.DESCRIPTOR.name for _, kind in SEARCHES]
)


def type_of(field: FieldDescriptor) -> FieldType:
    if field.message_type is None:
        return FieldType.BOOLEAN
    is_enum = field.message_type.fields_by_name["eq"].enum_type is not None
    return FieldType.TEXT if is_enum else TYPES[field.message_type.full_name]


def part(request_type: type[Message], name: str) -> Descriptor:
    found = request_type.DESCRIPTOR.fields_by_name[name].message_type
    assert found is not None
    return found


def sort_fields(request_type: type[Message]) -> Iterator[str]:
    options = part(request_type, "sort").fields_by_name["field"].GetOptions()
    yield from getattr(options.Extensions[validate_pb2.field].string, "in")


@every_search
def test_every_filter_field_is_one_of_the_entity(
    searchable: Searchable[Entity], request_type: type[Message]
) -> None:
    known = {*searchable.derived, *searchable.associations, *REFUSED, ALTERNATIVES}
    fields = [field for field in part(request_type, "filter").fields if field.name not in known]

    expected = {field.name: type_of(field) for field in fields}
    assert expected == {field.name: searchable.fields[field.name].type for field in fields}


def test_a_filter_field_on_related_rows_is_one_of_theirs() -> None:
    searchable = searchables.PROCESS_INSTANCES
    fields = part(process_instance_service_pb2.SearchProcessInstancesRequest, "filter").fields_by_name
    named = {name: rows for name, rows in searchable.associations.items() if rows.field is not None}
    (listed,) = searchable.associations.keys() - named.keys()

    expected = {name: rows.searchable.fields[str(rows.field)].type for name, rows in named.items()}
    assert expected == {name: type_of(fields[name]) for name in named}
    entry = fields[listed].message_type
    assert entry is not None
    assert {"name", "value"} == set(entry.fields_by_name)


def test_an_alternative_has_every_field_of_the_filter_but_alternatives() -> None:
    whole = part(process_instance_service_pb2.SearchProcessInstancesRequest, "filter")
    alternative = whole.fields_by_name[ALTERNATIVES].message_type

    assert alternative is not None
    expected = {field.name: (field.number, field.message_type) for field in alternative.fields}
    assert expected == {
        field.name: (field.number, field.message_type) for field in whole.fields if field.name != ALTERNATIVES
    }


@every_search
def test_every_sort_field_can_be_sorted_by(
    searchable: Searchable[Entity], request_type: type[Message]
) -> None:
    for name in sort_fields(request_type):
        query = parse(searchable, request_type(sort=[{"field": name}]))

        assert query.sort[0].field.name.replace("_", "") == name.lower()
        assert query.sort[-1].field == searchable.key


@pytest.mark.parametrize(
    "request_type", [kind for _, kind in SEARCHES], ids=lambda kind: kind.DESCRIPTOR.name
)
def test_every_filter_field_with_operators_has_all_of_them(request_type: type[Message]) -> None:
    messages = {field.name: field.message_type for field in part(request_type, "filter").fields}

    filters = {
        name: message for name, message in messages.items() if message and "eq" in message.fields_by_name
    }
    assert dict.fromkeys(filters, OPERATORS) == {
        name: set(message.fields_by_name) for name, message in filters.items()
    }


def test_every_entity_has_a_field_table() -> None:
    assert set(Entity.__args__) == set(searchables.SEARCHABLES)
