"""Camunda's clients send every list of a request, also an empty one, and mean that nothing was given."""

from collections.abc import Iterator

import httpx
import pytest

from server.bpmn.builder import process
from tests.end_to_end.servers import Server

PROCESS = "lists"
MODEL = process(PROCESS).start().service_task("task", type="lists").end().to_xml()
NOTHING = {"$in": [], "$notIn": []}


@pytest.fixture(scope="module")
def client(server: Server) -> Iterator[httpx.Client]:
    with server.session() as client:
        client.post("/v2/deployments", files={"resources": ("lists.bpmn", MODEL)}).raise_for_status()
        client.post("/v2/process-instances", json={"processDefinitionId": PROCESS}).raise_for_status()
        yield client


@pytest.mark.parametrize(
    ("resource", "filter_"),
    [
        ("process-instances", {"processInstanceKey": NOTHING, "startDate": NOTHING, "state": NOTHING}),
        ("process-instances", {"processDefinitionVersion": NOTHING, "tags": []}),
        ("jobs", {"type": NOTHING, "state": NOTHING, "kind": NOTHING, "listenerEventType": NOTHING}),
        ("element-instances", {"state": NOTHING, "type": NOTHING}),
        ("incidents", {"state": NOTHING, "errorType": NOTHING, "tags": [], "excludedTags": []}),
        ("decision-instances", {"state": NOTHING, "decisionDefinitionType": NOTHING}),
    ],
    ids=str,
)
def test_a_filter_of_empty_lists_keeps_every_row(
    client: httpx.Client, resource: str, filter_: dict[str, object]
) -> None:
    everything = client.post(f"/v2/{resource}/search", json={})

    answer = client.post(f"/v2/{resource}/search", json={"filter": filter_, "sort": []})

    assert (answer.status_code, answer.json()["items"]) == (200, everything.json()["items"])


@pytest.fixture
def instance(client: httpx.Client) -> dict[str, str]:
    """A process instance that was created with every list that its request knows, empty."""
    nothing = {"startInstructions": [], "runtimeInstructions": [], "fetchVariables": [], "tags": []}
    answer = client.post("/v2/process-instances", json={"processDefinitionId": PROCESS, **nothing})
    created: dict[str, str] = answer.raise_for_status().json()
    return created


@pytest.mark.parametrize("result", [None, {}, {"corrections": None, "activateElements": []}], ids=str)
def test_a_job_is_completed_with_a_result_that_says_nothing(
    client: httpx.Client, instance: dict[str, str], result: dict[str, object] | None
) -> None:
    filter_ = {"filter": {"processInstanceKey": instance["processInstanceKey"]}}
    (job,) = client.post("/v2/jobs/search", json=filter_).json()["items"]
    request = {"type": "lists", "timeout": 60_000, "maxJobsToActivate": 100, "fetchVariable": []}
    client.post("/v2/jobs/activation", json=request).raise_for_status()

    answer = client.post(f"/v2/jobs/{job['jobKey']}/completion", json={"variables": None, "result": result})

    assert answer.status_code == 204


def test_a_migration_without_instructions_fails_for_the_active_element_alone(
    client: httpx.Client, instance: dict[str, str]
) -> None:
    key, target = instance["processInstanceKey"], instance["processDefinitionKey"]
    plan = {"targetProcessDefinitionKey": target, "mappingInstructions": []}

    answer = client.post(f"/v2/process-instances/{key}/migration", json=plan)

    assert answer.status_code == 409
    assert answer.json()["detail"].endswith("there is no mapping instruction for active element 'task'")


def test_an_empty_list_leaves_the_other_operators_of_its_field(client: httpx.Client) -> None:
    filter_ = {"processDefinitionId": {"$neq": PROCESS, "$in": []}}

    answer = client.post("/v2/process-instances/search", json={"filter": filter_})

    found = {item["processDefinitionId"] for item in answer.raise_for_status().json()["items"]}
    assert PROCESS not in found
