"""Authorizations over HTTP: what they open in the engine, for tokens that are older than they are."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx
import pytest

from server.bpmn.builder import process
from tests.end_to_end.servers import Server
from tests.waits import until_others

FORBIDDEN = 403
EVALUATION = "/v2/expression/evaluation"
STARTS = "/v2/process-instances"


@pytest.fixture
def definitions(server: Server) -> dict[str, str]:
    """Keys of two process definitions by their ids."""
    files = [
        ("resources", (f"{name}.bpmn", process(name).start().task("t").end().to_xml()))
        for name in ("lent", "kept")
    ]
    with server.session() as client:
        deployed = client.post("/v2/deployments", files=files).raise_for_status().json()
    found = [each["processDefinition"] for each in deployed["deployments"]]
    return {each["processDefinitionId"]: each["processDefinitionKey"] for each in found}


@contextmanager
def authorized(server: Server, **fields: Any) -> Iterator[None]:
    """Give the client `reader`, whose permission is history:read, an authorization for a while.

    Other processes of a deployment hear of it a moment later.
    """
    wanted = {"ownerId": "reader", "ownerType": "CLIENT", "resourceId": "*", **fields}
    with server.session() as client:
        key = client.post("/v2/authorizations", json=wanted).raise_for_status().json()["authorizationKey"]
        try:
            yield
        finally:
            client.delete(f"/v2/authorizations/{key}").raise_for_status()


def test_a_client_starts_the_process_that_an_authorization_names(
    server: Server, definitions: dict[str, str]
) -> None:
    start = {"resourceType": "PROCESS_DEFINITION", "permissionTypes": ["CREATE_PROCESS_INSTANCE"]}
    with server.session("reader") as reader:
        before = reader.post(STARTS, json={"processDefinitionId": "lent"})
        with authorized(server, resourceId="lent", **start):
            until_others(lambda: reader.post(STARTS, json={"processDefinitionId": "lent"}).is_success)
            other = reader.post(STARTS, json={"processDefinitionId": "kept"})
            by_key = reader.post(STARTS, json={"processDefinitionKey": definitions["lent"]})
        until_others(
            lambda: reader.post(STARTS, json={"processDefinitionId": "lent"}).status_code == FORBIDDEN
        )

    assert [answer.status_code for answer in (before, other, by_key)] == [FORBIDDEN] * 3
    assert other.json()["detail"] == "POST /v2/process-instances needs permission 'instance:create'"


def test_an_authorization_for_all_opens_a_request_by_key(server: Server, definitions: dict[str, str]) -> None:
    start = {"resourceType": "PROCESS_DEFINITION", "permissionTypes": ["CREATE_PROCESS_INSTANCE"]}
    with server.session("reader") as reader, authorized(server, **start):
        by_key = {"processDefinitionKey": definitions["kept"]}
        until_others(lambda: reader.post(STARTS, json=by_key).is_success)
        instance = reader.post(STARTS, json=by_key).json()["processInstanceKey"]
        cancelled = reader.post(f"{STARTS}/{instance}/cancellation", json={})

    assert cancelled.status_code == FORBIDDEN


def test_a_batch_operation_of_any_kind_is_steered_by_an_authorization(server: Server) -> None:
    nothing = {"filter": {"processDefinitionId": "nowhere"}}
    with server.session() as client:
        begun = client.post("/v2/process-instances/cancellation", json=nothing).raise_for_status().json()
    path = f"/v2/batch-operations/{begun['batchOperationKey']}/cancellation"
    update = {"resourceType": "BATCH", "permissionTypes": ["UPDATE"]}

    with server.session("reader") as reader:
        before = reader.post(path)
        with authorized(server, **update):
            until_others(lambda: reader.post(path).status_code != FORBIDDEN)

    assert before.status_code == FORBIDDEN


def test_a_narrowed_token_of_a_client_stays_narrow(server: Server) -> None:
    form = {"grant_type": "client_credentials", "client_id": "reader", "client_secret": "reader-secret"}
    narrowed = httpx.post(server.token_url, data={**form, "scope": "history:read"}).raise_for_status().json()
    headers = {"authorization": f"Bearer {narrowed['access_token']}"}
    evaluate = {"resourceType": "EXPRESSION", "permissionTypes": ["EVALUATE"]}

    with authorized(server, **evaluate), server.session("reader") as reader:
        until_others(lambda: reader.post(EVALUATION, json={"expression": "=1"}).is_success)
        narrow = reader.post(EVALUATION, json={"expression": "=1"}, headers=headers)

    assert narrow.status_code == FORBIDDEN
