"""The field tables agree with the contract."""

from collections.abc import Iterator

import pytest
from google.protobuf.descriptor import Descriptor, FieldDescriptor
from google.protobuf.message import Message

from gnomon.buf.validate import validate_pb2
from gnomon.engine.v1 import (
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
    (
        searchables.DECISION_REQUIREMENTS,
        decision_requirements_service_pb2.SearchDecisionRequirementsRequest,
    ),
    (searchables.DECISION_DEFINITIONS, decision_definition_service_pb2.SearchDecisionDefinitionsRequest),
    (searchables.DECISION_INSTANCES, decision_instance_service_pb2.SearchDecisionInstancesRequest),
]
TYPES = {
    filter_pb2.StringFilter.DESCRIPTOR.full_name: FieldType.TEXT,
    filter_pb2.KeyFilter.DESCRIPTOR.full_name: FieldType.INTEGER,
    filter_pb2.IntegerFilter.DESCRIPTOR.full_name: FieldType.INTEGER,
    filter_pb2.DateTimeFilter.DESCRIPTOR.full_name: FieldType.DATE_TIME,
}
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
    fields = [field for field in part(request_type, "filter").fields if field.name not in searchable.derived]

    expected = {field.name: type_of(field) for field in fields}
    assert expected == {field.name: searchable.fields[field.name].type for field in fields}


@every_search
def test_every_sort_field_can_be_sorted_by(
    searchable: Searchable[Entity], request_type: type[Message]
) -> None:
    for name in sort_fields(request_type):
        query = parse(searchable, request_type(sort=[{"field": name}]))

        assert query.sort[0].field.name.replace("_", "") == name.lower()
        assert query.sort[-1].field == searchable.key


def test_every_entity_has_a_field_table() -> None:
    assert set(Entity.__args__) == set(searchables.SEARCHABLES)
