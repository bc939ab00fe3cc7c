"""Whole exchanges, the same over both channels."""

import json
from typing import Any

import pytest
from google.protobuf.message import Message
from multidict import CIMultiDict

from gnomon.engine.v1 import (
    audit_log_service_pb2,
    console_service_pb2,
    incident_service_pb2,
    job_service_pb2,
    process_definition_service_pb2,
    user_task_service_pb2,
    variable_service_pb2,
)
from gnomon.engine.v1.deployment_service_pb2 import CreateDeploymentRequest
from server.platform import errors
from tests.edge.harness import Edge

EXCHANGES = [
    pytest.param(
        ("POST", "/v2/jobs/42/failure", '{"retries": 1, "retryBackOff": 5000, "variables": {"a": 1.0}}'),
        job_service_pb2.FailJobRequest(job_key=42, retries=1, retry_back_off=5000, variables=b'{"a": 1.0}'),
        job_service_pb2.FailJobResponse(),
        (204, "", ""),
        id="command",
    ),
    pytest.param(
        ("POST", "/v2/jobs/42/failure", ""),
        job_service_pb2.FailJobRequest(job_key=42),
        job_service_pb2.FailJobResponse(),
        (204, "", ""),
        id="command without body",
    ),
    pytest.param(
        ("GET", "/v2/variables/9", ""),
        variable_service_pb2.GetVariableRequest(variable_key=9),
        variable_service_pb2.GetVariableResponse(
            variable={"name": "total", "tenant_id": "t", "variable_key": 9, "scope_key": 8, "value": "1"}
        ),
        (
            200,
            "application/json",
            (
                '{"name":"total","tenantId":"t","variableKey":"9","scopeKey":"8","processInstanceKey":"0",'
                '"rootProcessInstanceKey":null,"value":"1"}'
            ),
        ),
        id="entity",
    ),
    pytest.param(
        (
            "POST",
            "/v2/variables/search?truncateValues=false",
            '{"filter": {"name": "total"}, "page": {"from": 5}}',
        ),
        variable_service_pb2.SearchVariablesRequest(
            truncate_values=False, filter={"name": {"eq": "total"}}, page={"from": 5}
        ),
        variable_service_pb2.SearchVariablesResponse(page={"total_items": 3}),
        (
            200,
            "application/json",
            '{"items":[],"page":{"totalItems":3,"hasMoreTotalItems":false,"startCursor":null,"endCursor":null}}',
        ),
        id="search with query parameter",
    ),
    pytest.param(
        ("POST", "/v2/incidents/search", '{"sort": [{"field": "state", "order": "DESC"}]}'),
        incident_service_pb2.SearchIncidentsRequest(sort=[{"field": "state", "order": 2}]),
        incident_service_pb2.SearchIncidentsResponse(page={"end_cursor": "abc"}),
        (
            200,
            "application/json",
            '{"items":[],"page":{"totalItems":0,"hasMoreTotalItems":false,"startCursor":null,"endCursor":"abc"}}',
        ),
        id="search",
    ),
    pytest.param(
        ("POST", "/v2/incidents/search", '{"sort": [{"field": "state", "order": "desc"}]}'),
        incident_service_pb2.SearchIncidentsRequest(sort=[{"field": "state", "order": 2}]),
        incident_service_pb2.SearchIncidentsResponse(),
        (
            200,
            "application/json",
            '{"items":[],"page":null}',
        ),
        id="a direction in lower case",
    ),
    pytest.param(
        ("GET", "/v2/process-definitions/7/xml", ""),
        process_definition_service_pb2.GetProcessDefinitionXmlRequest(process_definition_key=7),
        process_definition_service_pb2.GetProcessDefinitionXmlResponse(xml="<é/>"),
        (200, "text/xml; charset=utf-8", "<é/>"),
        id="text",
    ),
    pytest.param(
        ("GET", "/api/v1/console/startable-processes/7/form", ""),
        console_service_pb2.GetStartFormRequest(process_definition_key=7),
        console_service_pb2.GetStartFormResponse(form=b'{"id":"f"}'),
        (200, "application/json", '{"id":"f"}'),
        id="object as a whole",
    ),
    pytest.param(
        ("GET", "/api/v1/console/startable-processes/7/form", ""),
        console_service_pb2.GetStartFormRequest(process_definition_key=7),
        console_service_pb2.GetStartFormResponse(),
        (204, "", ""),
        id="no object",
    ),
    pytest.param(
        ("GET", "/api/v1/console/deployments?part=forms", ""),
        console_service_pb2.GetConsoleDeploymentsRequest(part="forms"),
        console_service_pb2.GetConsoleDeploymentsResponse(),
        (200, "application/json", '{"processDefinitions":[],"forms":[]}'),
        id="query parameter",
    ),
    pytest.param(
        ("GET", "/v1/audit-log?result=FAIL&from=1970-01-01T00:00:05Z&entityKey=9&sortOrder=DESC&limit=2", ""),
        audit_log_service_pb2.ListAuditEntriesRequest(
            result=2, **{"from": {"seconds": 5}}, entity_key=9, sort_order=2, limit=2
        ),
        audit_log_service_pb2.ListAuditEntriesResponse(cursor="abc"),
        (200, "application/json", '{"items":[],"cursor":"abc"}'),
        id="search by query parameters",
    ),
    pytest.param(
        ("POST", "/api/v1/user-tasks/search", '{"pageSize": 5}'),
        user_task_service_pb2.ListUserTasksRequest(page_size=5),
        user_task_service_pb2.ListUserTasksResponse(cursor="abc"),
        (200, "application/json", '{"items":[],"cursor":"abc"}'),
        id="a member that is named otherwise than its field",
    ),
]


@pytest.mark.parametrize(("sent", "request_message", "answer", "received"), EXCHANGES)
async def test_a_request_is_decoded_and_its_answer_encoded(
    edge: Edge,
    sent: tuple[str, str, str],
    request_message: Message,
    answer: Message,
    received: tuple[int, str, str],
) -> None:
    method, path, body = sent
    edge.servicers.every_answer = answer

    reply = await edge.send(method, path, data=body, headers={"Content-Type": "application/json"})

    assert [request_message] == edge.servicers.requests
    assert received == (reply.status, reply.headers.get("Content-Type", ""), reply.body.decode())
    assert reply.headers["Cache-Control"] == "no-store"


async def test_a_deployment_arrives_as_files(edge: Edge) -> None:
    body = (
        b'--X\r\nContent-Disposition: form-data; name="resources"; filename="a.bpmn"\r\n\r\n<a/>\r\n'
        b'--X\r\nContent-Disposition: form-data; name="tenantId"\r\n\r\nacme\r\n--X--\r\n'
    )

    reply = await edge.send(
        "POST", "/v2/deployments", data=body, headers={"Content-Type": "multipart/form-data; boundary=X"}
    )

    (found,) = edge.servicers.requests
    assert reply.status == 200
    assert json.loads(reply.body) == {"deploymentKey": "0", "tenantId": "", "deployments": []}
    assert isinstance(found, CreateDeploymentRequest)
    assert ([(file.name, file.content) for file in found.resources], found.tenant_id) == (
        [("a.bpmn", b"<a/>")],
        "acme",
    )


async def test_headers_become_metadata(edge: Edge) -> None:
    headers = {
        "AUTHORIZATION": "Bearer abc",
        "X-Tenant-Id": "acme",
        "Idempotency-Key": "k" * 200,
        "X-Request-Id": "r-1",
        "X-Other": "no",
    }

    reply = await edge.post_json("/v2/jobs/42/failure", "{}", **headers)

    found = {
        key: edge.servicers.calls[0].metadata[key] for key in map(str.lower, headers) if key != "x-other"
    }
    assert found == {
        "authorization": "Bearer abc",
        "x-tenant-id": "acme",
        "idempotency-key": "k" * 200,
        "x-request-id": "r-1",
    }
    assert "x-other" not in edge.servicers.calls[0].metadata
    assert reply.headers["X-Request-Id"] == "r-1"


async def test_every_call_has_a_request_id_of_its_own(edge: Edge) -> None:
    replies = [await edge.post_json("/v2/jobs/42/failure", "{}") for _ in range(2)]

    sent = [call.metadata["x-request-id"] for call in edge.servicers.calls]
    assert sent == [reply.headers["X-Request-Id"] for reply in replies]
    assert len(set(sent)) == 2


async def test_only_commands_take_an_idempotency_key(edge: Edge) -> None:
    await edge.post_json("/v2/jobs/search", "{}", **{"Idempotency-Key": "k"})

    assert "idempotency-key" not in edge.servicers.calls[0].metadata


@pytest.mark.parametrize(
    ("headers", "detail"),
    [
        ([("Idempotency-Key", "")], "Idempotency-Key: expected at least 1 character"),
        ([("Idempotency-Key", "k" * 201)], "Idempotency-Key: expected at most 200 characters, found 201"),
        ([("Idempotency-Key", "é")], "Idempotency-Key: expected printable ASCII"),
        ([("x-tenant-id", "")], "x-tenant-id: expected at least 1 character"),
        ([("x-tenant-id", "a"), ("x-tenant-id", "b")], "x-tenant-id: given more than once"),
        ([("Authorization", "Bearer é")], "Authorization: expected printable ASCII"),
        ([("X-Request-Id", "a\tb")], "X-Request-Id: expected printable ASCII"),
    ],
)
async def test_a_header_that_metadata_cannot_carry_is_refused(
    local_edge: Edge, headers: list[tuple[str, str]], detail: str
) -> None:
    reply = await local_edge.send("POST", "/v2/jobs/42/failure", headers=CIMultiDict(headers))

    assert (reply.status, json.loads(reply.body)["detail"]) == (400, detail)
    assert reply.headers["X-Request-Id"]
    assert {call.policy.name for call in local_edge.servicers.calls} <= {"ReportRefusal"}


async def test_bodies_that_differ_in_order_and_whitespace_are_one_request(local_edge: Edge) -> None:
    """So they have one hash, and the second one is a repeat under the same Idempotency-Key."""
    await local_edge.post_json(
        "/v2/jobs/42/failure", '{"retries": 1, "errorMessage": "a", "retryBackOff": 0}'
    )
    await local_edge.post_json("/v2/jobs/42/failure", '{\n"errorMessage":"a",\n"retries":1}')

    first, second = local_edge.servicers.requests
    assert first.SerializeToString(deterministic=True) == second.SerializeToString(deterministic=True)


REFUSALS = [
    (errors.InvalidArgument("bad"), 400, "invalid-argument", "INVALID_ARGUMENT"),
    (errors.Unauthenticated("who"), 401, "unauthorized", "UNAUTHORIZED"),
    (errors.PermissionDenied("no"), 403, "forbidden", "FORBIDDEN"),
    (errors.NotFound("gone"), 404, "not-found", "NOT_FOUND"),
    (errors.InvalidState("late"), 409, "conflict", "INVALID_STATE"),
    (errors.IdempotencyConflict("other body"), 409, "conflict", "ALREADY_EXISTS"),
    (errors.QuotaExhausted("full"), 429, "quota-exhausted", "QUOTA_EXHAUSTED"),
    (errors.ResourceExhausted("busy"), 503, "unavailable", "RESOURCE_EXHAUSTED"),
    (errors.Unavailable("down"), 503, "unavailable", "UNAVAILABLE"),
    (errors.DeadlineExceeded("slow"), 503, "unavailable", "UNAVAILABLE"),
]


@pytest.mark.parametrize(("error", "status", "kind", "title"), REFUSALS)
async def test_a_refusal_is_a_problem(
    edge: Edge, error: Exception, status: int, kind: str, title: str
) -> None:
    edge.servicers.answers["fail_job"] = error

    reply = await edge.post_json("/v2/jobs/42/failure", "{}")

    assert reply.headers["Content-Type"] == "application/problem+json"
    assert json.loads(reply.body) == {
        "type": f"urn:bpm:error:{kind}",
        "title": title,
        "status": status,
        "detail": str(error),
        "instance": "/v2/jobs/42/failure",
    }
    assert status == reply.status
    assert reply.headers.get("WWW-Authenticate") == ("Bearer" if status == 401 else None)
    assert reply.headers["X-Request-Id"]
    assert "Retry-After" not in reply.headers


async def test_a_refusal_that_ends_by_itself_says_when_to_try_again(edge: Edge) -> None:
    edge.servicers.answers["fail_job"] = errors.QuotaExhausted("full", retry_after_secs="7")

    reply = await edge.post_json("/v2/jobs/42/failure", "{}")

    assert reply.headers["Retry-After"] == "7"


async def test_a_mode_that_does_not_serve_the_operation_is_named(edge: Edge) -> None:
    edge.servicers.answers["fail_job"] = errors.ModeNotSupported("not here", mode="embedded")

    reply = await edge.post_json("/v2/jobs/42/failure", "{}")

    assert (reply.status, json.loads(reply.body)["mode"]) == (501, "embedded")


async def test_an_operation_that_waits_says_that_it_waited_too_long(edge: Edge) -> None:
    edge.servicers.answers["create_process_instance"] = errors.DeadlineExceeded("still running")

    reply = await edge.post_json("/v2/process-instances", '{"processDefinitionId": "a"}')

    assert (reply.status, json.loads(reply.body)["title"]) == (504, "DEADLINE_EXCEEDED")


async def test_nothing_of_an_unexpected_error_gets_out(edge: Edge) -> None:
    edge.servicers.answers["fail_job"] = RuntimeError("secret")

    reply = await edge.post_json("/v2/jobs/42/failure", "{}")

    assert reply.status == 500
    assert b"secret" not in reply.body
    assert json.loads(reply.body)["type"] == "urn:bpm:error:internal"


@pytest.mark.parametrize(
    ("method", "path", "allow"),
    [
        ("GET", "/", None),
        ("POST", "/v2/nothing", None),
        ("GET", "/v2/jobs/42/failure/", None),
        ("PUT", "/v2/jobs/42/failure", "POST"),
        ("HEAD", "/v2/jobs/42/failure", "POST"),
        ("DELETE", "/v2/process-instances/1", "GET, HEAD"),
    ],
)
async def test_what_is_no_operation_is_not_found(
    local_edge: Edge, method: str, path: str, allow: str | None
) -> None:
    reply = await local_edge.send(method, path)

    assert (reply.status, reply.headers.get("Allow")) == (404, allow)
    assert reply.headers["Content-Type"] == "application/problem+json"
    assert method == "HEAD" or json.loads(reply.body)["instance"] == path


async def test_what_answers_get_answers_head(local_edge: Edge) -> None:
    get = await local_edge.send("GET", "/v2/variables/1")
    head = await local_edge.send("HEAD", "/v2/variables/1")

    assert (head.status, head.body) == (200, b"")
    assert head.headers["Content-Length"] == str(len(get.body))


async def test_an_id_in_the_path_may_hold_any_character(local_edge: Edge) -> None:
    reply = await local_edge.send("GET", "/v2/variables/%7Ba%2Fb%7D")

    assert reply.status == 400
    assert json.loads(reply.body)["detail"].endswith("found '{a/b}'")


async def test_the_document_of_the_contract_is_served(local_edge: Edge) -> None:
    reply = await local_edge.send("GET", "/openapi.json")

    document: dict[str, Any] = json.loads(reply.body)
    assert (reply.status, document["openapi"]) == (200, "3.1.0")
    assert "/v2/jobs/{jobKey}/failure" in document["paths"]
