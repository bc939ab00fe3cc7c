"""A tenant that is created again has nothing of the tenant that had its id before."""

import time
from typing import Any

import httpx

from server.bpmn.builder import process
from tests.end_to_end.servers import Server

# An id becomes free half a minute after the deletion at the earliest.
SECONDS = 90
POLL_SECONDS = 0.5
TENANT = "successor"
ORDER = (
    process("order").parallel_gateway("fork")
    .service_task("charge", type="charge").end()
    .branch("fork").timer_catch("wait", duration="PT1H").end()
    .branch("fork").message_catch("paid", message="paid", key="=id").end()
    .to_xml()
)  # fmt: skip
SEARCHES = (
    *("process-instances", "element-instances", "jobs", "variables", "incidents", "user-tasks"),
    *("process-definitions", "decision-definitions", "message-subscriptions", "cluster-variables"),
    "batch-operations",
)


def acting(server: Server, tenant_id: str) -> httpx.Client:
    return server.session(**{"x-tenant-id": tenant_id})


def create(client: httpx.Client, tenant_id: str = TENANT) -> httpx.Response:
    return client.post("/v2/tenants", json={"tenantId": tenant_id, "name": "Laboratory"})


def admit(client: httpx.Client) -> None:
    """Let the client of the deployment act in the tenant."""
    client.put(f"/v2/tenants/{TENANT}/clients/service").raise_for_status()


def use(client: httpx.Client) -> str:
    """Let the tenant have a process instance with a secret, a job, a timer, a message and a document."""
    file = {"resources": ("order.bpmn", ORDER)}
    client.post("/v2/deployments", files=file).raise_for_status()
    asked = {"processDefinitionId": "order", "variables": {"card": "secret", "id": "1"}}
    started = client.post("/v2/process-instances", json=asked).raise_for_status().json()
    message = {"name": "paid", "correlationKey": "2", "timeToLive": 3_600_000, "messageId": "m"}
    client.post("/v2/messages/publication", json=message).raise_for_status()
    client.post("/v2/documents", files={"file": ("terms.txt", b"terms")}).raise_for_status()
    return str(started["processInstanceKey"])


def found(client: httpx.Client) -> list[tuple[str, Any]]:
    pages = {name: client.post(f"/v2/{name}/search", json={}).raise_for_status().json() for name in SEARCHES}
    return [(name, item) for name, page in pages.items() for item in page["items"]]


def jobs(client: httpx.Client) -> list[Any]:
    asked = {"type": "charge", "timeout": 60_000, "maxJobsToActivate": 9, "requestTimeout": -1}
    activated: list[Any] = client.post("/v2/jobs/activation", json=asked).raise_for_status().json()["jobs"]
    return activated


def test_a_successor_sees_nothing_of_a_removed_tenant(server: Server) -> None:
    with acting(server, "default") as client, acting(server, TENANT) as lab:
        create(client).raise_for_status()
        admit(client)
        former = use(lab)
        assert {name for name, _ in found(lab)} >= {"process-instances", "variables", "jobs"}

        client.delete(f"/auth/v1/tenants/{TENANT}").raise_for_status()

        until = time.monotonic() + SECONDS
        while create(client).status_code == httpx.codes.CONFLICT:
            assert time.monotonic() < until
            time.sleep(POLL_SECONDS)  # the server runs on the system's clock
        admit(client)
        assert found(lab) == []
        assert jobs(lab) == []
        assert lab.get(f"/v2/process-instances/{former}").status_code == httpx.codes.NOT_FOUND
        again = use(lab)
        assert {item["version"] for name, item in found(lab) if name == "process-definitions"} == {1}
        assert [job["processInstanceKey"] for job in jobs(lab)] == [again]
        client.delete(f"/auth/v1/tenants/{TENANT}").raise_for_status()


def test_a_removal_is_shown_and_reserves_the_id(server: Server) -> None:
    with acting(server, "default") as client:
        create(client, "reserved").raise_for_status()

        client.delete("/auth/v1/tenants/reserved").raise_for_status()

        answer = create(client, "reserved")
        assert answer.status_code == httpx.codes.CONFLICT, answer.text
        shown = client.get("/auth/v1/tenants/reserved").raise_for_status().json()
        assert shown["enabled"] is False
        assert "started_at" in shown["removal"]
