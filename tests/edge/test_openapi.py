import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from google.protobuf.descriptor_pb2 import FileDescriptorSet
from openapi_spec_validator import validate

from edge.config import Release
from edge.contract import routes
from edge.openapi import render

PROTO = Path(__file__).resolve().parents[2] / "proto"


@pytest.fixture(scope="module")
def text(tmp_path_factory: pytest.TempPathFactory) -> str:
    image = tmp_path_factory.mktemp("proto") / "image.binpb"
    subprocess.run([sys.executable, PROTO / "generate.py", "--image", image], check=True)  # ours
    return render(FileDescriptorSet.FromString(image.read_bytes()))


@pytest.fixture(scope="module")
def document(text: str) -> Any:
    return json.loads(text)


def _schema(document: Any, name: str) -> Any:
    return document["components"]["schemas"][name]


def test_the_document_is_valid_openapi(document: Any) -> None:
    validate(document)


def test_the_document_of_a_server_has_no_comments_and_is_valid(document: Any) -> None:
    served = json.loads(render())

    validate(served)
    assert served["paths"].keys() == document["paths"].keys()


def test_the_document_is_the_same_each_time(text: str) -> None:
    assert text.endswith("}\n")
    assert render() == render()


def test_every_route_is_an_operation(document: Any) -> None:
    operations = {
        operation["operationId"] for methods in document["paths"].values() for operation in methods.values()
    }

    assert operations == {route.operation_id for route in routes()}


def test_a_command_says_everything_about_itself(document: Any) -> None:
    operation = document["paths"]["/v2/jobs/{jobKey}/failure"]["post"]

    assert operation["tags"] == ["Job"]
    assert operation["summary"] == "Marks an activated job as failed; retries = 0 raises an incident"
    assert operation["x-permission"] == "job:work"
    assert operation["parameters"] == [
        {
            "name": "jobKey",
            "description": "Key of the job.",
            "schema": {"type": "string", "pattern": "^[1-9][0-9]*$", "maxLength": 19},
            "in": "path",
            "required": True,
        },
        {"$ref": "#/components/parameters/TenantId"},
        {"$ref": "#/components/parameters/IdempotencyKey"},
    ]
    assert operation["requestBody"] == {
        "content": {"application/json": {"schema": {"$ref": "#/components/schemas/FailJobRequest"}}},
        "required": False,
    }


DURABLE = {400, 401, 403, 404, 409, 413, 429, 500, 501, 503}
SEARCH = {400, 401, 403, 404, 413, 500, 501, 503}
HISTORY = "/api/v1/history"
CONSOLE = "/api/v1/console"

# The statuses that the specification says of its operations.
STATUSES = {
    "post /api/v1/user-tasks/search": DURABLE,
    f"post {HISTORY}/process-instances/search": DURABLE,
    f"get {HISTORY}/process-definitions/{{processDefinitionKey}}/flow-node-statistics": DURABLE,
    f"get {CONSOLE}/deployments": DURABLE,
    f"get {CONSOLE}/modeling/lint-rules": DURABLE,
    f"get {CONSOLE}/startable-processes/{{processDefinitionKey}}/form": DURABLE,
    "post /v1/process-instances/{processInstanceKey}/cancellation": DURABLE,
    "post /v1/process-instances/{processInstanceKey}/migration": DURABLE,
    "post /v2/user-tasks/{userTaskKey}/audit-logs/search": SEARCH,
    "post /v2/process-instances/{processInstanceKey}/incidents/search": SEARCH,
    "post /v2/process-instances/{processInstanceKey}/migration": SEARCH | {409},
    "post /v2/jobs/{jobKey}/failure": SEARCH | {409},
    "post /v2/decision-definitions/search": SEARCH - {404},
    "get /v2/variables/{variableKey}": SEARCH - {413},
    "post /v2/signals/broadcast": SEARCH - {404} | {409},
    "put /v2/roles/{roleId}/groups/{groupId}": {400, 401, 403, 404, 500, 503},
    "delete /v2/tenants/{tenantId}/mapping-rules/{mappingRuleId}": {401, 403, 404, 500, 503},
}


@pytest.mark.parametrize(("operation", "statuses"), STATUSES.items(), ids=STATUSES)
def test_every_status_of_the_specification_is_documented(
    document: Any, operation: str, statuses: set[int]
) -> None:
    method, path = operation.split()

    documented = document["paths"][path][method]["responses"].keys()

    assert {str(status) for status in statuses} <= documented


def test_every_search_and_every_operation_that_starts_process_instances_or_keeps_content_documents_the_quota(
    document: Any,
) -> None:
    found = {
        operation["operationId"]
        for path, methods in document["paths"].items()
        for operation in methods.values()
        if path.startswith("/v2/") and "429" in operation["responses"]
    }

    searches = {each for each in found if each.startswith("search") or "Statistics" in each}
    assert {"searchVariables", "searchUsers", "getProcessDefinitionStatistics"} <= searches
    assert found - searches == {
        *("getUsageMetrics", "getProcessInstanceSequenceFlows"),
        *("createProcessInstance", "evaluateConditionals"),
        *("publishMessage", "correlateMessage", "createDocument"),
    }


def test_an_operation_that_may_succeed_later_says_when(document: Any) -> None:
    responses = document["components"]["responses"]

    assert {name for name, response in responses.items() if "headers" in response} == {
        "Problem429",
        "Problem503",
    }


def test_a_request_is_closed_and_bounded(document: Any) -> None:
    assert _schema(document, "ActivateJobsRequest") | {"properties": {}} == {
        "type": "object",
        "description": "Request of ActivateJobs.",
        "properties": {},
        "required": ["type", "timeout", "maxJobsToActivate"],
        "additionalProperties": False,
    }
    assert _schema(document, "ActivateJobsRequest")["properties"]["timeout"] == {
        "type": "integer",
        "format": "int64",
        "minimum": 1,
        "maximum": 315360000000,
        "description": "Milliseconds until the deadline of a job.",
    }


def test_the_key_of_the_path_is_not_in_the_body(document: Any) -> None:
    assert "jobKey" not in _schema(document, "FailJobRequest")["properties"]


def test_a_filter_is_a_plain_value_or_an_operator_object(document: Any) -> None:
    assert _schema(document, "IncidentFilter")["properties"]["jobKey"] == {
        "oneOf": [
            {"type": "string", "pattern": "^[1-9][0-9]*$", "maxLength": 19},
            {"$ref": "#/components/schemas/KeyFilter"},
            {"type": "null"},
        ],
        "description": "Key of the job.",
    }
    assert _schema(document, "StringFilter")["properties"]["$in"] == {
        "type": "array",
        "items": {"type": "string"},
        "maxItems": 1000,
        "description": "One of these values; an empty list is no condition.",
    }


def test_an_answer_has_all_members_and_says_which_may_be_null(document: Any) -> None:
    incident = _schema(document, "Incident")

    assert incident["required"] == list(incident["properties"])
    assert incident["properties"]["jobKey"]["type"] == ["string", "null"]
    assert incident["properties"]["incidentKey"]["type"] == "string"
    assert incident["properties"]["state"]["enum"][:2] == ["UNSPECIFIED", "ACTIVE"]


def test_what_is_required_is_never_null(document: Any) -> None:
    assert _schema(document, "PinClockRequest")["properties"]["timestamp"]["type"] == "integer"
    assert _schema(document, "JobChangeset")["properties"]["retries"]["type"] == ["integer", "null"]


def test_a_list_that_may_be_empty_can_be_required(document: Any) -> None:
    migration = _schema(document, "MigrateProcessInstanceRequest")

    assert migration["required"] == ["targetProcessDefinitionKey", "mappingInstructions"]
    assert "minItems" not in migration["properties"]["mappingInstructions"]


def test_rules_across_fields_are_told(document: Any) -> None:
    assert _schema(document, "JobChangeset")["description"] == (
        "Changes to a job.\nRule: at least one of retries and timeout must be given."
    )


def test_the_order_of_a_sort_is_a_choice(document: Any) -> None:
    sort = _schema(document, "IncidentSort")

    assert sort["required"] == ["field"]
    assert sort["properties"]["order"]["enum"] == ["ASC", "DESC"]
    assert "incidentKey" in sort["properties"]["field"]["enum"]


def test_a_form_has_files(document: Any) -> None:
    (media_type,) = document["paths"]["/v2/deployments"]["post"]["requestBody"]["content"].items()

    name, form = media_type[0], media_type[1]["schema"]
    assert name == "multipart/form-data"
    assert form["required"] == ["resources"]
    assert form["properties"]["resources"]["items"] == {
        "type": "string",
        "contentMediaType": "application/octet-stream",
    }


@pytest.mark.parametrize(
    ("method", "path", "statuses"),
    [
        ("post", "/v2/jobs/{jobKey}/failure", "204 400 401 403 404 409 413 500 501 503"),
        ("get", "/v2/variables/{variableKey}", "200 400 401 403 404 500 501 503"),
        ("get", "/v2/status", "204 400 500 503"),
        (
            "get",
            "/api/v1/console/modeling/lint-rules",
            "200 304 400 401 403 404 409 413 429 500 501 503",
        ),
        (
            "get",
            "/api/v1/console/startable-processes/{processDefinitionKey}/form",
            "200 204 400 401 403 404 409 413 429 500 501 503",
        ),
        ("put", "/v2/clock", "204 400 401 403 409 413 500 501 503"),
        ("post", "/v2/process-instances", "200 400 401 403 404 409 413 429 500 503 504"),
        ("post", "/v2/incidents/search", "200 400 401 403 413 429 500 503"),
        (
            "post",
            "/v1/process-instances/{processInstanceKey}/cancellation",
            "204 400 401 403 404 409 413 429 500 501 503",
        ),
    ],
)
def test_an_operation_names_every_status(document: Any, method: str, path: str, statuses: str) -> None:
    assert " ".join(document["paths"][path][method]["responses"]) == statuses


def test_an_answer_that_tells_its_content_apart_says_so(document: Any) -> None:
    operation = document["paths"]["/api/v1/console/modeling/lint-rules"]["get"]

    assert {"$ref": "#/components/parameters/IfNoneMatch"} in operation["parameters"]
    assert all("ETag" in operation["responses"][status]["headers"] for status in ("200", "304"))


def test_public_operations_need_no_credential(document: Any) -> None:
    operation = document["paths"]["/v2/status"]["get"]

    assert operation["security"] == []
    assert {"$ref": "#/components/parameters/TenantId"} not in operation["parameters"]
    assert document["security"] == [{"bearer": []}, {"client": []}]


def test_every_refusal_is_a_problem(document: Any) -> None:
    for response in document["components"]["responses"].values():
        (media_type,) = response["content"]
        assert media_type == "application/problem+json"
    assert _schema(document, "Problem")["required"] == ["type", "title", "status", "detail", "instance"]


def test_a_text_answer_is_a_string(document: Any) -> None:
    responses = document["paths"]["/v2/process-definitions/{processDefinitionKey}/xml"]["get"]["responses"]

    (found,) = responses["200"]["content"].items()
    assert (found[0], found[1]["schema"]["type"]) == ("text/xml", "string")


def test_the_document_describes_the_release(document: Any) -> None:
    later = json.loads(render(release=Release.CAMUNDA_8_10))

    assert "brokerId" not in _schema(document, "BrokerInfo")["properties"]
    assert _schema(later, "BrokerInfo")["properties"]["brokerId"] == {"type": "string"}
    assert "brokerId" in _schema(later, "BrokerInfo")["required"]
