"""One exchange for every operation, as it goes over the wire: `make golden` rewrites them, reviewed as a diff.

A fresh server gives the same keys in every run. In embedded mode its clock is pinned; elsewhere, where only the keys are
the same, times, cursors and request ids read as `MASKED` has them. `exchanges/` is what embedded mode says, `exchanges/bundled/`
what bundled mode says otherwise.
"""

import json
import os
import re
from collections.abc import Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any

import httpx
import pytest

from edge.contract import routes
from server.bpmn.builder import ad_hoc_sub_process, process
from server.platform.policy import Mode
from tests.end_to_end.conftest import started
from tests.end_to_end.servers import MODES, ROOT, Server
from tests.server.engine.resource_files import rpa_json
from tests.waits import until_others

FOLDER = Path(__file__).parent / "exchanges"
IS_REWRITTEN = os.environ.get("GNOMON_GOLDEN") == "rewrite"

# So that the keys of every run are the same, and the first administrator is not there yet.
ENVIRONMENT_OF_THE_SCENE = {"GNOMON_CLUSTER__PARTITIONS": "1", "GNOMON_BOOTSTRAP__ADMIN_SETUP": "true"}
MIDNIGHT = 1_767_225_600_000  # 2026-01-01T00:00:00Z
ORDER = (
    process("order", name="Order").start().service_task("charge", type="charge", name="Charge").end().to_xml()
)

PAYMENT = (
    process("order", name="Order")
    .start()
    .service_task("pay", type="pay", name="Pay")
    .service_task("ship", type="ship")
    .end()
    .to_xml()
)

REVIEW = (
    process("review")
    .start()
    .user_task(
        "check",
        name="Check",
        assignment={"candidateGroups": "sales,legal"},
        schedule={"dueDate": "2026-01-31T00:00:00Z"},
        form={"externalReference": "forms/check"},
        headers={"screen": "wide"},
        inputs={"b": "=a + 1"},
    )
    .end()
    .to_xml()
)

CARE = (
    process("care")
    .start()
    .embed_ad_hoc(
        ad_hoc_sub_process("caring")
        .service_task("feed", type="feed")
        .apart()
        .service_task("wash", type="wash"),
        output="=food",
        outputs_to="fed",
    )
    .job_worker(type="care")
    .end()
    .to_xml()
)

REMINDER = process("reminder", name="Reminder").start().timer_catch("wait", duration="P1D").end().to_xml()

COUNTED = process("counted", name="Counted").start().service_task("count", type="count").end().to_xml()

# A move of all of these takes far longer than a few requests: each evaluates an input mapping for milliseconds.
MANY = 1_000
CROWD = (
    process("crowd")
    .start()
    .call_activity("each", process="member")
    .multi_instance(f"=for number in 1..{MANY} return number")
    .end()
    .to_xml()
)
MEMBER = (
    process("member")
    .start()
    .service_task("wait", type="wait")
    .service_task("go", type="go", inputs={"sum": "=sum(for number in 1..5000 return number * number)"})
    .end()
    .to_xml()
)

ADDRESS = b'{"id": "address", "type": "default", "components": [{"key": "street", "type": "textfield"}]}'

PRICING = (ROOT / "examples" / "pricing.dmn").read_bytes()

pytestmark = pytest.mark.golden


class Scene:
    """Plays one step after the other and keeps what was said."""

    def __init__(self, server: Server, client: httpx.Client) -> None:
        self.exchanges: dict[str, str] = {}
        self._server = server
        self._client = client

    def play(self, name: str, method: str, path: str, body: object = None, **options: Any) -> Any:
        answer = self._client.request(method, path, json=body, **options)
        request = f"{method} {path}" if body is None else f"{method} {path}\n\n{_pretty(body)}"
        text = f"{request}\n\n{answer.status_code}\n{_headers(answer)}\n{_document(answer)}".rstrip()
        self.exchanges[name] = f"{self._without_ports(text)}\n"
        is_json = "json" in answer.headers.get("content-type", "")
        return answer.json() if is_json else answer.text

    def prepare(self, method: str, path: str, body: object = None, **options: Any) -> httpx.Response:
        """Do what is no part of the scene."""
        return self._client.request(method, path, json=body, **options).raise_for_status()

    def wait_for(self, total: int, path: str, body: object) -> None:
        """Return when a search finds this number; what it finds grows in the background."""

        def found() -> int:
            answer = self._client.post(path, json=body).raise_for_status()
            return int(answer.json()["page"]["totalItems"])

        until_others(lambda: found() == total)

    def _without_ports(self, text: str) -> str:
        """As it reads on the usual ports; digits elsewhere, as in keys, stay as they are."""
        for address, usual in ((self._server.http, "8080"), (self._server.grpc, "26500")):
            host, _, port = address.removeprefix("http://").rpartition(":")
            text = text.replace(f"{host}:{port}", f"{host}:{usual}")
        text = re.sub(r"document-links/[\w-]{75}", "document-links/token", text)
        text = re.sub(r'"documentId": "[0-9a-f]{32}"', '"documentId": "d-1"', text)
        if "authorizationKey" in text:
            text = re.sub(r'(Cursor": ")[^"]+', r"\g<1>cursor", text)
        text = re.sub(r'("authorizationKey": "|/v2/authorizations/)\d+', r"\g<1>1", text)
        return re.sub(r'"port": \d+', '"port": 26500', text)


def _headers(answer: httpx.Response) -> str:
    shown = (
        *("content-type", "content-disposition", "content-range"),
        *("www-authenticate", "allow", "location"),
    )
    return "".join(f"{name}: {answer.headers[name]}\n" for name in shown if name in answer.headers)


def _document(answer: httpx.Response) -> str:
    return _pretty(answer.json()) if "json" in answer.headers.get("content-type", "") else answer.text


def _pretty(document: object) -> str:
    return json.dumps(document, indent=2, ensure_ascii=False)


def _play(scene: Scene) -> None:
    scene.play("status", "GET", "/v2/status")
    scene.play("topology", "GET", "/v2/topology")
    scene.play("get-license", "GET", "/v2/license")
    scene.play("get-system-configuration", "GET", "/v2/system/configuration")
    scene.play("pin-clock", "PUT", "/v2/clock", {"timestamp": MIDNIGHT})
    files = {"resources": ("order.bpmn", ORDER)}
    deployed = scene.play("create-deployment", "POST", "/v2/deployments", files=files)
    definition = deployed["deployments"][0]["processDefinition"]["processDefinitionKey"]
    scene.play("search-process-definitions", "POST", "/v2/process-definitions/search", {})
    scene.play("get-process-definition", "GET", f"/v2/process-definitions/{definition}")
    scene.play("get-process-definition-xml", "GET", f"/v2/process-definitions/{definition}/xml")
    _play_an_incident(scene)
    _play_an_error(scene)
    _play_a_migration(scene)
    _play_operations(scene)
    _play_history(scene, definition)
    _play_refusals(scene)
    _play_decisions(scene)
    _play_a_user_task(scene)
    _play_the_directory(scene)
    _play_messages(scene)
    _play_a_modification(scene)
    _play_an_ad_hoc_sub_process(scene)
    _play_a_deletion(scene)
    _play_conditions(scene)
    _play_forms(scene)
    _play_batch_operations(scene)
    _play_cluster_variables(scene)
    _play_global_task_listeners(scene)
    _play_a_deletion_of_history(scene)
    _play_generic_resources(scene)
    _play_a_deletion_with_history(scene)
    _play_statistics(scene)
    _play_documents(scene)
    _play_a_resolution(scene)
    _play_timers(scene)
    _play_an_erasure(scene)
    _play_a_long_batch_operation(scene)
    scene.play("reset-clock", "POST", "/v2/clock/reset")
    scene.play("discovery", "GET", "/.well-known/openid-configuration")


def _play_an_incident(scene: Scene) -> None:
    start = {
        "processDefinitionId": "order",
        "variables": {"total": 120},
        "tags": ["test"],
        "businessId": "b-1",
    }
    instance = scene.play("create-process-instance", "POST", "/v2/process-instances", start)
    key = instance["processInstanceKey"]
    (job,) = scene.play("activate-jobs", "POST", "/v2/jobs/activation", _activation())["jobs"]
    path = f"/v2/jobs/{job['jobKey']}"
    scene.play("fail-job", "POST", f"{path}/failure", {"errorMessage": "declined", "variables": {"code": 51}})
    found = scene.play("search-incidents", "POST", "/v2/incidents/search", {"filter": {"state": "ACTIVE"}})
    incident = found["items"][0]["incidentKey"]
    scene.play(
        "search-process-instance-incidents", "POST", f"/v2/process-instances/{key}/incidents/search", {}
    )
    scene.play("get-incident", "GET", f"/v2/incidents/{incident}")
    scene.play("resolve-incident-without-retries", "POST", f"/v2/incidents/{incident}/resolution", {})
    set_ = {"variables": {"total": 120}}
    scene.play("create-element-instance-variables", "PUT", f"/v2/element-instances/{key}/variables", set_)
    scene.play("refused-scope", "PUT", "/v2/element-instances/42/variables", set_)
    scene.play("update-job", "PATCH", path, {"changeset": {"retries": 1}})
    scene.play("resolve-incident", "POST", f"/v2/incidents/{incident}/resolution", {})
    scene.play("activate-jobs-again", "POST", "/v2/jobs/activation", _activation())
    scene.play("complete-job", "POST", f"{path}/completion", {"variables": {"paid": True}})
    scene.play("search-jobs", "POST", "/v2/jobs/search", {"filter": {"state": "COMPLETED"}})
    scene.play("get-process-instance", "GET", f"/v2/process-instances/{key}")
    scene.play("get-call-hierarchy", "GET", f"/v2/process-instances/{key}/call-hierarchy")
    failed = {"elementId": "charge", "variables": [{"name": "total", "value": {"$eq": "120"}}]}
    either = {"filter": {"processDefinitionId": {"$in": []}, "$or": [{"hasIncident": True}, failed]}}
    scene.play("search-process-instances-by-alternatives", "POST", "/v2/process-instances/search", either)
    sorted_ = {"sort": [{"field": "elementId", "order": "DESC"}], "page": {"limit": 2}}
    elements = scene.play("search-element-instances", "POST", "/v2/element-instances/search", sorted_)
    element = elements["items"][0]["elementInstanceKey"]
    scene.play("get-element-instance", "GET", f"/v2/element-instances/{element}")
    named = {"filter": {"name": {"$like": "t*"}}}
    variables = scene.play("search-variables", "POST", "/v2/variables/search", named)
    scene.play("get-variable", "GET", f"/v2/variables/{variables['items'][0]['variableKey']}")


def _play_an_error(scene: Scene) -> None:
    start = {"processDefinitionId": "order"}
    instance = scene.play("create-process-instance-by-id", "POST", "/v2/process-instances", start)
    (job,) = scene.play("activate-jobs-for-an-error", "POST", "/v2/jobs/activation", _activation())["jobs"]
    scene.play("throw-job-error", "POST", f"/v2/jobs/{job['jobKey']}/error", {"errorCode": "declined"})
    path = f"/v2/process-instances/{instance['processInstanceKey']}/cancellation"
    scene.play("cancel-process-instance", "POST", path, {})
    ended = {"filter": {"state": {"$in": ["COMPLETED", "TERMINATED"]}}}
    scene.play("search-process-instances", "POST", "/v2/process-instances/search", ended)


def _play_a_migration(scene: Scene) -> None:
    start = {"processDefinitionId": "order"}
    instance = scene.play("create-process-instance-to-migrate", "POST", "/v2/process-instances", start)
    files = {"resources": ("order.bpmn", PAYMENT)}
    deployed = scene.play("create-deployment-of-a-version", "POST", "/v2/deployments", files=files)
    target = deployed["deployments"][0]["processDefinition"]["processDefinitionKey"]
    path = f"/v2/process-instances/{instance['processInstanceKey']}/migration"
    scene.play("refused-mapping", "POST", path, _migration(target, charge="nothing"))
    scene.play("migrate-process-instance", "POST", path, _migration(target, charge="pay"))
    scene.play("activate-jobs-after-a-migration", "POST", "/v2/jobs/activation", _activation())


def _migration(target: str, **mapping: str) -> dict[str, object]:
    pairs = [{"sourceElementId": source, "targetElementId": name} for source, name in mapping.items()]
    return {"targetProcessDefinitionKey": target, "mappingInstructions": pairs}


def _play_a_user_task(scene: Scene) -> None:
    scene.prepare("POST", "/v2/deployments", files={"resources": ("review.bpmn", REVIEW)})
    scene.prepare("POST", "/v2/process-instances", {"processDefinitionId": "review", "variables": {"a": 1}})
    wanted = {"filter": {"candidateGroup": "sales"}, "sort": [{"field": "priority", "order": "DESC"}]}
    found = scene.play("search-user-tasks", "POST", "/v2/user-tasks/search", wanted)
    path = f"/v2/user-tasks/{found['items'][0]['userTaskKey']}"
    claim = {"assignee": "ann", "allowOverride": False}
    scene.play("assign-user-task", "POST", f"{path}/assignment", claim)
    scene.play("refused-assignment", "POST", f"{path}/assignment", claim | {"assignee": "bob"})
    scene.play("unassign-user-task", "DELETE", f"{path}/assignee")
    changes = {"dueDate": "", "followUpDate": "2026-02-01T00:00:00Z", "candidateUsers": ["ann", "bob"]}
    scene.play("update-user-task", "PATCH", path, {"changeset": changes | {"priority": 90}})
    scene.play("get-user-task", "GET", path)
    scene.play("search-user-task-variables", "POST", f"{path}/variables/search", {})
    effective = f"{path}/effective-variables/search"
    scene.play("search-user-task-effective-variables", "POST", effective, {"sort": [{"field": "name"}]})
    scene.play("complete-user-task", "POST", f"{path}/completion", {"variables": {"approved": True}})
    ended = {"candidateGroup": "sales", "state": "COMPLETED"}
    scene.play("list-user-tasks", "POST", "/api/v1/user-tasks/search", ended)
    changed = {"filter": {"operationType": {"$neq": "CREATE"}}}
    scene.play("search-user-task-audit-logs", "POST", f"{path}/audit-logs/search", changed)


def _play_an_ad_hoc_sub_process(scene: Scene) -> None:
    scene.prepare("POST", "/v2/deployments", files={"resources": ("care.bpmn", CARE)})
    scene.prepare("POST", "/v2/process-instances", {"processDefinitionId": "care"})
    request = {"type": "care", "worker": "ada", "timeout": 60_000, "maxJobsToActivate": 1}
    (job,) = scene.play("activate-jobs-of-an-ad-hoc-sub-process", "POST", "/v2/jobs/activation", request)[
        "jobs"
    ]
    path = f"/v2/element-instances/ad-hoc-activities/{job['elementInstanceKey']}/activation"
    feeding = {"elementId": "feed", "variables": {"food": "fish"}}
    scene.play("activate-ad-hoc-sub-process-activities", "POST", path, {"elements": [feeding]})
    scene.play("refused-activity", "POST", path, {"elements": [{"elementId": "fly"}]})
    result = {"type": "adHocSubProcess", "activateElements": [{"elementId": "wash"}]}
    decided = {"result": result | {"isCancelRemainingInstances": True}}
    scene.play(
        "complete-job-of-an-ad-hoc-sub-process", "POST", f"/v2/jobs/{job['jobKey']}/completion", decided
    )


def _play_timers(scene: Scene) -> None:
    """The timer of a test run fires before it is due."""
    files = {"resources": ("reminder.bpmn", REMINDER)}
    scene.play("create-deployment-with-a-timer", "POST", "/v2/deployments", files=files)
    start = {"processDefinitionId": "reminder", "tags": ["console-test-run"]}
    instance = scene.play("create-test-run", "POST", "/v2/process-instances", start)
    path = f"/api/v1/console/process-instances/{instance['processInstanceKey']}/timers"
    waiting = scene.play("list-timers", "GET", path)
    timer = next((each["timerKey"] for each in waiting.get("timers", ())), "1")
    scene.play("fire-timer", "POST", f"{path}/{timer}/firing")


def _play_operations(scene: Scene) -> None:
    """Operations that only the durable modes offer."""
    start = {"processDefinitionId": "order"}
    instance = scene.play("create-process-instance-to-operate", "POST", "/v2/process-instances", start)
    key = instance["processInstanceKey"]
    target = instance["processDefinitionKey"]
    path = f"/v1/process-instances/{key}"
    scene.play("accept-migration", "POST", f"{path}/migration", _migration(target, pay="pay"))
    scene.play("accept-cancellation", "POST", f"{path}/cancellation")
    scene.play("list-audit-entries", "GET", f"/v1/audit-log?processInstanceKey={key}")
    about = {"filter": {"processInstanceKey": key}}
    found = scene.play("search-audit-logs", "POST", "/v2/audit-logs/search", about)
    entry = next((item["auditLogKey"] for item in found.get("items", ())), "1")
    scene.play("get-audit-log", "GET", f"/v2/audit-logs/{entry}")
    ada = {"email": "ada.l@example.com", "language": "en", "roles": []}
    made = scene.prepare("POST", "/auth/v1/users", ada)
    user_id = made.json()["id"]
    scene.play("list-personal-data", "GET", f"/v1/personal-data/{user_id}")
    scene.prepare("DELETE", f"/auth/v1/users/{user_id}")


def _play_history(scene: Scene, definition: str) -> None:
    """Operations that only the durable modes offer."""
    completed = {"filter": {"state": "COMPLETED"}}
    path = "/api/v1/history"
    scene.play("search-historic-process-instances", "POST", f"{path}/process-instances/search", completed)
    definitions = f"{path}/process-definitions/{definition}"
    scene.play("get-flow-node-statistics", "GET", f"{definitions}/flow-node-statistics")
    console = "/api/v1/console"
    scene.play("get-console-deployments", "GET", f"{console}/deployments")
    scene.play("get-lint-rules", "GET", f"{console}/modeling/lint-rules")
    model = {"resourceName": "idle.bpmn", "content": process("idle").start().to_xml().decode()}
    scene.play("lint-resource", "POST", f"{console}/modeling/lint", model)
    scene.play("get-start-form", "GET", f"{console}/startable-processes/{definition}/form")


INSTRUCTED = {"processDefinitionId": "order", "startInstructions": [{"elementId": "none"}]}


def _play_refusals(scene: Scene) -> None:
    scene.play("refused-key", "GET", "/v2/process-instances/0012")
    scene.play("refused-property", "POST", "/v2/process-instances", {"processDefinitionId": "order", "a": 1})
    scene.play("refused-instruction", "POST", "/v2/process-instances", INSTRUCTED)
    batched = {"filter": {"$or": [{}, {"batchOperationKey": "b-1"}]}}
    scene.play("refused-filter", "POST", "/v2/process-instances/search", batched)
    scene.play("refused-unknown", "GET", "/v2/variables/5")
    scene.play("refused-credential", "GET", "/v2/topology", headers={"authorization": "Bearer nonsense"})
    scene.play("refused-tenant", "GET", "/v2/topology", headers={"x-tenant-id": "other"})
    broken = ORDER.replace(b"serviceTask", b"transaction")
    scene.play("refused-model", "POST", "/v2/deployments", files={"resources": ("order.bpmn", broken)})


def _play_decisions(scene: Scene) -> None:
    files = {"resources": ("pricing.dmn", PRICING)}
    deployed = scene.play("create-deployment-of-decisions", "POST", "/v2/deployments", files=files)
    graph, level, _ = deployed["deployments"]
    latest = {"filter": {"isLatestVersion": True}, "sort": [{"field": "name"}]}
    scene.play("search-decision-definitions", "POST", "/v2/decision-definitions/search", latest)
    definition = f"/v2/decision-definitions/{level['decisionDefinition']['decisionDefinitionKey']}"
    scene.play("get-decision-definition", "GET", definition)
    scene.play("get-decision-definition-xml", "GET", f"{definition}/xml")
    scene.play("search-decision-requirements", "POST", "/v2/decision-requirements/search", {})
    key = graph["decisionRequirements"]["decisionRequirementsKey"]
    scene.play("get-decision-requirements", "GET", f"/v2/decision-requirements/{key}")
    scene.play("get-decision-requirements-xml", "GET", f"/v2/decision-requirements/{key}/xml")
    path = "/v2/decision-definitions/evaluation"
    asked = {"decisionDefinitionId": "discount", "variables": {"customer": "regular", "amount": 120}}
    evaluation = scene.play("evaluate-decision", "POST", path, asked)
    scene.play("evaluate-decision-that-fails", "POST", path, {"decisionDefinitionId": "discount"})
    failed = {"filter": {"state": "FAILED"}}
    scene.play("search-decision-instances", "POST", "/v2/decision-instances/search", failed)
    instance = evaluation["evaluatedDecisions"][1]["decisionEvaluationInstanceKey"]
    scene.play("get-decision-instance", "GET", f"/v2/decision-instances/{instance}")
    refused = PRICING.replace(b"then 2 else 1", b"then 2")
    scene.play("refused-decision", "POST", "/v2/deployments", files={"resources": ("pricing.dmn", refused)})
    expression = {"expression": "=order.total * 1.19 + order.gone", "variables": {"order": {"total": 100}}}
    scene.play("evaluate-expression", "POST", "/v2/expression/evaluation", expression)
    scene.play("refused-expression", "POST", "/v2/expression/evaluation", {"expression": "=1 +"})


def _play_the_directory(scene: Scene) -> None:
    clerk = {"role": "clerk", "permissions": ["history:read"]}
    scene.prepare("POST", "/auth/v1/roles", clerk)
    scene.prepare("POST", "/auth/v1/groups", {"group": "staff"})
    rule = {"name": "Oxford", "claimName": "branch", "claimValue": "oxford"}
    path = "/v2/mapping-rules"
    scene.play("create-mapping-rule", "POST", path, {"mappingRuleId": "oxford", **rule})
    scene.play("create-mapping-rule-again", "POST", path, {"mappingRuleId": "oxford", **rule})
    scene.play("search-mapping-rules", "POST", f"{path}/search", {"filter": {"claimName": "branch"}})
    scene.play("get-mapping-rule", "GET", f"{path}/oxford")
    scene.play("update-mapping-rule", "PUT", f"{path}/oxford", rule | {"claimValue": "cambridge"})
    for verb, method in (("assign", "PUT"), ("unassign", "DELETE")):
        scene.play(f"{verb}-role-group", method, "/v2/roles/clerk/groups/staff")
        scene.play(f"{verb}-group-mapping-rule", method, "/v2/groups/staff/mapping-rules/oxford")
        scene.play(f"{verb}-tenant-mapping-rule", method, "/v2/tenants/default/mapping-rules/oxford")
    _play_labels(scene)
    scene.play("assign-role-to-an-unknown-group", "PUT", "/v2/roles/clerk/groups/nobody")
    scene.play("delete-mapping-rule", "DELETE", f"{path}/oxford")
    done = "/v1/audit-log?result=SUCCESS&entityId"
    scene.play("list-audit-entries-of-a-role", "GET", f"{done}=clerk")
    scene.play("list-audit-entries-of-a-mapping-rule", "GET", f"{done}=oxford&sortOrder=DESC")


def _play_labels(scene: Scene) -> None:
    """Groups and roles from their creation to their end."""
    for noun, label in (("group", "auditors"), ("role", "auditor")):
        path, described = f"/v2/{noun}s", {"name": "Auditing", "description": "Reads everything."}
        scene.play(f"create-{noun}", "POST", path, {f"{noun}Id": label, **described})
        scene.play(f"create-{noun}-again", "POST", path, {f"{noun}Id": label, **described})
        wanted = {"filter": {"name": {"$like": "Audit*"}}, "sort": [{"field": f"{noun}Id", "order": "DESC"}]}
        scene.play(f"search-{noun}s", "POST", f"{path}/search", wanted)
        scene.play(f"get-{noun}", "GET", f"{path}/{label}")
        scene.play(f"update-{noun}", "PUT", f"{path}/{label}", {"name": "Revision"})
        scene.play(f"delete-{noun}", "DELETE", f"{path}/{label}")
        scene.play(f"get-unknown-{noun}", "GET", f"{path}/{label}")
    scene.play("update-built-in-role", "PUT", "/v2/roles/admin", {"name": "Root"})
    _play_users(scene)
    _play_members(scene)
    _play_tenants(scene)
    _play_authorizations(scene)
    scene.play("get-authentication", "GET", "/v2/authentication/me")


def _play_users(scene: Scene) -> None:
    path, user = "/v2/users", {"username": "ada", "name": "Ada Lovelace", "email": "ada@example.com"}
    scene.play("create-user", "POST", path, {**user, "password": "correct horse battery staple"})
    scene.play("create-user-again", "POST", path, {**user, "password": "correct horse battery staple"})
    scene.play("refused-password", "POST", path, {"username": "b@example.com", "password": "short"})
    wanted = {"filter": {"username": "ada"}, "sort": [{"field": "email"}]}
    scene.play("search-users", "POST", f"{path}/search", wanted)
    scene.play("get-user", "GET", f"{path}/ada")
    scene.play("update-user", "PUT", f"{path}/ada", {"name": "Ada King"})
    scene.play("get-unknown-user", "GET", f"{path}/nobody")


OWNERS = {"group": "/v2/groups/staff", "role": "/v2/roles/clerk", "tenant": "/v2/tenants/default"}
PRINCIPALS = {"user": "users/ada", "client": "clients/reader"}
PREPARED = (
    "groups/staff/mapping-rules/boston",
    "roles/clerk/groups/staff",
    "tenants/default/mapping-rules/boston",
)
LINKS = {
    "role-mapping-rule": "/v2/roles/clerk/mapping-rules/boston",
    "tenant-group": "/v2/tenants/default/groups/staff",
    "tenant-role": "/v2/tenants/default/roles/clerk",
}


def _play_members(scene: Scene) -> None:
    """Assign, list and unassign; the last thing deletes the user."""
    rule = {"mappingRuleId": "boston", "name": "Boston", "claimName": "branch", "claimValue": "boston"}
    scene.prepare("POST", "/v2/mapping-rules", rule)
    for path in PREPARED:
        scene.prepare("PUT", f"/v2/{path}")
    for name, path in LINKS.items():
        scene.play(f"assign-{name}", "PUT", path)
    both = [(owner, member) for owner in OWNERS for member in PRINCIPALS]
    for owner, member in both:
        scene.play(f"assign-{owner}-{member}", "PUT", f"{OWNERS[owner]}/{PRINCIPALS[member]}")
    for owner, member in (*both, *product(OWNERS, ("mapping-rule", "group", "role"))):
        if owner != member:
            scene.play(f"search-{owner}-{member}s", "POST", f"{OWNERS[owner]}/{member}s/search", {})
    for name, path in LINKS.items():
        scene.play(f"unassign-{name}", "DELETE", path)
    for member, place in PRINCIPALS.items():
        scene.play(f"unassign-group-{member}", "DELETE", f"/v2/groups/staff/{place}")
        scene.play(f"unassign-role-{member}", "DELETE", f"/v2/roles/clerk/{place}")
        scene.prepare("PUT", f"/v2/tenants/other/{place}")
        scene.play(f"unassign-tenant-{member}", "DELETE", f"/v2/tenants/other/{place}")
        scene.play(f"unassign-only-tenant-of-a-{member}", "DELETE", f"/v2/tenants/default/{place}")
    scene.prepare("DELETE", "/v2/mapping-rules/boston")
    scene.play("delete-user", "DELETE", "/v2/users/ada")


def _play_tenants(scene: Scene) -> None:
    path, lab = "/v2/tenants", {"tenantId": "lab", "name": "Laboratory", "description": "Trials."}
    scene.play("create-tenant", "POST", path, lab)
    scene.play("create-tenant-again", "POST", path, lab)
    scene.play("search-tenants", "POST", f"{path}/search", {"filter": {"name": "Laboratory"}})
    scene.play("get-tenant", "GET", f"{path}/lab")
    scene.play("update-tenant", "PUT", f"{path}/lab", {"name": "Lab"})
    scene.play("delete-tenant", "DELETE", f"{path}/lab")
    scene.play("get-unknown-tenant", "GET", f"{path}/lab")


def _play_authorizations(scene: Scene) -> None:
    path = "/v2/authorizations"
    wanted = {
        "ownerId": "reader",
        "ownerType": "CLIENT",
        "resourceId": "order",
        "resourceType": "PROCESS_DEFINITION",
        "permissionTypes": ["CREATE_PROCESS_INSTANCE"],
    }
    administrator = {
        "username": "eve",
        "password": "correct horse battery staple",
        "email": "eve@example.com",
    }
    scene.play("create-admin-user", "POST", "/v2/setup/user", administrator)
    scene.play("create-admin-user-again", "POST", "/v2/setup/user", administrator)
    key = scene.play("create-authorization", "POST", path, wanted)["authorizationKey"]
    scene.play("create-authorization-of-nobody", "POST", path, wanted | {"ownerId": "nobody"})
    scene.play("refused-permission-type", "POST", path, wanted | {"permissionTypes": ["COMPLETE"]})
    asked = {"filter": {"ownerType": "CLIENT", "resourceIds": ["order"]}, "sort": [{"field": "ownerId"}]}
    scene.play("search-authorizations", "POST", f"{path}/search", asked)
    scene.play("get-authorization", "GET", f"{path}/{key}")
    scene.play("update-authorization", "PUT", f"{path}/{key}", wanted | {"resourceId": "*"})
    scene.play("delete-authorization", "DELETE", f"{path}/{key}")
    scene.play("get-unknown-authorization", "GET", f"{path}/1")


def _play_statistics(scene: Scene) -> None:
    """The process instance of the scene has an incident, and the ones before it all kinds of ends."""
    files = {"resources": ("counted.bpmn", COUNTED)}
    deployed = scene.play("create-deployment-to-count", "POST", "/v2/deployments", files=files)
    definition = deployed["deployments"][0]["processDefinition"]["processDefinitionKey"]
    start = {"processDefinitionId": "counted"}
    key = scene.play("create-process-instance-to-count", "POST", "/v2/process-instances", start)[
        "processInstanceKey"
    ]
    request = {"type": "count", "worker": "ada", "timeout": 60_000, "maxJobsToActivate": 1}
    (job,) = scene.play("activate-jobs-to-count", "POST", "/v2/jobs/activation", request)["jobs"]
    scene.prepare("POST", f"/v2/jobs/{job['jobKey']}/failure", {"errorMessage": "lost count"})
    instance = f"/v2/process-instances/{key}"
    scene.play("get-sequence-flows", "GET", f"{instance}/sequence-flows")
    scene.play("get-process-instance-statistics", "GET", f"{instance}/statistics/element-instances")
    scene.play("refused-statistics", "GET", "/v2/process-instances/5/statistics/element-instances")
    definitions = "/v2/process-definitions"
    elements = f"{definitions}/{definition}/statistics/element-instances"
    wanted = {"filter": {"hasIncident": True, "elementId": {"$like": "c*"}}}
    scene.play("get-process-definition-statistics", "POST", elements, wanted)
    incidents = f"/v2/element-instances/{job['elementInstanceKey']}/incidents/search"
    scene.play("search-element-instance-incidents", "POST", incidents, {"page": {"limit": 1}})
    most = {"sort": [{"field": "activeInstancesWithIncidentCount", "order": "DESC"}], "page": {"limit": 2}}
    instances = f"{definitions}/statistics/process-instances"
    scene.play("get-process-definition-instance-statistics", "POST", instances, most)
    of_process = {"filter": {"processDefinitionId": "counted"}}
    versions = f"{instances}-by-version"
    scene.play("get-process-definition-instance-version-statistics", "POST", versions, of_process)
    scene.play("refused-version-statistics", "POST", versions, {})
    subscriptions = f"{definitions}/statistics/message-subscriptions"
    first = {"page": {"limit": 1}}
    scene.play("get-process-definition-message-subscription-statistics", "POST", subscriptions, first)
    errors = "/v2/incidents/statistics/process-instances-by"
    by_error = {"sort": [{"field": "errorMessage", "order": "DESC"}], "page": {"limit": 1}}
    found = scene.play("get-process-instance-statistics-by-error", "POST", f"{errors}-error", by_error)
    of_error = {"filter": {"errorHashCode": found["items"][0]["errorHashCode"]}}
    scene.play("get-process-instance-statistics-by-definition", "POST", f"{errors}-definition", of_error)
    _play_statistics_of_jobs(scene)
    year = "startTime=2026-01-01T00:00:00Z&endTime=2100-01-01T00:00:00Z"
    scene.play("get-usage-metrics", "GET", f"/v2/system/usage-metrics?{year}&withTenants=true")


def _play_statistics_of_jobs(scene: Scene) -> None:
    """Of the first day of the year, on which the embedded mode is."""
    path = "/v2/jobs/statistics"
    day = {"from": "2026-01-01T00:00:00Z", "to": "2026-01-02T00:00:00Z"}
    of_type = {"filter": {**day, "jobType": "count"}}
    interval = "&".join(f"{name}={value}" for name, value in day.items())
    scene.play("get-global-job-statistics", "GET", f"{path}/global?{interval}&jobType=count")
    by_type = {"filter": {**day, "jobType": {"$like": "c*"}}, "page": {"limit": 1}}
    scene.play("get-job-type-statistics", "POST", f"{path}/by-types", by_type)
    scene.play("get-job-worker-statistics", "POST", f"{path}/by-workers", of_type)
    scene.play("get-job-time-series-statistics", "POST", f"{path}/time-series", of_type)
    scene.play("get-job-error-statistics", "POST", f"{path}/errors", of_type)
    longest = {"filter": {**day, "to": "2026-03-01T00:00:00Z", "jobType": "count"}}
    scene.play("refused-job-statistics", "POST", f"{path}/errors", longest)


def _play_global_task_listeners(scene: Scene) -> None:
    """The last thing that is played about them deletes it: other exchanges have user tasks."""
    path, listener = "/v2/global-task-listeners", {"type": "watch", "eventTypes": ["completing"]}
    scene.play("create-global-task-listener", "POST", path, {"id": "four-eyes", **listener})
    scene.play("create-global-task-listener-again", "POST", path, {"id": "four-eyes", **listener})
    scene.play("get-global-task-listener", "GET", f"{path}/four-eyes")
    changed = {"type": "watch", "eventTypes": ["all"], "retries": 1, "afterNonGlobal": True, "priority": 70}
    scene.play("update-global-task-listener", "PUT", f"{path}/four-eyes", changed)
    wanted = {"filter": {"eventTypes": ["all"]}, "sort": [{"field": "priority", "order": "DESC"}]}
    scene.play("search-global-task-listeners", "POST", f"{path}/search", wanted)
    scene.play("delete-global-task-listener", "DELETE", f"{path}/four-eyes")
    scene.play("get-unknown-global-task-listener", "GET", f"{path}/four-eyes")


def _play_cluster_variables(scene: Scene) -> None:
    path = "/v2/cluster-variables"
    scopes = {"global": f"{path}/global", "tenant": f"{path}/tenants/default"}
    for scope, place in scopes.items():
        variable = {"name": "payment", "value": {"endpoint": f"https://{scope}.example.com", "retries": 3}}
        scene.play(f"create-{scope}-cluster-variable", "POST", place, variable)
        scene.play(f"get-{scope}-cluster-variable", "GET", f"{place}/payment")
    scene.play("refused-cluster-variable", "POST", scopes["global"], {"name": "payment", "value": 1})
    wanted = {"filter": {"name": "payment"}, "sort": [{"field": "scope"}]}
    scene.play("search-cluster-variables", "POST", f"{path}/search", wanted)
    expression = {"expression": "=camunda.vars.env.payment.endpoint"}
    scene.play("evaluate-expression-with-a-cluster-variable", "POST", "/v2/expression/evaluation", expression)
    for scope, place in scopes.items():
        scene.play(f"update-{scope}-cluster-variable", "PUT", f"{place}/payment", {"value": "none"})
        scene.play(f"delete-{scope}-cluster-variable", "DELETE", f"{place}/payment")
    scene.play("get-unknown-cluster-variable", "GET", f"{path}/global/payment")


def _play_forms(scene: Scene) -> None:
    deployed = scene.play(
        "create-deployment-of-a-form", "POST", "/v2/deployments", files={"resources": ("a.form", ADDRESS)}
    )
    asked = process("asked").start(form="address").user_task("review", form={"formId": "address"}).end()
    files = {"resources": ("asked.bpmn", asked.to_xml())}
    scene.prepare("POST", "/v2/deployments", files=files)
    with_form = {"filter": {"hasStartForm": True}}
    path = "/v2/process-definitions"
    found = scene.play("search-process-definitions-with-a-start-form", "POST", f"{path}/search", with_form)
    key = found["items"][0]["processDefinitionKey"]
    scene.play("get-start-process-form", "GET", f"{path}/{key}/form")
    console = "/api/v1/console"
    scene.play("get-start-form-of-a-process", "GET", f"{console}/startable-processes/{key}/form")
    scene.play("get-console-deployments-of-forms", "GET", f"{console}/deployments?part=forms")
    scene.prepare("POST", "/v2/process-instances", {"processDefinitionId": "asked"})
    latest = {"filter": {"elementId": "review"}}
    tasks = scene.play("search-user-tasks-with-a-form", "POST", "/v2/user-tasks/search", latest)
    scene.play("get-user-task-form", "GET", f"/v2/user-tasks/{tasks['items'][0]['userTaskKey']}/form")
    form_key = deployed["deployments"][0]["form"]["formKey"]
    scene.prepare("POST", f"/v2/resources/{form_key}/deletion")
    scene.play("get-start-process-form-that-is-deleted", "GET", f"{path}/{key}/form")
    scene.play(
        "refused-form", "POST", "/v2/deployments", files={"resources": ("a.form", b'{"type": "default"}')}
    )


def _play_generic_resources(scene: Scene) -> None:
    files = {"resources": ("robot.rpa", rpa_json(tag="stable"))}
    deployed = scene.play("create-deployment-of-a-resource", "POST", "/v2/deployments", files=files)
    place = f"/v2/resources/{deployed['deployments'][0]['resource']['resourceKey']}"
    scene.play("get-resource", "GET", place)
    scene.play("get-resource-content", "GET", f"{place}/content")
    scene.play("get-unknown-resource", "GET", "/v2/resources/42")


def _play_conditions(scene: Scene) -> None:
    large = (
        process("large").start_condition("begin", condition="=amount > 100").service_task("wait", type="wait")
    )
    scene.prepare("POST", "/v2/deployments", files={"resources": ("large.bpmn", large.end().to_xml())})
    scene.play("evaluate-conditionals", "POST", "/v2/conditionals/evaluation", {"variables": {"amount": 120}})


def _play_messages(scene: Scene) -> None:
    paid = {
        "name": "paid",
        "correlationKey": "a-1",
        "timeToLive": 3_600_000,
        "messageId": "m-1",
        "variables": {"amount": 5},
    }
    scene.play("publish-message", "POST", "/v2/messages/publication", paid)
    scene.play("refused-message", "POST", "/v2/messages/publication", paid)
    now = {"name": "paid", "correlationKey": "a-1", "variables": {"amount": 5}}
    scene.play("refused-correlation", "POST", "/v2/messages/correlation", now)
    begun = process("begun").start_message("begin", message="begun").service_task("wait", type="wait").end()
    scene.prepare("POST", "/v2/deployments", files={"resources": ("begun.bpmn", begun.to_xml())})
    scene.play("correlate-message", "POST", "/v2/messages/correlation", {"name": "begun"})
    begun_by = {"filter": {"messageName": "begun"}, "sort": [{"field": "lastUpdatedDate", "order": "DESC"}]}
    scene.play("search-message-subscriptions", "POST", "/v2/message-subscriptions/search", begun_by)
    caught = {"filter": {"messageName": "begun", "partitionId": 1}, "sort": [{"field": "correlationTime"}]}
    path = "/v2/correlated-message-subscriptions/search"
    scene.play("search-correlated-message-subscriptions", "POST", path, caught)
    alarm = {"signalName": "alarm", "variables": {"level": 5}, "tenantId": "default"}
    scene.play("broadcast-signal", "POST", "/v2/signals/broadcast", alarm)


def _play_a_modification(scene: Scene) -> None:
    started = {"processDefinitionId": "order"}
    instance = scene.play("create-process-instance-to-modify", "POST", "/v2/process-instances", started)
    path = f"/v2/process-instances/{instance['processInstanceKey']}/modification"
    source = {"sourceType": "byId", "sourceElementId": "pay"}
    moved = {
        "moveInstructions": [
            {
                "sourceElementInstruction": source,
                "targetElementId": "ship",
                "ancestorScopeInstruction": {"ancestorScopeType": "inferred"},
                "variableInstructions": [{"variables": {"paid": True}}],
            }
        ]
    }
    scene.play("modify-process-instance", "POST", path, moved)
    activated = {"activateInstructions": [{"elementId": "start"}]}
    scene.play("refused-modification", "POST", path, activated)
    ended = {"terminateInstructions": [{"elementId": "ship"}]}
    scene.play("modify-process-instance-to-its-end", "POST", path, ended)


def _play_batch_operations(scene: Scene) -> None:
    """Of one without items: it has ended when it is answered."""
    some = {"processDefinitionId": "order", "businessId": "none"}
    created = scene.play(
        "cancel-process-instances", "POST", "/v2/process-instances/cancellation", {"filter": some}
    )
    scene.play(
        "modify-process-instances",
        "POST",
        "/v2/process-instances/modification",
        {"filter": some, "moveInstructions": [{"sourceElementId": "pay", "targetElementId": "ship"}]},
    )
    plan = {"targetProcessDefinitionKey": "1", "mappingInstructions": []}
    scene.play(
        "migrate-process-instances",
        "POST",
        "/v2/process-instances/migration",
        {"filter": some, "migrationPlan": plan},
    )
    scene.play("resolve-incidents", "POST", "/v2/process-instances/incident-resolution", {"filter": some})
    scene.play("refused-resolution", "POST", "/v2/process-instances/1/incident-resolution")
    path = f"/v2/batch-operations/{created['batchOperationKey']}"
    scene.play("get-batch-operation", "GET", path)
    scene.play("search-batch-operations", "POST", "/v2/batch-operations/search", {})
    scene.play("search-batch-operation-items", "POST", "/v2/batch-operation-items/search", {})
    scene.play("refused-suspension", "POST", f"{path}/suspension", {})
    scene.play("refused-resumption", "POST", f"{path}/resumption", {})
    scene.play("refused-cancellation-of-a-batch-operation", "POST", f"{path}/cancellation", {})


def _play_a_long_batch_operation(scene: Scene) -> None:
    """Of many items, and at the end: how many of them are processed, and the keys after it, differ from run to run."""
    files = [("resources", ("member.bpmn", MEMBER)), ("resources", ("crowd.bpmn", CROWD))]
    scene.prepare("POST", "/v2/deployments", files=files)
    scene.prepare("POST", "/v2/process-instances", {"processDefinitionId": "crowd"})
    members = {"processDefinitionId": "member", "state": "ACTIVE"}
    scene.wait_for(MANY, "/v2/process-instances/search", {"filter": members, "page": {"limit": 1}})
    moves = [{"sourceElementId": "wait", "targetElementId": "go"}]
    created = scene.play(
        "modify-many-process-instances",
        "POST",
        "/v2/process-instances/modification",
        {"filter": {"processDefinitionId": "member"}, "moveInstructions": moves},
    )
    path = f"/v2/batch-operations/{created['batchOperationKey']}"
    scene.play("suspend-batch-operation", "POST", f"{path}/suspension", {})
    scene.play("resume-batch-operation", "POST", f"{path}/resumption", {})
    scene.play("cancel-batch-operation", "POST", f"{path}/cancellation", {})


def _play_an_erasure(scene: Scene) -> None:
    """Of variables of no process instance."""
    wanted = {"filter": {"businessId": "none"}, "variableNames": ["customer"]}
    scene.play("erase-variables", "POST", "/v1/process-instances/variable-erasure", wanted)
    preview = {"batchOperationType": "ERASE_VARIABLES", "filter": {"processDefinitionId": "order"}}
    scene.play("preview-batch-operation", "POST", "/v1/batch-operations/preview", preview)


def _play_a_resolution(scene: Scene) -> None:
    """Of every incident of an instance, which has none."""
    start = {"processDefinitionId": "care"}
    instance = scene.play("create-process-instance-to-resolve", "POST", "/v2/process-instances", start)
    path = f"/v2/process-instances/{instance['processInstanceKey']}/incident-resolution"
    scene.play("resolve-incidents-of-a-process-instance", "POST", path)


def _play_a_deletion(scene: Scene) -> None:
    found = scene.play(
        "search-process-definitions-that-are-the-latest",
        "POST",
        "/v2/process-definitions/search",
        {"filter": {"isLatestVersion": True, "processDefinitionId": "order"}},
    )
    key = found["items"][0]["processDefinitionKey"]
    path = f"/v2/resources/{key}/deletion"
    scene.play("delete-resource", "POST", path, {"operationReference": 7})
    scene.play("refused-deletion", "POST", path)
    scene.play("get-deleted-process-definition", "GET", f"/v2/process-definitions/{key}")


def _play_a_deletion_with_history(scene: Scene) -> None:
    """Of a process without instances: the batch operation goes on while the next scene is played."""
    files = {"resources": ("unused.bpmn", process("unused").end().to_xml())}
    deployed = scene.play("create-deployment-of-an-unused-process", "POST", "/v2/deployments", files=files)
    key = deployed["deployments"][0]["processDefinition"]["processDefinitionKey"]
    scene.play(
        "delete-resource-with-history", "POST", f"/v2/resources/{key}/deletion", {"deleteHistory": True}
    )


def _play_documents(scene: Scene) -> None:
    path = "/v2/documents"
    about = {
        "expiresAt": "2100-01-01T00:00:00Z",
        "processInstanceKey": "7",
        "customProperties": {"pages": 2},
    }
    form = {
        "file": ("bill ü.html", b"<h1>Bill</h1>", "text/html"),
        "metadata": (None, json.dumps(about), "application/json"),
    }
    created = scene.play("create-document", "POST", f"{path}?documentId=bill", files=form)
    scene.play("create-document-again", "POST", f"{path}?documentId=bill", files=form)
    scene.play("refused-document", "POST", f"{path}?documentId=../bill", files=form)
    scene.play("get-document", "GET", f"{path}/bill?contentHash={created['contentHash']}")
    scene.play("get-part-of-a-document", "GET", f"{path}/bill", headers={"range": "bytes=4-7"})
    scene.play("refused-range", "GET", f"{path}/bill", headers={"range": "bytes=99-"})
    scene.play("refused-hash", "GET", f"{path}/bill?contentHash=0")
    linked = scene.play("create-document-link", "POST", f"{path}/bill/links", {"timeToLive": 60_000})
    scene.play("get-linked-document", "GET", httpx.URL(linked["url"]).path)
    scene.play("get-unknown-link", "GET", "/v2/document-links/none")
    several = [
        ("files", ("a.txt", b"one", "text/plain")),
        ("files", ("b.txt", b"two", "text/plain")),
        ("metadataList", (None, json.dumps([about, about | {"size": 7}]), "application/json")),
    ]
    scene.play("create-documents", "POST", f"{path}/batch", files=several[:2])
    scene.play("create-documents-of-which-one-fails", "POST", f"{path}/batch", files=several)
    scene.play("delete-document", "DELETE", f"{path}/bill")
    scene.play("get-unknown-document", "GET", f"{path}/bill")


def _play_a_deletion_of_history(scene: Scene) -> None:
    ended = {"filter": {"state": "TERMINATED"}, "page": {"limit": 1}}
    found = scene.play("search-ended-process-instances", "POST", "/v2/process-instances/search", ended)
    path = f"/v2/process-instances/{found['items'][0]['processInstanceKey']}/deletion"
    scene.play("delete-process-instance", "POST", path, {"operationReference": 7})
    scene.play("refused-deletion-of-a-process-instance", "POST", path)
    failed = {"filter": {"state": "FAILED"}, "page": {"limit": 1}}
    found = scene.play("search-failed-decision-instances", "POST", "/v2/decision-instances/search", failed)
    path = f"/v2/decision-instances/{found['items'][0]['decisionEvaluationKey']}/deletion"
    scene.play("delete-decision-instance", "POST", path, {})
    scene.play("refused-deletion-of-a-decision-instance", "POST", path, {})
    some = {"filter": {"processDefinitionId": "order", "businessId": "none"}}
    scene.play("delete-process-instances", "POST", "/v2/process-instances/deletion", some)
    none = {"filter": {"decisionDefinitionId": "none"}, "operationReference": 7}
    scene.play("delete-decision-instances", "POST", "/v2/decision-instances/deletion", none)


def _activation() -> dict[str, object]:
    return {
        "type": "charge",
        "worker": "w-1",
        "timeout": 60_000,
        "maxJobsToActivate": 1,
        "requestTimeout": -1,
    }


MASKED = (
    (re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z"), "2026-01-01T00:00:00.000Z"),
    (re.compile(r'"deadline": \d{13}'), f'"deadline": {MIDNIGHT + 60_000}'),
    (re.compile(r'"(startCursor|endCursor|cursor)": "[^"]*"'), r'"\1": "c-1"'),
    (re.compile(r'"requestId": "[^"]*"'), '"requestId": "r-1"'),
    # Keys of the audit log follow from commits, of which several commands may share one.
    (re.compile(r'"auditLogKey": "\d+"'), '"auditLogKey": "1"'),
    (re.compile(r"/audit-logs/\d+"), "/audit-logs/1"),
)
# Ids of users are random in each mode.
RANDOM = ((re.compile(r"/personal-data/\w+"), "/personal-data/u-1"),)


def _masked(text: str, masked: Sequence[tuple[re.Pattern[str], str]] = MASKED) -> str:
    for pattern, replacement in masked:
        text = pattern.sub(replacement, text)
    return text


def _texts(folder: Path) -> dict[str, str]:
    return {file.stem: file.read_text() for file in folder.glob("*.http")}


def _released(mode: Mode) -> Mapping[str, str]:
    if mode is Mode.EMBEDDED:
        return _texts(FOLDER)
    return {name: _masked(text) for name, text in _texts(FOLDER).items()} | _texts(FOLDER / mode)


def _rewrite(said: Mapping[Mode, Mapping[str, str]]) -> None:
    for mode in MODES:
        folder = FOLDER if mode is Mode.EMBEDDED else FOLDER / mode
        folder.mkdir(exist_ok=True)
        for old in folder.glob("*.http"):
            old.unlink()
        known = {} if mode is Mode.EMBEDDED else _released(mode)
        for name, text in said[mode].items():
            if text != known.get(name):
                (folder / f"{name}.http").write_text(text)


@pytest.fixture(scope="module")
def said(configuration: Path) -> Mapping[Mode, Mapping[str, str]]:
    exchanges = {}
    for mode in MODES:
        with started(mode, configuration, ENVIRONMENT_OF_THE_SCENE) as server, server.session() as client:
            scene = Scene(server, client)
            _play(scene)
        exchanges[mode] = {name: _masked(text, RANDOM) for name, text in scene.exchanges.items()}
    exchanges[Mode.BUNDLED] = {name: _masked(text) for name, text in exchanges[Mode.BUNDLED].items()}
    if IS_REWRITTEN:
        _rewrite(exchanges)
    return exchanges


@pytest.mark.parametrize("mode", MODES)
def test_every_exchange_is_as_it_was_released(said: Mapping[Mode, Mapping[str, str]], mode: Mode) -> None:
    assert _released(mode) == said[mode]


@pytest.mark.parametrize("mode", MODES)
def test_every_operation_has_an_exchange(said: Mapping[Mode, Mapping[str, str]], mode: Mode) -> None:
    wanted = {(route.method, route.path.split("{")[0]) for route in routes()}

    played = [text.split("\n", 1)[0].split(" ") for text in said[mode].values()]
    missing = {
        (method, prefix)
        for method, prefix in wanted
        if not any(method == verb and path.startswith(prefix) for verb, path in played)
    }
    assert missing == set()
