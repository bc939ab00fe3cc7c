"""Access control: credentials, permissions and tenants."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager

import httpx
import pytest

from edge.contract import BodyForm, Route
from server.bpmn.builder import ad_hoc_sub_process, process
from tests.end_to_end.servers import MODES, PLAIN, Server, offered
from tests.server.engine.graphs import answering, graph_xml
from tests.server.engine.resource_files import rpa_json
from tests.waits import until_others


def each(wanted: Callable[[Route], object]) -> pytest.MarkDecorator:
    """Each wanted route, on a server of each mode that offers it."""
    pairs = [
        pytest.param(mode, route, id=f"{mode}-{route.method} {route.path}")
        for mode in MODES
        for route in offered(mode)
        if wanted(route)
    ]
    return pytest.mark.parametrize(("server", "route"), pairs, indirect=["server"])


class Callers:
    """A connection for each client that calls a server, and one for callers without a credential."""

    def __init__(self, open_until_the_end: ExitStack) -> None:
        self._open = open_until_the_end
        self._connections: dict[tuple[Server, str], httpx.Client] = {}

    def of(self, server: Server, client: str) -> httpx.Client:
        if (server, client) not in self._connections:
            opened = server.session(client) if client else httpx.Client(base_url=server.http, verify=PLAIN)
            self._connections[server, client] = self._open.enter_context(opened)
        return self._connections[server, client]


@pytest.fixture(scope="module")
def callers() -> Iterator[Callers]:
    with ExitStack() as opened:
        yield Callers(opened)


@pytest.fixture
def stranger(server: Server, callers: Callers) -> httpx.Client:
    return callers.of(server, "stranger")


@pytest.fixture
def reader(server: Server, callers: Callers) -> httpx.Client:
    return callers.of(server, "reader")


@pytest.fixture
def service(server: Server, callers: Callers) -> httpx.Client:
    return callers.of(server, "service")


@pytest.fixture
def anonymous(server: Server, callers: Callers) -> httpx.Client:
    return callers.of(server, "")


PASSWORD = "correct horse battery staple"
RULE = {"name": "Oxford", "claimName": "branch", "claimValue": "oxford"}


@pytest.fixture(scope="module")
def owned_by_mode() -> Iterator[Callable[[Server], dict[str, str]]]:
    """Make the entities once for each server: tests of the modes follow each other in any order."""
    found: dict[str, dict[str, str]] = {}
    with ExitStack() as made:

        def owned_by(server: Server) -> dict[str, str]:
            if server.mode not in found:
                found[server.mode] = made.enter_context(_one_of_every_kind(server))
            return found[server.mode]

        yield owned_by


@pytest.fixture
def owned(server: Server, owned_by_mode: Callable[[Server], dict[str, str]]) -> dict[str, str]:
    """One key of every kind that belongs to the default tenant."""
    return owned_by_mode(server)


@contextmanager
def _one_of_every_kind(server: Server) -> Iterator[dict[str, str]]:
    content = process("owned").start().service_task("task", type="fragile").end().to_xml()
    with server.session() as client:
        deployment = client.post("/v2/deployments", files={"resources": ("owned.bpmn", content)}).json()
        start = {"processDefinitionId": "owned", "variables": {"a": 1}}
        instance = client.post("/v2/process-instances", json=start).raise_for_status().json()
        request = {"type": "fragile", "timeout": 60_000, "maxJobsToActivate": 1}
        (job,) = client.post("/v2/jobs/activation", json=request).json()["jobs"]
        client.post(f"/v2/jobs/{job['jobKey']}/failure", json={}).raise_for_status()
        of_it = {"filter": {"processInstanceKey": instance["processInstanceKey"]}}
        (incident,) = client.post("/v2/incidents/search", json=of_it).json()["items"]
        (variable,) = client.post("/v2/variables/search", json=of_it).json()["items"]
        definition = deployment["deployments"][0]["processDefinition"]
        model = {"resources": ("pricing.dmn", graph_xml(answering("price", "1")))}
        graph, decision = client.post("/v2/deployments", files=model).raise_for_status().json()["deployments"]
        robot = {"resources": ("robot.rpa", rpa_json())}
        (resource,) = client.post("/v2/deployments", files=robot).raise_for_status().json()["deployments"]
        asked = {"decisionDefinitionId": "price"}
        evaluation = client.post("/v2/decision-definitions/evaluation", json=asked).raise_for_status().json()
        (evaluated,) = evaluation["evaluatedDecisions"]
        model = {"resources": ("asked.bpmn", process("asked").start().user_task("ask").end().to_xml())}
        client.post("/v2/deployments", files=model).raise_for_status()
        asking = client.post(
            "/v2/process-instances", json={"processDefinitionId": "asked"}
        ).raise_for_status()
        of_it = {"filter": {"processInstanceKey": asking.json()["processInstanceKey"]}}
        (user_task,) = client.post("/v2/user-tasks/search", json=of_it).json()["items"]
        care = process("caring").start().embed_ad_hoc(ad_hoc_sub_process("care").task("feed")).end()
        client.post("/v2/deployments", files={"resources": ("caring.bpmn", care.to_xml())}).raise_for_status()
        client.post("/v2/process-instances", json={"processDefinitionId": "caring"}).raise_for_status()
        of_it = {"filter": {"elementId": "care"}}
        (caring, *_) = client.post("/v2/element-instances/search", json=of_it).json()["items"]
        timed = process("timed").start().timer_catch("delay", duration="PT1H").end()
        client.post("/v2/deployments", files={"resources": ("timed.bpmn", timed.to_xml())}).raise_for_status()
        start = {"processDefinitionId": "timed", "tags": ["console-test-run"]}
        run = client.post("/v2/process-instances", json=start).raise_for_status().json()
        # Only embedded mode lists timers.
        of_run = client.get(f"/api/v1/console/process-instances/{run['processInstanceKey']}/timers")
        timers = of_run.json()["timers"] if of_run.is_success else [{"timerKey": "1"}]
        _have(client, "/auth/v1/roles", {"role": "owned"})
        _have(client, "/auth/v1/groups", {"group": "owned"})
        _have(client, "/v2/users", {"username": "owned", "email": "owned@example.com", "password": PASSWORD})
        _have(client, "/v2/mapping-rules", {"mappingRuleId": "owned", **RULE})
        filter_ = {"filter": {"processDefinitionId": "none"}}
        batch = client.post("/v2/process-instances/cancellation", json=filter_).raise_for_status().json()
        _have(client, "/v2/cluster-variables/tenants/default", {"name": "owned", "value": 1})
        _have(client, "/v2/global-task-listeners", {"id": "owned", **LISTENER})
        authorization = client.post("/v2/authorizations", json=AUTHORIZATION).raise_for_status().json()
        client.post("/v2/documents?documentId=owned", files={"file": ("a.txt", b"a")})
        user = client.get("/auth/v1/users/email/owned@example.com").raise_for_status().json()
        of_tenant = client.post("/v2/audit-logs/search")
        logs = of_tenant.json()["items"] if of_tenant.is_success else [{"auditLogKey": "1"}]
        yield {
            "name": "owned",
            "document_id": "owned",
            "audit_log_key": logs[0]["auditLogKey"],
            "id": "owned",
            "batch_operation_key": batch["batchOperationKey"],
            "role_id": "owned",
            "resource_key": resource["resource"]["resourceKey"],
            "group_id": "owned",
            "mapping_rule_id": "owned",
            "client_id": "reader",
            "username": "owned",
            "user_id": user["id"],
            "tenant_id": "default",
            "decision_requirements_key": graph["decisionRequirements"]["decisionRequirementsKey"],
            "decision_definition_key": decision["decisionDefinition"]["decisionDefinitionKey"],
            "decision_evaluation_key": evaluation["decisionEvaluationKey"],
            "decision_evaluation_instance_key": evaluated["decisionEvaluationInstanceKey"],
            "process_definition_key": definition["processDefinitionKey"],
            "process_instance_key": instance["processInstanceKey"],
            "element_instance_key": job["elementInstanceKey"],
            "ad_hoc_sub_process_instance_key": caring["elementInstanceKey"],
            "job_key": job["jobKey"],
            "user_task_key": user_task["userTaskKey"],
            "incident_key": incident["incidentKey"],
            "variable_key": variable["variableKey"],
            "authorization_key": authorization["authorizationKey"],
            "timer_key": timers[0]["timerKey"],
        }
        client.delete("/v2/global-task-listeners/owned").raise_for_status()


def _have(client: httpx.Client, path: str, body: object) -> None:
    """Make what other tests may have made before."""
    assert client.post(path, json=body).status_code in {200, 201, 409}


LISTENER = {"type": "watch", "eventTypes": ["canceling"]}
MIGRATION = {
    "targetProcessDefinitionKey": "1",
    "mappingInstructions": [{"sourceElementId": "task", "targetElementId": "task"}],
}
AUTHORIZATION = {
    "ownerId": "admin",
    "ownerType": "ROLE",
    "resourceId": "owned",
    "resourceType": "GROUP",
    "permissionTypes": ["READ"],
}
MOVE = {"sourceElementId": "task", "targetElementId": "task"}
BODIES = {
    "CreateGlobalTaskListener": {"id": "another", **LISTENER},
    "UpdateGlobalTaskListener": LISTENER,
    "CreateGlobalClusterVariable": {"name": "another", "value": 1},
    "CreateTenantClusterVariable": {"name": "another", "value": 1},
    "UpdateGlobalClusterVariable": {"value": 2},
    "UpdateTenantClusterVariable": {"value": 2},
    "MigrateProcessInstance": MIGRATION,
    "AcceptMigration": MIGRATION,
    "ModifyProcessInstance": {"terminateInstructions": [{"elementId": "task"}]},
    "ThrowJobError": {"errorCode": "x"},
    "UpdateJob": {"changeset": {"retries": 1}},
    "CreateProcessInstance": {"processDefinitionId": "owned"},
    "EvaluateDecision": {"decisionDefinitionId": "price"},
    "EvaluateExpression": {"expression": "1"},
    "ActivateJobs": {"type": "x", "timeout": 1, "maxJobsToActivate": 1, "requestTimeout": -1},
    "PinClock": {"timestamp": 1},
    "CreateElementInstanceVariables": {"variables": {"a": 2}},
    "AssignUserTask": {"assignee": "ada"},
    "UpdateUserTask": {"changeset": {"priority": 1}},
    "BroadcastSignal": {"signalName": "x"},
    "CancelProcessInstancesBatchOperation": {"filter": {"processDefinitionId": "none"}},
    "ResolveIncidentsBatchOperation": {"filter": {"processDefinitionId": "none"}},
    "DeleteDecisionInstancesBatchOperation": {"filter": {"decisionDefinitionId": "none"}},
    "DeleteProcessInstancesBatchOperation": {"filter": {"processDefinitionId": "none"}},
    "EraseVariablesBatchOperation": {"filter": {"processDefinitionId": "none"}},
    "PreviewBatchOperation": {
        "batchOperationType": "CANCEL_PROCESS_INSTANCE",
        "filter": {"processDefinitionId": "none"},
    },
    "MigrateProcessInstancesBatchOperation": {
        "filter": {"processDefinitionId": "none"},
        "migrationPlan": MIGRATION,
    },
    "ModifyProcessInstancesBatchOperation": {
        "filter": {"processDefinitionId": "none"},
        "moveInstructions": [MOVE],
    },
    "EvaluateConditionals": {"variables": {}},
    "ActivateAdHocSubProcessActivities": {"elements": [{"elementId": "feed"}]},
    "CreateGroup": {"groupId": "another", "name": "Another"},
    "UpdateGroup": {"name": "Another"},
    "CreateRole": {"roleId": "another", "name": "Another"},
    "UpdateRole": {"name": "Another"},
    "CreateUser": {"username": "another@example.com", "password": PASSWORD},
    "UpdateUser": {"name": "Another"},
    "CreateTenant": {"tenantId": "another", "name": "Another"},
    "UpdateTenant": {"name": "Another"},
    "CreateAuthorization": AUTHORIZATION,
    "UpdateAuthorization": AUTHORIZATION,
    "CreateMappingRule": {"mappingRuleId": "another", **RULE},
    "UpdateMappingRule": RULE,
}


FORMS = {
    "CreateDocument": {"file": ("a.txt", b"a")},
    "CreateDocuments": {"files": ("a.txt", b"a")},
}


def _call(client: httpx.Client, route: Route, keys: dict[str, str]) -> httpx.Response:
    path = route.path.format_map(keys)
    if route.policy.name == "CreateDeployment":
        return client.post(path, files={"resources": ("a.bpmn", process("a").start().end().to_xml())})
    if route.policy.name in FORMS:
        return client.post(path, files=FORMS[route.policy.name])
    body = BODIES.get(route.policy.name, {}) if route.method not in ("GET", "DELETE") else None
    return client.request(route.method, path, json=body)


def _names_a_tenant(route: Route) -> bool:
    return "{tenant_id}" in route.path


def _changes_all_tenants(route: Route) -> bool:
    return "cluster-variables/global" in route.path and route.method != "GET"


@each(lambda r: "{" in r.path and not _names_a_tenant(r) and not _changes_all_tenants(r))
def test_what_another_tenant_owns_does_not_exist(
    stranger: httpx.Client, owned: dict[str, str], route: Route
) -> None:
    answer = _call(stranger, route, owned)

    assert answer.status_code == 404
    assert answer.json()["type"] == "urn:bpm:error:not-found"


@each(lambda route: _names_a_tenant(route) or _changes_all_tenants(route))
def test_a_tenant_that_is_not_the_callers_is_forbidden(
    stranger: httpx.Client, owned: dict[str, str], route: Route
) -> None:
    answer = _call(stranger, route, owned)

    assert answer.status_code == 403
    assert answer.json()["type"] == "urn:bpm:error:forbidden"


@each(lambda _: True)
def test_a_call_without_a_credential_is_unauthorized(
    anonymous: httpx.Client, owned: dict[str, str], route: Route
) -> None:
    answer = _call(anonymous, route, owned)

    assert answer.status_code == 401
    assert answer.headers["www-authenticate"].startswith("Bearer")
    assert answer.json()["type"] == "urn:bpm:error:unauthorized"


@each(lambda route: route.policy.permission not in ("", "history:read"))
def test_a_call_without_its_permission_is_forbidden(
    reader: httpx.Client, owned: dict[str, str], route: Route
) -> None:
    answer = _call(reader, route, owned)

    assert answer.status_code == 403
    assert route.policy.permission in answer.json()["detail"]


def _has_body(route: Route) -> bool:
    return route.body is not BodyForm.NONE


def _call_with_malformed_body(
    client: httpx.Client, route: Route, keys: dict[str, str], content: bytes = b"{"
) -> httpx.Response:
    headers = {"content-type": "application/json"}
    return client.request(route.method, route.path.format_map(keys), content=content, headers=headers)


@each(_has_body)
def test_a_malformed_body_without_a_credential_is_unauthorized(
    anonymous: httpx.Client, owned: dict[str, str], route: Route
) -> None:
    answer = _call_with_malformed_body(anonymous, route, owned)

    assert answer.status_code == 401
    assert answer.headers["www-authenticate"].startswith("Bearer")


@each(lambda route: _has_body(route) and route.policy.permission not in ("", "history:read"))
def test_a_malformed_body_without_the_permission_is_forbidden(
    reader: httpx.Client, owned: dict[str, str], route: Route
) -> None:
    answer = _call_with_malformed_body(reader, route, owned)

    assert answer.status_code == 403
    assert route.policy.permission in answer.json()["detail"]


@each(_has_body)
def test_a_malformed_body_with_the_permission_is_malformed(
    service: httpx.Client, owned: dict[str, str], route: Route
) -> None:
    answer = _call_with_malformed_body(service, route, owned)

    assert answer.status_code == 400
    assert answer.json()["type"] == "urn:bpm:error:invalid-argument"


@pytest.mark.parametrize("content", [b"[" * 100_000, b"\xff", b'{"a":1}', b" " * (5 << 20)], ids=len)
def test_no_body_comes_before_the_permission(server: Server, content: bytes) -> None:
    headers = {"content-type": "application/json"}
    with server.session("reader") as client:
        answer = client.post("/v2/process-instances", content=content, headers=headers)
        query = client.post("/v2/documents?unknown=1", content=content)
        key = client.post("/v2/jobs/0042/failure", content=content, headers=headers)

    assert [answer.status_code, query.status_code, key.status_code] == [403, 403, 403]
    assert key.json()["detail"] == "POST /v2/jobs/{jobKey}/failure needs permission 'job:work'"


def test_a_malformed_body_for_a_foreign_tenant_is_forbidden(server: Server) -> None:
    with server.session(**{"x-tenant-id": "other"}) as client:
        answer = client.post(SEARCH, content="{", headers={"content-type": "application/json"})

    assert answer.status_code == 403


def test_an_authorization_for_one_resource_admits_a_body_that_names_none(server: Server) -> None:
    """The body may have named the resource: only callers that no body would admit are forbidden."""
    granted = {
        "ownerId": "reader",
        "ownerType": "CLIENT",
        "resourceId": "owned",
        "resourceType": "PROCESS_DEFINITION",
        "permissionTypes": ["CREATE_PROCESS_INSTANCE"],
    }
    headers = {"content-type": "application/json"}
    with server.session() as client, server.session("reader") as reader:

        def status_of(path: str) -> int:
            return reader.post(path, content="{", headers=headers).status_code

        made = client.post("/v2/authorizations", json=granted).raise_for_status().json()
        until_others(lambda: status_of("/v2/process-instances") == 400)
        assert status_of("/v2/jobs/activation") == 403
        client.delete(f"/v2/authorizations/{made['authorizationKey']}").raise_for_status()
        until_others(lambda: status_of("/v2/process-instances") == 403)


@pytest.mark.parametrize("credential", ["Bearer nonsense", "Basic ZGVtbzpkZW1v", "bearer"])
def test_a_credential_that_is_no_token_of_ours_is_unauthorized(server: Server, credential: str) -> None:
    answer = httpx.get(f"{server.http}/v2/topology", headers={"authorization": credential})

    assert answer.status_code == 401


SEARCH = "/v2/process-instances/search"


def test_a_principal_of_one_tenant_may_leave_the_tenant_out(server: Server) -> None:
    with server.session() as client:
        assert client.post(SEARCH, json={}).status_code == 200


def test_a_principal_of_one_tenant_may_name_it(server: Server) -> None:
    with server.session(**{"x-tenant-id": "default"}) as client:
        assert client.post(SEARCH, json={}).status_code == 200


def test_a_principal_may_not_name_a_tenant_that_is_not_its_own(server: Server) -> None:
    with server.session(**{"x-tenant-id": "other"}) as client:
        assert client.post(SEARCH, json={}).status_code == 403


def test_a_principal_of_several_tenants_has_to_name_one(server: Server) -> None:
    with server.session("traveller") as client:
        assert client.post(SEARCH, json={}).status_code == 400


def test_a_principal_of_several_tenants_sees_the_one_that_it_names(
    server: Server, owned: dict[str, str]
) -> None:
    path = f"/v2/process-instances/{owned['process_instance_key']}"
    with server.session("traveller") as client:
        here = client.get(path, headers={"x-tenant-id": "default"})
        there = client.get(path, headers={"x-tenant-id": "other"})

    assert (here.status_code, there.status_code) == (200, 404)


def test_a_body_may_not_name_another_tenant(server: Server) -> None:
    with server.session() as client:
        body = {"processDefinitionId": "owned", "tenantId": "other"}
        answer = client.post("/v2/process-instances", json=body)

    assert answer.status_code == 403


def test_an_empty_tenant_header_is_malformed(server: Server) -> None:
    with server.session(**{"x-tenant-id": ""}) as client:
        assert client.post(SEARCH, json={}).status_code == 400


@pytest.mark.parametrize(
    "path", ["/v2/status", "/v2/topology", "/nothing", "/auth/v1/", "/auth/v1/oidc/certs"]
)
def test_no_answer_says_what_the_server_is_built_with(server: Server, path: str) -> None:
    answer = httpx.get(f"{server.http}{path}")

    assert answer.headers["server"] == "gnomon"
