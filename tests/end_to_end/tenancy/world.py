"""Creates one entity of each kind in a tenant, over gRPC; each text in it contains the tenant's name."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import grpc

from server.bpmn.builder import ad_hoc_sub_process, process
from server.platform.policy import Mode, Policy, policies_of, services
from tests.end_to_end.servers import Server
from tests.server.engine.form_files import form_json
from tests.server.engine.graphs import answering, graph_xml
from tests.server.engine.resource_files import rpa_json
from tests.waits import until_others

if TYPE_CHECKING:
    from google.protobuf.message import Message

Facts = Mapping[str, Any]
HOUR = 3_600_000
PASSWORD = "correct horse battery staple"
# Members of an authorization that lets a role start processes.
STARTS_OF_A_ROLE: Mapping[str, Any] = {
    "owner_type": "OWNER_TYPE_ROLE",
    "resource_type": "RESOURCE_TYPE_PROCESS_DEFINITION",
    "permission_types": ["PERMISSION_TYPE_CREATE_PROCESS_INSTANCE"],
}
SECONDS = 30
# Seconds to wait for the first answer of a stream; a caller that may see nothing gets none.
STREAM_SECONDS = 5

# RPCs that need a credential and act for a tenant.
POLICIES: Mapping[str, Policy] = {
    policy.path: policy
    for service in services()
    for policy in policies_of(service).values()
    if policy.needs_principal
}
_BY_NAME = {policy.name: policy for policy in POLICIES.values()}


@dataclass(frozen=True)
class Principal:
    """A client of the server; `tenant` is the one that it names in the metadata."""

    channel: grpc.Channel
    token: str
    tenant: str | None = None

    def naming(self, tenant: str) -> "Principal":
        return Principal(self.channel, self.token, tenant)

    @property
    def metadata(self) -> Sequence[tuple[str, str]]:
        named = () if self.tenant is None else (("x-tenant-id", self.tenant),)
        return (("authorization", f"Bearer {self.token}"), *named)

    def send(self, policy: Policy, request: "Message") -> Any:
        """Return the answer; of a stream, the first one."""
        make = self.channel.unary_stream if policy.is_stream else self.channel.unary_unary
        call = make(policy.path, policy.request.SerializeToString, policy.response.FromString)
        answer = call(
            request, metadata=self.metadata, timeout=STREAM_SECONDS if policy.is_stream else SECONDS
        )
        return next(answer) if policy.is_stream else answer

    def __call__(self, rpc: str, /, **fields: object) -> Any:
        policy = _BY_NAME[rpc]
        return self.send(policy, policy.request(**fields))


def principal(server: Server, channel: grpc.Channel, client: str) -> Principal:
    return Principal(channel, server.token(client))


def furnish(owner: Principal, tenant: str, mode: Mode) -> Facts:
    """Return keys and ids of the tenant's entities, by the request field that refers to them."""
    world = _World(owner, tenant)
    world.deploy()
    facts = {**world.run(), **world.directory(), **world.rest()}
    return {**facts, **(world.timed() if mode is Mode.EMBEDDED else world.audited(facts))}


class _World:
    def __init__(self, owner: Principal, tenant: str) -> None:
        self._call = owner
        self._tenant = tenant

    def _named(self, what: str) -> str:
        return f"{what}-of-{self._tenant}"

    def deploy(self) -> None:
        named = self._named
        order = process(named("process"), name=named("process")).start(form=named("form"))
        order.service_task("task", type=named("work"), name=named("task")).end()
        assignment = {
            "assignee": named("assignee"),
            "candidateGroups": named("candidates"),
            "candidateUsers": f"{named('candidate')},{named('user')}@example.com",
        }
        asked = process(named("asked")).start()
        asked.user_task("ask", name=named("ask"), assignment=assignment, form={"formId": named("form")}).end()
        waiting = process(named("waiting")).start()
        waiting.message_catch("caught", message=named("message"), key=f'="{named("correlation")}"')
        waiting.message_catch("wait", message=named("message"), key=f'="{named("correlation")}"').end()
        listening = process(named("listening")).start().signal_catch("hear", signal=named("signal")).end()
        met = process(named("met")).start_condition("begin", condition="=amountOfTenants > 100").end()
        caring = process(named("caring")).start().embed_ad_hoc(ad_hoc_sub_process("care").task("feed")).end()
        timed = process(named("timed")).start().timer_catch("delay", duration="PT1H").end()
        calling = process(named("calling")).start().call_activity("call", process=named("asked")).end()
        files = {
            "process.bpmn": order.to_xml(),
            "asked.bpmn": asked.to_xml(),
            "waiting.bpmn": waiting.to_xml(),
            "listening.bpmn": listening.to_xml(),
            "met.bpmn": met.to_xml(),
            "caring.bpmn": caring.to_xml(),
            "calling.bpmn": calling.to_xml(),
            "timed.bpmn": timed.to_xml(),
            "price.dmn": graph_xml(answering(named("price"), "1"), id_=named("pricing")),
            "robot.rpa": rpa_json(named("robot")),
            "address.form": form_json(named("form")),
        }
        resources = [
            {"name": f"{self._tenant}-{name}", "content": content} for name, content in files.items()
        ]
        self._deployed = self._call("CreateDeployment", resources=resources).deployments

    def run(self) -> Facts:
        named, call = self._named, self._call
        instance = self._start("process", business_id=named("business"), tags=[named("tag")])
        asked, called = self._start("asked"), self._start("calling")
        waiting, caring = self._start("waiting"), self._start("caring")
        self._start("listening")
        over = self._start("asked")
        call("CancelProcessInstance", process_instance_key=over)
        call("PublishMessage", name=named("message"), correlation_key=named("correlation"), time_to_live=1)
        until_others(lambda: call("SearchCorrelatedMessageSubscriptions").items)
        failing = self._start("process")
        jobs = call(
            "ActivateJobs",
            type=named("work"),
            worker=named("worker"),
            timeout=HOUR,
            max_jobs_to_activate=10,
            request_timeout=-1,
        ).jobs
        (job,) = [each for each in jobs if each.process_instance_key == instance]
        (failed,) = [each for each in jobs if each.process_instance_key == failing]
        call("FailJob", job_key=failed.job_key, error_message=named("broken"))
        # A further job waits for a worker.
        self._start("process")
        evaluated = call("EvaluateDecision", decision_definition_id=named("price"))
        (task,) = [each for each in call("SearchUserTasks").items if each.process_instance_key == asked]
        (care,) = [
            each
            for each in call("SearchElementInstances", page={"limit": 500}).items
            if each.process_instance_key == caring and each.element_id == "care"
        ]
        ended = {"process_instance_key": {"eq": over}}
        batch = call("CancelProcessInstancesBatchOperation", filter=ended)
        cancelled = self._start("listening")
        items = call(
            "CancelProcessInstancesBatchOperation", filter={"process_instance_key": {"eq": cancelled}}
        )
        until_others(lambda: self._is_over(batch.batch_operation_key, items.batch_operation_key))
        (incident,) = call("SearchIncidents").items
        variable = call("SearchVariables").items[0]
        (error,) = call("GetProcessInstanceStatisticsByError").items
        return {
            "process_instance_key": instance,
            "ended_process_instance_key": over,
            "calling_process_instance_key": called,
            "waiting_process_instance_key": waiting,
            "job_key": job.job_key,
            "element_instance_key": job.element_instance_key,
            "ad_hoc_sub_process_instance_key": care.element_instance_key,
            "process_definition_key": job.process_definition_key,
            "user_task_key": task.user_task_key,
            "incident_key": incident.incident_key,
            "incident_element_instance_key": incident.element_instance_key,
            "incident_process_instance_key": incident.process_instance_key,
            "variable_key": variable.variable_key,
            "batch_operation_key": items.batch_operation_key,
            "decision_evaluation_key": evaluated.decision_evaluation_key,
            "decision_evaluation_instance_key": evaluated.evaluated_decisions[
                0
            ].decision_evaluation_instance_key,
            **self._deployed_keys(),
            "error_hash_code": error.error_hash_code,
            "now": incident.creation_time.seconds,
            "process_definition_id": named("process"),
            "decision_definition_id": named("price"),
            "message_name": named("message"),
            "correlation_key": named("correlation"),
            "signal_name": named("signal"),
            "job_type": named("work"),
            "business_id": named("business"),
            "assignee": named("assignee"),
        }

    def _deployed_keys(self) -> Facts:
        found: dict[str, int] = {}
        for deployed in self._deployed:
            if deployed.HasField("decision_definition"):
                found["decision_definition_key"] = deployed.decision_definition.decision_definition_key
            if deployed.HasField("decision_requirements"):
                found["decision_requirements_key"] = deployed.decision_requirements.decision_requirements_key
            if deployed.HasField("resource"):
                found["resource_key"] = deployed.resource.resource_key
        return found

    def _start(self, what: str, **more: object) -> int:
        variables = f'{{"{self._named("variable").replace("-", "_")}": "{self._named("value")}"}}'
        request = {"process_definition_id": self._named(what), "variables": variables.encode(), **more}
        return int(self._call("CreateProcessInstance", **request).process_instance_key)

    def _is_over(self, *batches: int) -> bool:
        found = self._call("SearchBatchOperations", filter={"batch_operation_key": {"in": batches}})
        return all(each.end_date.seconds for each in found.items)

    def directory(self) -> Facts:
        named, call = self._named, self._call
        role, group, rule, user = named("role"), named("group"), named("rule"), named("user")
        call("CreateRole", role_id=role, name=role)
        call("CreateGroup", group_id=group, name=group)
        call("CreateMappingRule", mapping_rule_id=rule, name=rule, claim_name=rule, claim_value=rule)
        user = call(
            "CreateUser", username=f"{user}@example.com", email=f"{user}@example.com", password=PASSWORD
        ).user.username
        # Configured clients belong to the default tenant, including those that act in other tenants.
        clients = [each.client_id for each in call("SearchClientsForTenant", tenant_id=self._tenant).items]
        call("AssignRoleToGroup", role_id=role, group_id=group)
        call("AssignRoleToMappingRule", role_id=role, mapping_rule_id=rule)
        call("AssignRoleToUser", role_id=role, username=user)
        call("AssignMappingRuleToGroup", group_id=group, mapping_rule_id=rule)
        call("AssignUserToGroup", group_id=group, username=user)
        for client in clients[:1]:
            call("AssignRoleToClient", role_id=role, client_id=client)
            call("AssignClientToGroup", group_id=group, client_id=client)
        call("AssignGroupToTenant", tenant_id=self._tenant, group_id=group)
        call("AssignRoleToTenant", tenant_id=self._tenant, role_id=role)
        call("AssignMappingRuleToTenant", tenant_id=self._tenant, mapping_rule_id=rule)
        authorization = call(
            "CreateAuthorization", owner_id=role, resource_id=named("process"), **STARTS_OF_A_ROLE
        )
        return {
            "authorization_key": authorization.authorization_key,
            "role_id": role,
            "group_id": group,
            "mapping_rule_id": rule,
            "username": user,
            "client_id": clients[0] if clients else "none",
            "tenant_id": self._tenant,
        }

    def rest(self) -> Facts:
        named, call = self._named, self._call
        variable = named("setting").replace("-", "_")
        call("CreateTenantClusterVariable", tenant_id=self._tenant, name=variable, value=b"1")
        call("CreateGlobalTaskListener", id=named("listener"), type=named("watch"), event_types=["canceling"])
        file = {"name": "a.txt", "content": named("document").encode(), "content_type": "text/plain"}
        call("CreateDocument", file=file, document_id=named("document"))
        return {"setting": variable, "listener": named("listener"), "document_id": named("document")}

    def timed(self) -> Facts:
        """Start a test run that waits for a timer."""
        instance = self._start("timed", tags=["console-test-run"])
        (timer,) = self._call("ListTimers", process_instance_key=instance).timers
        return {"timed_process_instance_key": instance, "timer_key": timer.timer_key}

    def audited(self, facts: Facts) -> Facts:
        logs = self._call("SearchAuditLogs").items
        return {"audit_log_key": logs[0].audit_log_key, "actor_id": logs[0].actor_id, **facts}
