from collections.abc import Iterator

import pytest
from google.protobuf.descriptor import Descriptor, FieldDescriptor

from edge.contract import BodyForm, Route, routes
from edge.fields import Kind, kind_of, map_value, message_of, rule_of
from tests.edge.sample import ROUTES

CONTRACT = {route.operation_id: route for route in routes()}


def _names(route: Route) -> tuple[list[str], list[str], list[str]]:
    groups = (route.path_fields, route.query_fields, route.body_fields)
    path, query, body = ([field.name for field in group] for group in groups)
    return path, query, body


def test_a_command_takes_its_key_from_the_path_and_the_rest_from_the_body() -> None:
    route = CONTRACT["failJob"]

    assert (route.method, route.path, route.status) == ("POST", "/v2/jobs/{job_key}/failure", 204)
    assert _names(route) == (["job_key"], [], ["retries", "error_message", "retry_back_off", "variables"])
    assert route.policy.is_command


def test_a_field_can_be_moved_from_the_body_to_the_query_string() -> None:
    route = CONTRACT["searchVariables"]

    assert _names(route) == ([], ["truncate_values"], ["filter", "sort", "page"])
    assert route.status == 200


def test_an_rpc_without_body_has_its_fields_in_the_query_string() -> None:
    assert _names(CONTRACT["getConsoleDeployments"]) == ([], ["part"], [])


@pytest.mark.parametrize(
    ("route", "body"),
    [
        pytest.param(CONTRACT["acceptCancellation"], BodyForm.NONE, id="none"),
        pytest.param(CONTRACT["searchJobs"], BodyForm.MEMBERS, id="members"),
        pytest.param(ROUTES["putObject"], BodyForm.FIELD, id="field"),
        pytest.param(CONTRACT["createDeployment"], BodyForm.MULTIPART, id="multipart"),
    ],
)
def test_the_form_of_a_body_is_read_from_the_contract(route: Route, body: BodyForm) -> None:
    assert route.body is body


def test_an_answer_that_tells_its_content_apart_names_the_field() -> None:
    field = CONTRACT["getLintRules"].etag_field

    assert field is not None
    assert field.name == "etag"
    assert CONTRACT["getTopology"].etag_field is None


def test_a_text_answer_names_its_media_type_and_field() -> None:
    route = CONTRACT["getProcessDefinitionXML"]

    assert route.media_type == "text/xml"
    assert route.response_field is not None
    assert route.response_field.name == "xml"


@pytest.mark.parametrize(
    ("operation_id", "may_wait"),
    [("activateJobs", True), ("createProcessInstance", True), ("completeJob", False)],
)
def test_calls_that_wait_are_known(operation_id: str, *, may_wait: bool) -> None:
    assert CONTRACT[operation_id].may_wait is may_wait


def test_additional_bindings_are_routes_of_their_own() -> None:
    assert [(ROUTES[name].method, ROUTES[name].path) for name in ("send", "send2")] == [
        ("POST", "/send"),
        ("PUT", "/send/{key}"),
    ]


@pytest.mark.parametrize(
    ("operation_id", "status", "empty"),
    [("send", 200, 204), ("putInner", 202, 202)],
)
def test_an_answer_without_body_has_a_status(operation_id: str, status: int, empty: int) -> None:
    route = ROUTES[operation_id]

    assert (route.status, route.empty_status) == (status, empty)


def test_rpcs_without_binding_have_no_route() -> None:
    assert "getPrincipal" not in CONTRACT


def test_no_two_routes_share_method_and_path() -> None:
    every = list(routes())

    assert len({(route.method, route.path) for route in every}) == len(every)


def test_no_request_has_a_member_of_a_later_release() -> None:
    requests = [route.policy.descriptor.input_type for route in routes()]

    assert [
        field.full_name for message in requests for field in _fields(message) if rule_of(field).since
    ] == []


def _fields(message: Descriptor) -> Iterator[FieldDescriptor]:
    for field in message.fields:
        yield field
        value = map_value(field) or field
        if kind_of(value) is Kind.MESSAGE:
            yield from _fields(message_of(value))
