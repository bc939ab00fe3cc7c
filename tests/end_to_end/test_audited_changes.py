"""The audit log records identity changes, and requests that were refused before they reached a service."""

import asyncio
import time
from collections.abc import Iterator
from typing import Any
from uuid import uuid4

import grpc
import httpx
import pytest

from gnomon.engine.v1 import refusal_service_pb2
from gnomon.engine.v1.refusal_service_pb2_grpc import RefusalServiceStub
from server.platform.policy import Mode
from tests.end_to_end.servers import Server

SECONDS = 20
POLL_SECONDS = 0.1
LOG = "/v1/audit-log"
RULE = {"name": "Rule", "claimName": "branch", "claimValue": "oxford"}


@pytest.fixture(scope="module")
def client(server: Server) -> Iterator[httpx.Client]:
    with server.session() as client:
        yield client


@pytest.fixture
def name(client: httpx.Client) -> str:
    """That of a role, a group and a mapping rule which are there."""
    name = f"n{uuid4().hex[:12]}"
    client.post("/auth/v1/roles", json={"role": name, "permissions": ["history:read"]}).raise_for_status()
    client.post("/auth/v1/groups", json={"group": name}).raise_for_status()
    client.post("/v2/mapping-rules", json={"mappingRuleId": name, **RULE}).raise_for_status()
    user = {"username": name, "email": f"{name}@example.com", "password": "correct horse battery staple"}
    client.post("/v2/users", json=user).raise_for_status()
    return name


def entries(client: httpx.Client, **asked: str) -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = client.get(LOG, params=asked).raise_for_status().json()["items"]
    return items


def awaited(client: httpx.Client, request_id: str, **asked: str) -> dict[str, Any]:
    """The one entry of a refused request, which is written soon after the answer."""
    until = time.monotonic() + SECONDS
    while time.monotonic() < until:
        asked = {"result": "FAIL", "sortOrder": "DESC", **asked}
        found = [entry for entry in entries(client, **asked) if entry["requestId"] == request_id]
        if found:
            (entry,) = found
            return entry
        time.sleep(POLL_SECONDS)  # the server runs on the system's clock
    raise AssertionError(f"no entry for the request {request_id}")


def is_kept(server: Server, client: httpx.Client) -> bool:
    """Whether there is a log; where there is none, reading it says so."""
    if server.mode is not Mode.EMBEDDED:
        return True
    assert client.get(LOG).status_code == 501
    return False


MEMBERSHIPS = [
    ("roles/{name}/groups/{name}", "ROLE", "{name}", "GROUP", "{name}"),
    ("roles/{name}/mapping-rules/{name}", "ROLE", "{name}", "MAPPING_RULE", "{name}"),
    ("roles/{name}/clients/reader", "ROLE", "{name}", "CLIENT", "reader"),
    ("groups/{name}/mapping-rules/{name}", "GROUP", "{name}", "MAPPING_RULE", "{name}"),
    ("groups/{name}/clients/reader", "GROUP", "{name}", "CLIENT", "reader"),
    ("tenants/default/mapping-rules/{name}", "TENANT", "default", "MAPPING_RULE", "{name}"),
    ("tenants/default/groups/{name}", "TENANT", "default", "GROUP", "{name}"),
    ("tenants/default/roles/{name}", "TENANT", "default", "ROLE", "{name}"),
    ("roles/{name}/users/{name}", "ROLE", "{name}", "USER", "{name}"),
    ("groups/{name}/users/{name}", "GROUP", "{name}", "USER", "{name}"),
    ("tenants/other/users/{name}", "TENANT", "other", "USER", "{name}"),
    ("tenants/other/clients/reader", "TENANT", "other", "CLIENT", "reader"),
]


@pytest.mark.parametrize("membership", MEMBERSHIPS, ids=lambda membership: membership[0])
def test_a_membership_is_in_the_log_when_it_is_answered(
    server: Server, client: httpx.Client, name: str, membership: tuple[str, ...]
) -> None:
    path, entity_type, entity, related_type, related = [part.format(name=name) for part in membership]

    answers = [client.request(method, f"/v2/{path}") for method in ("PUT", "PUT", "DELETE", "DELETE")]

    assert [answer.status_code for answer in answers] == [204, 204, 204, 204]
    if not is_kept(server, client):
        return
    found = entries(client, entityType=entity_type, entityId=entity, result="SUCCESS")
    requests = [answer.headers["x-request-id"] for answer in answers]
    own = [entry for entry in found if entry["requestId"] in requests]
    assert [entry["requestId"] for entry in own] == requests
    assert [entry["operationType"] for entry in own] == ["ASSIGN", "ASSIGN", "UNASSIGN", "UNASSIGN"]
    for entry in own:
        assert entry["category"] == "ADMIN"
        assert (entry["actorType"], entry["actorId"], entry["tenantId"]) == ("CLIENT", "service", "default")
        assert (entry["relatedEntityType"], entry["relatedEntityId"]) == (related_type, related)
        assert (entry["entityKey"], entry["reason"], entry["detail"]) == (None, None, None)


def test_the_life_of_a_mapping_rule_is_in_the_log(server: Server, client: httpx.Client, name: str) -> None:
    path = f"/v2/mapping-rules/{name}"
    client.put(path, json=RULE).raise_for_status()
    client.delete(path).raise_for_status()

    if not is_kept(server, client):
        return
    found = entries(client, entityId=name, entityType="MAPPING_RULE")
    assert [entry["operationType"] for entry in found] == ["CREATE", "UPDATE", "DELETE"]
    assert {entry["result"] for entry in found} == {"SUCCESS"}
    assert {entry["relatedEntityType"] for entry in found} == {None}


ROLE, RULES, START = "/v2/roles/{name}/groups/{name}", "/v2/mapping-rules", "/v2/process-instances"
NOTHING, WRONG = "", (400, "INVALID_ARGUMENT")
REFUSED = [
    pytest.param(
        ("reader", "PUT", ROLE, NOTHING), (403, "PERMISSION_DENIED", "ASSIGN", "ROLE"), id="no permission"
    ),
    pytest.param(
        ("service", "PUT", "/v2/roles/nobody/groups/{name}", NOTHING),
        (404, "NOT_FOUND", "ASSIGN", "ROLE"),
        id="no such entity",
    ),
    pytest.param(
        ("service", "DELETE", "/v2/groups/{name}/clients/no", NOTHING),
        (404, "NOT_FOUND", "UNASSIGN", "GROUP"),
        id="no such member",
    ),
    pytest.param(
        ("service", "PUT", "/v2/tenants/{long}/roles/{name}", NOTHING),
        (*WRONG, "ASSIGN", "TENANT"),
        id="out of bounds",
    ),
    pytest.param(
        ("service", "POST", RULES, "{rule}"), (409, "ALREADY_EXISTS", "CREATE", "MAPPING_RULE"), id="conflict"
    ),
    pytest.param(("service", "POST", RULES, "{{"), (*WRONG, "CREATE", "MAPPING_RULE"), id="malformed change"),
    pytest.param(
        ("service", "PUT", RULES + "/{name}", '{{"colour":1}}'),
        (*WRONG, "UPDATE", "MAPPING_RULE"),
        id="unknown member of a change",
    ),
    pytest.param(
        ("service", "POST", START, "{{"), (*WRONG, "CREATE", "PROCESS_INSTANCE"), id="malformed command"
    ),
    pytest.param(
        ("service", "POST", START, '{{"processDefinitionId":"a","colour":1}}'),
        (*WRONG, "CREATE", "PROCESS_INSTANCE"),
        id="unknown member of a command",
    ),
    pytest.param(
        ("service", "POST", "/v2/jobs/77/failure", '{{"retries":"x"}}'),
        (*WRONG, "FAIL", "JOB"),
        id="wrong type in a command",
    ),
    pytest.param(
        ("reader", "POST", "/v2/jobs/77/failure", '{{"retries":"x"}}'),
        (403, "PERMISSION_DENIED", "FAIL", "JOB"),
        id="malformed command without permission",
    ),
]


@pytest.mark.parametrize(("asked", "expected"), REFUSED)
def test_what_is_refused_is_in_the_log(
    server: Server,
    client: httpx.Client,
    name: str,
    asked: tuple[str, str, str, str],
    expected: tuple[int, str, str, str],
) -> None:
    who, method, path, body = asked
    rule = f'{{"mappingRuleId":"{name}","name":"R","claimName":"a","claimValue":"b"}}'
    text = body.format(rule=rule)
    headers = {"content-type": "application/json"} if body else {}

    with server.session(who, **headers) as caller:
        answer = caller.request(method, path.format(name=name, long="t" * 257), content=text or None)

    assert answer.status_code == expected[0]
    if not is_kept(server, client):
        return
    entry = awaited(client, answer.headers["x-request-id"])
    assert (entry["reason"], entry["operationType"], entry["entityType"]) == expected[1:]
    assert (entry["actorId"], entry["tenantId"]) == (who, "default")
    assert entry["detail"] == answer.json()["detail"]


def test_a_request_that_is_refused_while_it_is_read_names_what_its_path_names(
    server: Server, client: httpx.Client, name: str
) -> None:
    headers = {"content-type": "application/json"}
    job = client.post("/v2/jobs/78/failure", content="{", headers=headers)
    rule = client.put(f"/v2/mapping-rules/{name}", content="{", headers=headers)

    if not is_kept(server, client):
        return
    assert awaited(client, job.headers["x-request-id"])["entityKey"] == "78"
    assert awaited(client, rule.headers["x-request-id"])["entityId"] == name


def test_another_tenant_sees_nothing_of_it(server: Server, client: httpx.Client, name: str) -> None:
    client.put(f"/v2/roles/{name}/groups/{name}").raise_for_status()
    refused = client.post("/v2/process-instances", content="{", headers={"content-type": "application/json"})

    if not is_kept(server, client):
        return
    awaited(client, refused.headers["x-request-id"])
    with server.session("stranger") as other:
        assert entries(other, entityId=name) == []
        assert refused.headers["x-request-id"] not in {entry["requestId"] for entry in entries(other)}


def test_a_caller_without_a_credential_that_holds_leaves_nothing(
    server: Server, client: httpx.Client
) -> None:
    forged = {"authorization": "Bearer forged", "content-type": "application/json"}
    answer = httpx.post(f"{server.http}/v2/process-instances", content="{", headers=forged)
    marker = client.post("/v2/process-instances", content="{", headers={"content-type": "application/json"})

    assert answer.status_code == 401
    if not is_kept(server, client):
        return
    awaited(client, marker.headers["x-request-id"])
    found = entries(client, result="FAIL", sortOrder="DESC")
    assert answer.headers["x-request-id"] not in {entry["requestId"] for entry in found}


def test_a_cursor_leads_through_entries_of_identity(server: Server, client: httpx.Client, name: str) -> None:
    for _ in range(2):
        client.put(f"/v2/roles/{name}/groups/{name}").raise_for_status()
        client.delete(f"/v2/roles/{name}/groups/{name}").raise_for_status()
    if not is_kept(server, client):
        return
    asked = {"entityId": name, "entityType": "ROLE"}

    whole = entries(client, **asked)
    found: list[dict[str, Any]] = []
    cursor: dict[str, str] = {}
    for _ in range(4):
        page = client.get(LOG, params={**asked, "limit": 1, **cursor}).raise_for_status().json()
        found += page["items"]
        cursor = {"cursor": page["cursor"]}

    assert (len(whole), found) == (4, whole)


def test_nobody_but_an_edge_reports_refusals(server: Server) -> None:
    async def reported() -> grpc.StatusCode:
        request = refusal_service_pb2.ReportRefusalRequest(
            rpc="/gnomon.engine.v1.JobService/FailJob", reason="NOT_FOUND", detail="invented"
        )
        metadata = (("authorization", f"Bearer {server.token()}"),)
        async with grpc.aio.insecure_channel(server.grpc) as channel:
            with pytest.raises(grpc.aio.AioRpcError) as failure:
                await RefusalServiceStub(channel).ReportRefusal(request, metadata=metadata)
        return failure.value.code()

    assert asyncio.run(reported()) is grpc.StatusCode.UNAUTHENTICATED
