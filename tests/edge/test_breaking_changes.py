import copy
import json
from collections.abc import Callable
from typing import Any

import pytest

from edge.openapi import breaking_changes, render

RELEASED = json.loads(render())
FAIL_JOB = "/v2/jobs/{jobKey}/failure"
# A schema is compared where it is met first.
FIRST_OF_INCIDENTS = "/v2/element-instances/{elementInstanceKey}/incidents/search"

Change = Callable[[Any], object]


def _schema(document: Any, name: str) -> Any:
    return document["components"]["schemas"][name]


def _properties(document: Any, name: str) -> Any:
    return _schema(document, name)["properties"]


def changes(change: Change, *, backwards: bool = False) -> list[str]:
    changed = copy.deepcopy(RELEASED)
    change(changed)
    documents = (json.dumps(RELEASED), json.dumps(changed))
    return breaking_changes(*reversed(documents)) if backwards else breaking_changes(*documents)


def test_the_same_document_breaks_nothing() -> None:
    assert changes(lambda _: None) == []


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        pytest.param(lambda d: d["paths"].pop("/v2/topology"), "GET /v2/topology: removed", id="path"),
        pytest.param(lambda d: d["paths"][FAIL_JOB].pop("post"), f"POST {FAIL_JOB}: removed", id="method"),
        pytest.param(
            lambda d: d["paths"][FAIL_JOB]["post"]["responses"].pop("409"),
            f"POST {FAIL_JOB} 409: removed",
            id="status",
        ),
        pytest.param(
            lambda d: d["paths"]["/v2/variables/search"]["post"]["parameters"].pop(0),
            "POST /v2/variables/search query parameter truncateValues: removed",
            id="parameter",
        ),
        pytest.param(
            lambda d: d["components"]["parameters"]["TenantId"].update(required=True),
            f"POST {FAIL_JOB} header parameter x-tenant-id: now required",
            id="required parameter",
        ),
        pytest.param(
            lambda d: d["components"]["parameters"]["IdempotencyKey"]["schema"].update(maxLength=100),
            f"POST {FAIL_JOB} header parameter Idempotency-Key: max_length is now 100",
            id="narrower parameter",
        ),
        pytest.param(
            lambda d: d["paths"][FAIL_JOB]["post"]["requestBody"].update(required=True),
            f"POST {FAIL_JOB} request: now required",
            id="required body",
        ),
        pytest.param(
            lambda d: d["paths"]["/v2/deployments"]["post"]["requestBody"]["content"].clear(),
            "POST /v2/deployments request multipart/form-data: removed",
            id="media type",
        ),
        pytest.param(
            lambda d: _properties(d, "FailJobRequest").pop("retries"),
            f"POST {FAIL_JOB} request.retries: removed",
            id="request property",
        ),
        pytest.param(
            lambda d: _schema(d, "FailJobRequest").update(required=["errorMessage"]),
            f"POST {FAIL_JOB} request.errorMessage: now required",
            id="required request property",
        ),
        pytest.param(
            lambda d: (
                _properties(d, "FailJobRequest").update(reason={"type": "string"}),
                _schema(d, "FailJobRequest").update(required=["reason"]),
            ),
            f"POST {FAIL_JOB} request.reason: now required",
            id="new required request property",
        ),
        pytest.param(
            lambda d: _properties(d, "FailJobRequest")["retries"].update(type="string"),
            f"POST {FAIL_JOB} request.retries: no longer takes integer",
            id="request type",
        ),
        pytest.param(
            lambda d: _properties(d, "FailJobRequest")["errorMessage"].update(maxLength=10),
            f"POST {FAIL_JOB} request.errorMessage: max_length is now 10",
            id="upper bound",
        ),
        pytest.param(
            lambda d: _properties(d, "FailJobRequest")["retries"].update(minimum=0),
            f"POST {FAIL_JOB} request.retries: minimum is now 0",
            id="new lower bound",
        ),
        pytest.param(
            lambda d: _properties(d, "FailJobRequest")["errorMessage"].update(pattern="a"),
            f"POST {FAIL_JOB} request.errorMessage: pattern is now a",
            id="pattern",
        ),
        pytest.param(
            lambda d: _properties(d, "IncidentSort")["field"]["enum"].remove("state"),
            f"POST {FIRST_OF_INCIDENTS} request.sort[].field: no longer takes state",
            id="request enum",
        ),
        pytest.param(
            lambda d: _properties(d, "FailJobRequest")["errorMessage"].update(enum=["a"]),
            f"POST {FAIL_JOB} request.errorMessage: no longer takes any other value",
            id="new request enum",
        ),
        pytest.param(
            lambda d: _properties(d, "IncidentFilter")["jobKey"]["oneOf"].pop(0),
            "POST /v2/incidents/search request.filter.jobKey: no longer takes string",
            id="shorthand",
        ),
        pytest.param(
            lambda d: _properties(d, "Incident").pop("jobKey"),
            f"POST {FIRST_OF_INCIDENTS} 200.items[].jobKey: removed",
            id="answer property",
        ),
        pytest.param(
            lambda d: _schema(d, "Incident")["required"].remove("jobKey"),
            f"POST {FIRST_OF_INCIDENTS} 200.items[].jobKey: may now be absent",
            id="optional answer property",
        ),
        pytest.param(
            lambda d: _properties(d, "Incident")["elementId"].update(type=["string", "null"]),
            f"POST {FIRST_OF_INCIDENTS} 200.items[].elementId: may now be null",
            id="nullable answer property",
        ),
        pytest.param(
            lambda d: _properties(d, "Job")["customHeaders"]["additionalProperties"].update(type="integer"),
            "POST /v2/jobs/search 200.items[].customHeaders{}: may now be integer",
            id="values of a map",
        ),
    ],
)
def test_what_a_client_relies_on_is_missed(change: Change, expected: str) -> None:
    assert expected in changes(change)


@pytest.mark.parametrize(
    ("change", "backwards"),
    [
        pytest.param(lambda d: d["paths"].pop("/v2/topology"), True, id="new path"),
        pytest.param(lambda d: d["paths"][FAIL_JOB]["post"]["responses"].pop("409"), True, id="new status"),
        pytest.param(
            lambda d: _properties(d, "FailJobRequest").pop("retries"), True, id="new optional property"
        ),
        pytest.param(
            lambda d: _schema(d, "MappingInstruction").pop("required"), False, id="no longer required"
        ),
        pytest.param(
            lambda d: _properties(d, "PageRequest")["limit"].update(maximum=1000), False, id="wider bound"
        ),
        pytest.param(lambda d: _properties(d, "PageRequest")["limit"].pop("minimum"), False, id="no bound"),
        pytest.param(
            lambda d: _properties(d, "IncidentSort")["field"]["enum"].append("more"),
            False,
            id="new request value",
        ),
        pytest.param(
            lambda d: _properties(d, "FailJobRequest")["retries"].update(type=["integer", "string"]),
            False,
            id="new request type",
        ),
        pytest.param(
            lambda d: _properties(d, "Incident").update(more={"type": "string"}), False, id="new member"
        ),
        pytest.param(
            lambda d: _properties(d, "Incident")["jobKey"].update(type="string"),
            False,
            id="never null any more",
        ),
        pytest.param(lambda d: d["info"].update(version="2"), False, id="version"),
        pytest.param(lambda d: _schema(d, "Incident").update(description="other"), False, id="description"),
    ],
)
def test_what_clients_do_not_notice_is_free(change: Change, *, backwards: bool) -> None:
    assert changes(change, backwards=backwards) == []


def test_schemas_that_contain_themselves_are_compared() -> None:
    def tree(document: Any) -> None:
        _schema(document, "Incident")["properties"]["cause"] = {"$ref": "#/components/schemas/Incident"}

    both = copy.deepcopy(RELEASED)
    tree(both)

    assert breaking_changes(json.dumps(both), json.dumps(both)) == []
