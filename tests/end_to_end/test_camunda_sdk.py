"""Camunda's own Python SDK, unmodified, against a running server: 9, and 10 by way of test_camunda_sdk_10.py."""

import asyncio
import io
import json
from collections.abc import AsyncIterator, Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest
from camunda_orchestration_sdk import CamundaAsyncClient, WorkerConfig
from camunda_orchestration_sdk.errors import ApiError, NotFoundError
from camunda_orchestration_sdk.models import (
    AdHocSubProcessActivateActivitiesInstruction,
    BatchOperationItemSearchQuery,
    ClusterVariableSearchQueryRequest,
    ConditionalEvaluationInstruction,
    CorrelatedMessageSubscriptionSearchQuery,
    CreateClusterVariableRequest,
    CreateDocumentData,
    CreateDocumentsData,
    CreateGlobalTaskListenerRequest,
    DecisionEvaluationByID,
    DecisionInstanceDeletionBatchOperationRequest,
    DecisionInstanceSearchQuery,
    DeleteResourceRequest,
    DocumentLinkRequest,
    DocumentMetadata,
    ExpressionEvaluationRequest,
    GlobalTaskListenerSearchQueryRequest,
    GroupCreateRequest,
    GroupSearchQueryRequest,
    IncidentSearchQuery,
    JobActivationRequest,
    JobChangeset,
    JobCompletionRequest,
    JobFailRequest,
    JobSearchQuery,
    JobTypeStatisticsQuery,
    JobUpdateRequest,
    MessageCorrelationRequest,
    MessageSubscriptionSearchQuery,
    ProcessCreationById,
    ProcessDefinitionElementStatisticsQuery,
    ProcessInstanceCancellationBatchOperationRequest,
    ProcessInstanceDeletionBatchOperationRequest,
    ProcessInstanceMigrationInstruction,
    ProcessInstanceModificationInstruction,
    ProcessInstanceSearchQuery,
    RoleCreateRequest,
    SearchUsersForGroupData,
    SetVariableRequest,
    SignalBroadcastRequest,
    UpdateClusterVariableRequest,
    UpdateGlobalTaskListenerRequest,
    UserRequest,
    UserSearchQueryRequest,
    UserTaskAssignmentRequest,
    UserTaskCompletionRequest,
    UserTaskSearchQuery,
    UserUpdateRequest,
    VariableSearchQuery,
)
from camunda_orchestration_sdk.types import File

from server.bpmn.builder import ad_hoc_sub_process, process
from tests.end_to_end.servers import ROOT, Models, Server
from tests.server.engine.graphs import answering, graph_xml
from tests.server.engine.resource_files import rpa_json

DAY = timedelta(days=1)
INSTANCES = 200
PATIENCE_SECONDS = 90


@pytest.fixture
async def client(server: Server) -> AsyncIterator[CamundaAsyncClient]:
    configuration: Any = {
        "CAMUNDA_REST_ADDRESS": server.http,
        "CAMUNDA_AUTH_STRATEGY": "OAUTH",
        "CAMUNDA_CLIENT_ID": "service",
        "CAMUNDA_CLIENT_SECRET": "service-secret",
        "CAMUNDA_OAUTH_URL": server.token_url,
        "CAMUNDA_TOKEN_DISK_CACHE_DISABLE": "true",
    }
    async with CamundaAsyncClient(configuration=configuration) as client:
        yield client
        for worker in client._workers:  # noqa: SLF001
            await _ended_worker(worker)


async def _ended_worker(worker: Any) -> None:
    """SDK 9 makes an event loop for each worker and leaves it open."""
    if hasattr(worker, "aclose"):
        await worker.aclose()
    else:
        worker.stop()
        worker.worker_loop.close()


async def test_every_partition_of_the_topology_is_healthy(client: CamundaAsyncClient) -> None:
    topology = await client.get_topology()

    partitions = [partition for broker in topology.brokers for partition in broker.partitions]
    assert {(partition.role, partition.health) for partition in partitions} == {("leader", "healthy")}
    assert len(partitions) == topology.partitions_count


@pytest.mark.parametrize(
    ("file", "process_id", "job_types"),
    [
        pytest.param(
            "flowing-retail__order-zeebe.bpmn",
            "order-zeebe",
            ["save-order-z", "retrieve-payment-z", "fetch-goods-z", "ship-goods-z"],
            id="four service tasks with input mappings",
        ),
        pytest.param("zeebe__job_model.bpmn", "jobProcess", ["jobType"], id="one service task"),
    ],
)
async def test_workers_complete_two_hundred_instances(
    client: CamundaAsyncClient, model: Models, file: str, process_id: str, job_types: list[str]
) -> None:
    await client.deploy_resources_from_files([model(file)])
    amounts: list[object] = []

    async def work(job: Any) -> dict[str, object]:
        amounts.append(job.variables.to_dict().get("amount"))
        return {"done": job.type_}

    for job_type in job_types:
        configuration = WorkerConfig(job_type, job_timeout_milliseconds=30_000, max_concurrent_jobs=100)
        client.create_job_worker(configuration, work)
    order = {"order": {"totalSum": 120, "orderId": "o-1"}, "traceId": "t-1"}
    keys = await _started(client, process_id, order)
    workers = asyncio.ensure_future(client.run_workers())  # type: ignore[no-untyped-call]  # the SDK is not typed

    completed = await _completed(client, process_id)

    workers.cancel()
    assert completed == set(keys)
    assert len(keys) == INSTANCES
    assert len(amounts) == INSTANCES * len(job_types)
    if "retrieve-payment-z" in job_types:
        assert amounts.count(120) == INSTANCES


async def _started(client: CamundaAsyncClient, process_id: str, variables: Mapping[str, object]) -> list[str]:
    instruction = ProcessCreationById.from_dict({"processDefinitionId": process_id, "variables": variables})
    created = [await client.create_process_instance(data=instruction) for _ in range(INSTANCES)]
    return [str(instance.process_instance_key) for instance in created]


async def _completed(client: CamundaAsyncClient, process_id: str) -> set[str]:
    filter_ = {"processDefinitionId": process_id, "state": "COMPLETED"}
    query = ProcessInstanceSearchQuery.from_dict({"filter": filter_, "page": {"limit": 500}})
    async with asyncio.timeout(PATIENCE_SECONDS):
        while True:
            found = await client.search_process_instances(data=query)
            if found.page.total_items >= INSTANCES:
                return {str(item.process_instance_key) for item in found.items}
            await asyncio.sleep(0.1)


async def test_a_message_begins_a_process_that_a_signal_ends(
    client: CamundaAsyncClient, tmp_path: Path
) -> None:
    model = process("begun-by-sdk").start_message("begin", message="sdk-begun")
    file = tmp_path / "begun.bpmn"
    file.write_bytes(model.signal_catch("wait", signal="sdk-over").end().to_xml())
    await client.deploy_resources_from_files([file])

    begun = MessageCorrelationRequest.from_dict({"name": "sdk-begun", "correlationKey": "a"})
    correlated = await client.correlate_message(data=begun)
    over = SignalBroadcastRequest.from_dict({"signalName": "sdk-over", "variables": {"level": 5}})
    signal = await client.broadcast_signal(data=over)

    assert int(signal.signal_key) > 0
    assert await _ended(client, correlated.process_instance_key) == "COMPLETED"


async def test_message_subscriptions_and_what_was_correlated_to_them_are_found(
    client: CamundaAsyncClient, tmp_path: Path
) -> None:
    model = process("sdk-subscribed").start_message("begin", message="sdk-open")
    file = tmp_path / "subscribed.bpmn"
    file.write_bytes(model.message_catch("wait", message="sdk-shut", key='="a"').end().to_xml())
    await client.deploy_resources_from_files([file])
    for name in ("sdk-open", "sdk-shut"):
        message = MessageCorrelationRequest.from_dict({"name": name, "correlationKey": "a"})
        correlated = await client.correlate_message(data=message)
    key = correlated.process_instance_key
    assert await _ended(client, key) == "COMPLETED"

    of_process = {"filter": {"processDefinitionId": "sdk-subscribed"}, "sort": [{"field": "elementId"}]}
    subscriptions = await client.search_message_subscriptions(
        data=MessageSubscriptionSearchQuery.from_dict(of_process)
    )
    of_process["sort"] = [{"field": "correlationTime"}]
    caught = await client.search_correlated_message_subscriptions(
        data=CorrelatedMessageSubscriptionSearchQuery.from_dict(of_process)
    )

    begin, wait = subscriptions.items
    assert (begin.message_subscription_type, begin.message_subscription_state) == ("START_EVENT", "CREATED")
    assert (wait.message_subscription_type, wait.message_subscription_state) == (
        "PROCESS_EVENT",
        "CORRELATED",
    )
    assert (wait.process_instance_key, wait.correlation_key) == (key, "a")
    keys = [(each.subscription_key, each.process_instance_key) for each in caught.items]
    assert keys == [(begin.message_subscription_key, key), (wait.message_subscription_key, key)]


async def test_process_instances_are_counted(client: CamundaAsyncClient, tmp_path: Path) -> None:
    file = tmp_path / "counted.bpmn"
    model = process("sdk-counted").start().service_task("count", type="sdk-count")
    file.write_bytes(model.end().to_xml())
    deployed = await client.deploy_resources_from_files([file])
    created = await client.create_process_instance(
        data=ProcessCreationById.from_dict({"processDefinitionId": "sdk-counted"})
    )
    key = created.process_instance_key
    activation = {"type": "sdk-count", "timeout": 60_000, "maxJobsToActivate": 1, "worker": "sdk"}
    (job,) = (await client.activate_jobs(data=JobActivationRequest.from_dict(activation))).jobs
    await client.fail_job(job.job_key, data=JobFailRequest.from_dict({"errorMessage": "lost count"}))
    now = (await client.get_process_instance(key)).start_date
    day = {"from": (now - DAY / 2).isoformat(), "to": (now + DAY / 2).isoformat()}

    flows = await client.get_process_instance_sequence_flows(key)
    elements = await client.get_process_instance_statistics(key)
    wanted = ProcessDefinitionElementStatisticsQuery.from_dict({"filter": {"hasIncident": True}})
    of_definition = await client.get_process_definition_statistics(
        deployed.processes[0].process_definition_key, data=wanted
    )
    incidents = await client.search_element_instance_incidents(
        job.element_instance_key, data=IncidentSearchQuery.from_dict({})
    )
    processes = await client.get_process_definition_instance_statistics()
    errors = await client.get_process_instance_statistics_by_error()
    types = await client.get_job_type_statistics(
        data=JobTypeStatisticsQuery.from_dict({"filter": {**day, "jobType": "sdk-count"}})
    )
    usage = await client.get_usage_metrics(
        start_time=now - DAY / 2, end_time=now + DAY / 2, with_tenants=True
    )

    assert [flow.element_id for flow in flows.items] == ["start_to_count"]
    counted = [(each.element_id, each.incidents, each.completed) for each in elements.items]
    assert counted == [("count", 1, 0), ("start", 0, 1)]
    assert [each.to_dict() for each in of_definition.items] == [each.to_dict() for each in elements.items]
    assert [incident.error_message for incident in incidents.items] == ["lost count"]
    assert "sdk-counted" in {each.process_definition_id for each in processes.items}
    assert "lost count" in {each.error_message for each in errors.items}
    assert [(each.created.count, each.failed.count, each.workers) for each in types.items] == [(1, 1, 1)]
    assert usage.process_instances > 0
    assert usage.tenants.to_dict()["default"]["processInstances"] == usage.process_instances


async def test_conditions_of_start_events_are_evaluated(client: CamundaAsyncClient, tmp_path: Path) -> None:
    model = process("met-by-sdk").start_condition("begin", condition="=sdkAmount > 100").end()
    file = tmp_path / "met.bpmn"
    file.write_bytes(model.to_xml())
    await client.deploy_resources_from_files([file])

    given = ConditionalEvaluationInstruction.from_dict({"variables": {"sdkAmount": 120}})
    evaluated = await client.evaluate_conditionals(data=given)

    (begun,) = evaluated.process_instances
    assert int(evaluated.conditional_evaluation_key) > 0
    assert await _ended(client, begun.process_instance_key) == "COMPLETED"


async def test_a_process_instance_begins_at_an_element_and_ends_after_another(
    client: CamundaAsyncClient, tmp_path: Path
) -> None:
    model = process("instructed-by-sdk").start().service_task("first", type="sdk-before")
    model.service_task("second", type="sdk-there").service_task("third", type="sdk-behind")
    file = tmp_path / "instructed.bpmn"
    file.write_bytes(model.end().to_xml())
    await client.deploy_resources_from_files([file])
    until = {"type": "TERMINATE_PROCESS_INSTANCE", "afterElementId": "second"}
    created = await client.create_process_instance(
        data=ProcessCreationById.from_dict(
            {
                "processDefinitionId": "instructed-by-sdk",
                "startInstructions": [{"elementId": "second"}],
                "runtimeInstructions": [until],
            }
        )
    )

    job = await _job(client, "sdk-there")
    await client.complete_job(job.job_key, data=JobCompletionRequest.from_dict({}))

    assert await _ended(client, created.process_instance_key) == "TERMINATED"


async def test_a_process_instance_is_modified(client: CamundaAsyncClient, tmp_path: Path) -> None:
    model = process("modified-by-sdk").start().service_task("first", type="sdk-first")
    file = tmp_path / "modified.bpmn"
    file.write_bytes(model.service_task("second", type="sdk-second").end().to_xml())
    await client.deploy_resources_from_files([file])
    created = await client.create_process_instance(
        data=ProcessCreationById.from_dict({"processDefinitionId": "modified-by-sdk"})
    )
    key = created.process_instance_key

    moved = {
        "sourceElementInstruction": {"sourceType": "byId", "sourceElementId": "first"},
        "targetElementId": "second",
        "ancestorScopeInstruction": {"ancestorScopeType": "sourceParent"},
    }
    instructions = {
        "activateInstructions": [
            {
                "elementId": "first",
                "variableInstructions": [{"variables": {"again": True}, "scopeId": "first"}],
            }
        ],
        "moveInstructions": [moved],
    }
    await client.modify_process_instance(
        key, data=ProcessInstanceModificationInstruction.from_dict(instructions)
    )
    terminated = {"terminateInstructions": [{"elementId": "first"}, {"elementId": "second"}]}
    await client.modify_process_instance(
        key, data=ProcessInstanceModificationInstruction.from_dict(terminated)
    )

    assert await _ended(client, key) == "TERMINATED"


async def test_a_user_task_of_a_migrated_process_instance_is_completed(
    client: CamundaAsyncClient, tmp_path: Path
) -> None:
    model = process("migrated-by-sdk").start()
    key = await _instance_of(client, tmp_path, model.user_task("approve").end().to_xml(), "migrated-by-sdk")
    (tmp_path / "later.bpmn").write_bytes(process("migrated-by-sdk").start().user_task("sign").end().to_xml())
    deployed = await client.deploy_resources_from_files([tmp_path / "later.bpmn"])
    plan = {
        "targetProcessDefinitionKey": deployed.processes[0].process_definition_key,
        "mappingInstructions": [{"sourceElementId": "approve", "targetElementId": "sign"}],
    }

    await client.migrate_process_instance(key, data=ProcessInstanceMigrationInstruction.from_dict(plan))
    written = {"variables": {"amount": 120, "buyer": "Ada"}}
    await client.create_element_instance_variables(key, data=SetVariableRequest.from_dict(written))
    filter_ = {"processInstanceKey": str(key), "priority": {"$gte": 50}, "state": {"$in": ["CREATED"]}}
    (task,) = (await client.search_user_tasks(data=UserTaskSearchQuery.from_dict({"filter": filter_}))).items
    assigned = UserTaskAssignmentRequest.from_dict({"assignee": "ada"})
    await client.assign_user_task(task.user_task_key, data=assigned)
    assignee = (await client.get_user_task(task.user_task_key)).assignee
    completed = UserTaskCompletionRequest.from_dict({"variables": {"signed": True}})
    await client.complete_user_task(task.user_task_key, data=completed)

    assert await _ended(client, key) == "COMPLETED"
    assert (task.process_definition_version, assignee) == (2, "ada")
    of_it = {"filter": {"processInstanceKey": str(key)}, "sort": [{"field": "name"}]}
    found = await client.search_variables(data=VariableSearchQuery.from_dict(of_it))
    assert [(each.name, each.value) for each in found.items] == [
        ("amount", "120"),
        ("buyer", '"Ada"'),
        ("signed", "true"),
    ]


async def _instance_of(client: CamundaAsyncClient, folder: Path, model: bytes, process_id: str) -> Any:
    (folder / "model.bpmn").write_bytes(model)
    await client.deploy_resources_from_files([folder / "model.bpmn"])
    created = ProcessCreationById.from_dict({"processDefinitionId": process_id})
    return (await client.create_process_instance(data=created)).process_instance_key


async def test_a_search_is_paged_in_both_directions(client: CamundaAsyncClient, tmp_path: Path) -> None:
    model = process("paged-by-sdk").start().service_task("wait", type="sdk-paged").end().to_xml()
    keys = [await _instance_of(client, tmp_path, model, "paged-by-sdk") for _ in range(5)]
    query = {
        "filter": {"processDefinitionId": {"$eq": "paged-by-sdk"}, "state": {"$neq": "TERMINATED"}},
        "sort": [{"field": "processInstanceKey", "order": "ASC"}],
    }

    async def page(**bounds: object) -> Any:
        asked = ProcessInstanceSearchQuery.from_dict({**query, "page": {"limit": 2, **bounds}})
        return await client.search_process_instances(data=asked)

    pages = [await page()]
    pages.append(await page(after=pages[-1].page.end_cursor))
    pages.append(await page(after=pages[-1].page.end_cursor))
    back = await page(before=pages[-1].page.start_cursor)

    found = [[each.process_instance_key for each in part.items] for part in pages]
    assert found == [sorted(keys)[:2], sorted(keys)[2:4], sorted(keys)[4:]]
    assert [each.process_instance_key for each in back.items] == found[1]
    assert {part.page.total_items for part in pages} == {5}


async def test_decisions_expressions_jobs_and_the_system_are_read(
    client: CamundaAsyncClient, tmp_path: Path
) -> None:
    await client.deploy_resources_from_files([ROOT / "examples" / "pricing.dmn"])
    given = {"decisionDefinitionId": "discount", "variables": {"amount": 120, "customer": "regular"}}
    evaluated = await client.evaluate_decision(data=DecisionEvaluationByID.from_dict(given))
    key = await _instance_of(
        client, tmp_path, process("read").start().service_task("a", type="sdk-read").to_xml(), "read"
    )

    of_it = {"filter": {"decisionEvaluationKey": str(evaluated.decision_evaluation_key)}}
    decisions = await client.search_decision_instances(data=DecisionInstanceSearchQuery.from_dict(of_it))
    decision = await client.get_decision_instance(decisions.items[0].decision_evaluation_instance_key)
    jobs = await client.search_jobs(
        data=JobSearchQuery.from_dict({"filter": {"processInstanceKey": str(key), "type": "sdk-read"}})
    )
    told = await client.evaluate_expression(data=ExpressionEvaluationRequest("=1 + 2"))
    system = await client.get_system_configuration()

    assert evaluated.output == "10"
    assert {each.decision_definition_id for each in decisions.items} == {"level", "discount"}
    assert decision.decision_evaluation_key == evaluated.decision_evaluation_key
    assert [(job.element_id, job.retries) for job in jobs.items] == [("a", 3)]
    assert told.result == 3
    assert system.job_metrics.enabled


async def test_an_ad_hoc_sub_process_is_steered_by_its_worker_and_by_callers(
    client: CamundaAsyncClient, tmp_path: Path
) -> None:
    scope = ad_hoc_sub_process("care").service_task("feed", type="sdk-feed").apart().task("pet")
    file = tmp_path / "care.bpmn"
    file.write_bytes(
        process("sdk-care").start().embed_ad_hoc(scope).job_worker(type="sdk-care").end().to_xml()
    )
    await client.deploy_resources_from_files([file])
    instruction = ProcessCreationById.from_dict({"processDefinitionId": "sdk-care"})
    instance = await client.create_process_instance(data=instruction)

    care = await _job(client, "sdk-care")
    instructions = {"elements": [{"elementId": "feed", "variables": {"food": "fish"}}]}
    await client.activate_ad_hoc_sub_process_activities(
        care.element_instance_key,
        data=AdHocSubProcessActivateActivitiesInstruction.from_dict(instructions),
    )
    feed = await _job(client, "sdk-feed")
    petting = {"type": "adHocSubProcess", "activateElements": [{"elementId": "pet"}]}
    await client.complete_job(care.job_key, data=JobCompletionRequest.from_dict({"result": petting}))
    again = await _job(client, "sdk-care")
    done = {
        "type": "adHocSubProcess",
        "isCompletionConditionFulfilled": True,
        "isCancelRemainingInstances": True,
    }
    await client.complete_job(again.job_key, data=JobCompletionRequest.from_dict({"result": done}))

    assert feed.variables.to_dict()["food"] == "fish"
    assert await _ended(client, instance.process_instance_key) == "COMPLETED"


async def _job(client: CamundaAsyncClient, job_type: str) -> Any:
    request = {"type": job_type, "timeout": 60_000, "maxJobsToActivate": 1, "requestTimeout": 30_000}
    (job,) = (await client.activate_jobs(data=JobActivationRequest.from_dict(request))).jobs
    return job


async def test_a_task_listener_denies_and_then_corrects(client: CamundaAsyncClient, tmp_path: Path) -> None:
    file = tmp_path / "listened.bpmn"
    model = process("listened-by-sdk").user_task("approve").task_listener("completing", type="sdk-ask")
    file.write_bytes(model.end().to_xml())
    await client.deploy_resources_from_files([file])
    instruction = ProcessCreationById.from_dict({"processDefinitionId": "listened-by-sdk"})
    instance = await client.create_process_instance(data=instruction)
    wanted = {"processInstanceKey": str(instance.process_instance_key)}
    (task,) = (await client.search_user_tasks(data=UserTaskSearchQuery.from_dict({"filter": wanted}))).items

    denied = asyncio.ensure_future(client.complete_user_task(task.user_task_key))
    action = await _answered(client, {"type": "userTask", "denied": True, "deniedReason": "too early"})
    with pytest.raises(ApiError, match="too early") as refusal:
        await denied
    agreed = asyncio.ensure_future(client.complete_user_task(task.user_task_key))
    await _answered(client, {"type": "userTask", "corrections": {"assignee": "ann", "candidateUsers": []}})
    await agreed

    assert (action, refusal.value.status_code) == ("complete", 409)
    assert await _ended(client, instance.process_instance_key) == "COMPLETED"
    assert (await client.get_user_task(task.user_task_key)).assignee == "ann"


async def _answered(client: CamundaAsyncClient, result: Mapping[str, object]) -> str:
    """Complete the job of the listener with this result, and tell the action that it was asked about."""
    request = {"type": "sdk-ask", "timeout": 30_000, "maxJobsToActivate": 1, "requestTimeout": 10_000}
    (job,) = (await client.activate_jobs(data=JobActivationRequest.from_dict(request))).jobs
    await client.complete_job(job.job_key, data=JobCompletionRequest.from_dict({"result": result}))
    return str(job.user_task.action)


async def test_a_form_is_read_from_a_user_task_and_from_a_start_event(
    client: CamundaAsyncClient, tmp_path: Path
) -> None:
    form, model = tmp_path / "sdk.form", tmp_path / "asked.bpmn"
    form.write_text('{"id": "sdk-form", "type": "default", "components": []}')
    asked = process("asked-by-sdk").start(form="sdk-form").user_task("review", form={"formId": "sdk-form"})
    model.write_bytes(asked.end().to_xml())
    deployed = await client.deploy_resources_from_files([form, model])
    key = deployed.processes[0].process_definition_key
    start = ProcessCreationById.from_dict({"processDefinitionId": "asked-by-sdk"})
    instance = await client.create_process_instance(data=start)
    wanted = {"processInstanceKey": str(instance.process_instance_key)}
    (task,) = (await client.search_user_tasks(data=UserTaskSearchQuery.from_dict({"filter": wanted}))).items

    of_task = await client.get_user_task_form(task.user_task_key)
    of_start = await client.get_start_process_form(key)

    (found,) = deployed.forms
    assert (found.form_id, found.version, found.form_key) == ("sdk-form", 1, task.form_key)
    assert of_task.to_dict() == of_start.to_dict()
    assert (of_task.form_key, of_task.schema) == (found.form_key, form.read_text())
    assert (await client.get_process_definition(key)).has_start_form


async def test_a_worker_reads_the_resource_that_its_job_links(
    client: CamundaAsyncClient, tmp_path: Path
) -> None:
    robot, model = tmp_path / "sdk.rpa", tmp_path / "robotic.bpmn"
    robot.write_bytes(rpa_json("sdk-robot", tag="stable"))
    linked = {"resourceId": "sdk-robot", "resourceType": "RPA", "linkName": "main"}
    robotic = process("robotic").start().service_task("work", type="sdk-robotic", linked=[linked]).end()
    model.write_bytes(robotic.to_xml())
    await client.deploy_resources_from_files([robot, model])
    await client.create_process_instance(
        data=ProcessCreationById.from_dict({"processDefinitionId": "robotic"})
    )
    request = {"type": "sdk-robotic", "timeout": 30_000, "maxJobsToActivate": 1, "requestTimeout": 10_000}
    (job,) = (await client.activate_jobs(data=JobActivationRequest.from_dict(request))).jobs

    (link,) = json.loads(job.custom_headers["linkedResources"])
    found = await client.get_resource(link["resourceKey"])
    content = await client.get_resource_content(link["resourceKey"])

    assert (link["resourceType"], link["linkName"]) == ("RPA", "main")
    assert (found.resource_id, found.version_tag, found.version) == ("sdk-robot", "stable", 1)
    assert _read(content) == json.loads(robot.read_bytes())


def _read(content: Any) -> object:
    """JSON that SDK 9 leaves to its caller, and SDK 10 reads."""
    return json.load(content.payload) if hasattr(content, "payload") else content.to_dict()


async def test_cluster_variables_are_kept_and_seen_by_processes(
    client: CamundaAsyncClient, tmp_path: Path
) -> None:
    created = CreateClusterVariableRequest.from_dict({"name": "sdk", "value": {"rate": 1}})
    updated = UpdateClusterVariableRequest.from_dict({"value": {"rate": 2}})
    await client.create_global_cluster_variable(data=created)
    await client.create_tenant_cluster_variable("default", data=created)
    await client.update_tenant_cluster_variable("default", "sdk", data=updated)
    script = (
        process("rated")
        .start()
        .script_task(
            "rate", expression="=camunda.vars.env.sdk.rate - camunda.vars.cluster.sdk.rate", result="more"
        )
    )
    model = tmp_path / "rated.bpmn"
    model.write_bytes(script.service_task("wait", type="rated").end().to_xml())
    await client.deploy_resources_from_files([model])

    await client.create_process_instance(data=ProcessCreationById.from_dict({"processDefinitionId": "rated"}))

    assert (await _job(client, "rated")).variables.to_dict() == {"more": 1}
    own = await client.get_tenant_cluster_variable("default", "sdk")
    common = await client.get_global_cluster_variable("sdk")
    wanted = ClusterVariableSearchQueryRequest.from_dict({"filter": {"name": "sdk"}})
    found = await client.search_cluster_variables(data=wanted)
    assert [own.value, common.value] == ['{"rate":2}', '{"rate":1}']
    assert sorted(each.value for each in found.items) == [common.value, own.value]
    await client.delete_tenant_cluster_variable("default", "sdk")
    await client.delete_global_cluster_variable("sdk")
    with pytest.raises(ApiError) as gone:
        await client.get_global_cluster_variable("sdk")
    assert gone.value.status_code == 404


async def test_the_directory_is_kept(client: CamundaAsyncClient) -> None:
    user = {"username": "sdk", "email": "sdk@example.com", "password": "correct horse battery staple"}
    await client.create_user(data=UserRequest.from_dict({**user, "name": "Ada King"}))
    changed = await client.update_user("sdk", data=UserUpdateRequest.from_dict({"name": "Ada Lovelace"}))
    await client.create_group(data=GroupCreateRequest.from_dict({"groupId": "sdk", "name": "SDK"}))
    await client.create_role(data=RoleCreateRequest.from_dict({"roleId": "sdk", "name": "SDK"}))
    await client.assign_user_to_group("sdk", "sdk")
    await client.assign_role_to_user("sdk", "sdk")
    await client.assign_role_to_group("sdk", "sdk")

    named = UserSearchQueryRequest.from_dict({"filter": {"name": {"$like": "*Lovelace"}}})
    (found,) = (await client.search_users(data=named)).items
    listed = SearchUsersForGroupData.from_dict({"sort": [{"field": "username", "order": "DESC"}]})
    groups = GroupSearchQueryRequest.from_dict({"filter": {"groupId": "sdk"}})
    assert (changed.name, found.username, found.email) == ("Ada Lovelace", "sdk", "sdk@example.com")
    members: list[Any] = [
        await client.search_users_for_group("sdk", data=listed),
        await client.search_users_for_role("sdk"),
    ]
    assert [[member.username for member in page.items] for page in members] == [["sdk"], ["sdk"]]
    assert [role.role_id for role in (await client.search_roles_for_group("sdk")).items] == ["sdk"]
    assert [group.name for group in (await client.search_groups(data=groups)).items] == ["SDK"]
    assert [group.group_id for group in (await client.search_groups_for_role("sdk")).items] == ["sdk"]
    me = await client.get_authentication()
    assert (me.username, [tenant.tenant_id for tenant in me.tenants]) == ("service", ["default"])
    tenant = await client.get_tenant("default")
    tenants = [each.tenant_id for each in (await client.search_tenants()).items]
    assert tenant.tenant_id == "default"
    assert {"default", "other"} <= set(tenants)

    await client.delete_group("sdk")
    await client.delete_role("sdk")
    await client.delete_user("sdk")
    with pytest.raises(ApiError) as gone:
        await client.get_user("sdk")
    assert gone.value.status_code == 404


async def test_global_task_listeners_are_kept_and_asked(client: CamundaAsyncClient, tmp_path: Path) -> None:
    listener = {"type": "sdk-watch", "eventTypes": ["creating"]}
    created = CreateGlobalTaskListenerRequest.from_dict({"id": "sdk", **listener})
    made = await client.create_global_task_listener(data=created)
    assert (made.retries, made.after_non_global, made.priority, made.source.value) == (3, False, 50, "API")
    model = tmp_path / "watched.bpmn"
    model.write_bytes(process("watched").user_task("approve").end().to_xml())
    await client.deploy_resources_from_files([model])

    instance = await client.create_process_instance(
        data=ProcessCreationById.from_dict({"processDefinitionId": "watched"})
    )
    job = await _job(client, "sdk-watch")

    assert (job.process_instance_key, job.kind.value) == (instance.process_instance_key, "TASK_LISTENER")
    changed = UpdateGlobalTaskListenerRequest.from_dict({**listener, "priority": 70})
    assert (await client.update_global_task_listener("sdk", data=changed)).priority == 70
    assert (await client.get_global_task_listener("sdk")).priority == 70
    wanted = GlobalTaskListenerSearchQueryRequest.from_dict({"filter": {"eventTypes": ["creating"]}})
    found = await client.search_global_task_listeners(data=wanted)
    assert [each.id for each in found.items] == ["sdk"]
    await client.delete_global_task_listener("sdk")
    with pytest.raises(ApiError) as gone:
        await client.get_global_task_listener("sdk")
    assert gone.value.status_code == 404


async def test_a_deleted_process_definition_begins_nothing(
    client: CamundaAsyncClient, tmp_path: Path
) -> None:
    file = tmp_path / "deleted.bpmn"
    file.write_bytes(process("deleted-by-sdk").start().service_task("a", type="sdk-a").end().to_xml())
    deployed = await client.deploy_resources_from_files([file])
    key = deployed.processes[0].process_definition_key
    start = ProcessCreationById.from_dict({"processDefinitionId": "deleted-by-sdk"})
    await client.create_process_instance(data=start)

    answer = await client.delete_resource(key, data=DeleteResourceRequest.from_dict({}))

    assert answer.resource_key == key
    # New process instances begin in any partition.
    for _ in range(4):
        with pytest.raises(Exception, match="404"):
            await client.create_process_instance(data=start)


async def test_a_job_that_keeps_failing_becomes_an_incident_that_can_be_resolved(
    client: CamundaAsyncClient, model: Models, tmp_path: Path
) -> None:
    process_id = "failing"
    text = model("zeebe__job_model.bpmn").read_text()
    file = tmp_path / "failing.bpmn"
    file.write_text(text.replace("jobProcess", process_id).replace('"jobType"', '"fragile"'))
    await client.deploy_resources_from_files([file])
    is_mended = asyncio.Event()
    attempts: list[int] = []

    async def work(job: Any) -> dict[str, object]:
        attempts.append(job.retries)
        if not is_mended.is_set():
            raise RuntimeError("the card was declined")
        return {"paid": True}

    client.create_job_worker(WorkerConfig("fragile", job_timeout_milliseconds=30_000), work)
    workers = asyncio.ensure_future(client.run_workers())  # type: ignore[no-untyped-call]  # the SDK is not typed
    instruction = ProcessCreationById.from_dict({"processDefinitionId": process_id})
    instance = await client.create_process_instance(data=instruction)

    incident = await _incident(client, str(instance.process_instance_key))
    is_mended.set()
    changes = JobUpdateRequest(changeset=JobChangeset(retries=1))
    await client.update_job(incident.job_key, data=changes)
    await client.resolve_incident(incident.incident_key)
    state = await _ended(client, instance.process_instance_key)

    workers.cancel()
    assert (incident.error_type, incident.state) == ("JOB_NO_RETRIES", "ACTIVE")
    assert "the card was declined" in incident.error_message
    assert attempts == [3, 2, 1, 1]
    assert (await client.get_incident(incident.incident_key)).state == "RESOLVED"
    assert state == "COMPLETED"


async def _incident(client: CamundaAsyncClient, process_instance_key: str) -> Any:
    filter_ = {"processInstanceKey": process_instance_key, "state": "ACTIVE"}
    query = IncidentSearchQuery.from_dict({"filter": filter_})
    async with asyncio.timeout(PATIENCE_SECONDS):
        while True:
            found = await client.search_incidents(data=query)
            if found.items:
                return found.items[0]
            await asyncio.sleep(0.1)


async def _ended(client: CamundaAsyncClient, process_instance_key: Any) -> str:
    async with asyncio.timeout(PATIENCE_SECONDS):
        while True:
            instance = await client.get_process_instance(process_instance_key)
            if instance.state != "ACTIVE":
                return str(instance.state)
            await asyncio.sleep(0.1)


async def test_process_instances_are_cancelled_by_a_filter(
    client: CamundaAsyncClient, tmp_path: Path
) -> None:
    file = tmp_path / "batch-of-sdk.bpmn"
    file.write_bytes(process("batch-of-sdk").service_task("wait", type="never").end().to_xml())
    await client.deploy_resources_from_files([str(file)])
    instruction = ProcessCreationById.from_dict({"processDefinitionId": "batch-of-sdk"})
    started = [await client.create_process_instance(data=instruction) for _ in range(3)]
    filter_ = {"filter": {"processDefinitionId": "batch-of-sdk"}}

    created = await client.cancel_process_instances_batch_operation(
        data=ProcessInstanceCancellationBatchOperationRequest.from_dict(filter_)
    )

    assert created.batch_operation_type == "CANCEL_PROCESS_INSTANCE"
    states = [await _ended(client, instance.process_instance_key) for instance in started]
    assert states == ["TERMINATED"] * 3
    batch = await _finished(client, created.batch_operation_key)
    assert (batch.state, batch.operations_completed_count, batch.errors) == ("COMPLETED", 3, [])
    of_it = {"filter": {"batchOperationKey": str(created.batch_operation_key), "state": "COMPLETED"}}
    items = await client.search_batch_operation_items(data=BatchOperationItemSearchQuery.from_dict(of_it))
    keys = {str(item.process_instance_key) for item in items.items}
    assert keys == {str(instance.process_instance_key) for instance in started}


async def test_the_history_of_a_process_instance_is_deleted(
    client: CamundaAsyncClient, tmp_path: Path
) -> None:
    file = tmp_path / "history-of-sdk.bpmn"
    file.write_bytes(process("history-of-sdk").end().to_xml())
    await client.deploy_resources_from_files([str(file)])
    instruction = ProcessCreationById.from_dict({"processDefinitionId": "history-of-sdk"})
    started = await client.create_process_instance(data=instruction)

    await client.delete_process_instance(started.process_instance_key, data=None)

    with pytest.raises(NotFoundError):
        await client.get_process_instance(started.process_instance_key)
    with pytest.raises(NotFoundError):
        await client.delete_process_instance(started.process_instance_key, data=None)


async def test_the_history_of_process_instances_is_deleted_by_a_filter(
    client: CamundaAsyncClient, tmp_path: Path
) -> None:
    file = tmp_path / "deletions-of-sdk.bpmn"
    file.write_bytes(process("deletions-of-sdk").end().to_xml())
    await client.deploy_resources_from_files([str(file)])
    instruction = ProcessCreationById.from_dict({"processDefinitionId": "deletions-of-sdk"})
    for _ in range(3):
        await client.create_process_instance(data=instruction)
    filter_ = {"filter": {"processDefinitionId": "deletions-of-sdk"}}

    created = await client.delete_process_instances_batch_operation(
        data=ProcessInstanceDeletionBatchOperationRequest.from_dict(filter_)
    )

    assert created.batch_operation_type == "DELETE_PROCESS_INSTANCE"
    batch = await _finished(client, created.batch_operation_key)
    assert (batch.state, batch.operations_completed_count, batch.errors) == ("COMPLETED", 3, [])


async def test_decision_instances_are_deleted_by_a_filter(client: CamundaAsyncClient, tmp_path: Path) -> None:
    file = tmp_path / "deleted-of-sdk.dmn"
    file.write_bytes(graph_xml(answering("deleted-of-sdk", "1"), id_="deleted-of-sdk"))
    await client.deploy_resources_from_files([str(file)])
    for _ in range(2):
        await client.evaluate_decision(
            data=DecisionEvaluationByID.from_dict({"decisionDefinitionId": "deleted-of-sdk"})
        )
    filter_ = {"filter": {"decisionDefinitionId": "deleted-of-sdk"}}

    created = await client.delete_decision_instances_batch_operation(
        data=DecisionInstanceDeletionBatchOperationRequest.from_dict(filter_)
    )

    assert created.batch_operation_type == "DELETE_DECISION_INSTANCE"
    batch = await _finished(client, created.batch_operation_key)
    assert (batch.state, batch.operations_completed_count, batch.errors) == ("COMPLETED", 2, [])
    of_it = {"filter": {"batchOperationKey": created.batch_operation_key}}
    found = await client.search_batch_operation_items(data=BatchOperationItemSearchQuery.from_dict(of_it))
    assert [item.process_instance_key for item in found.items] == [None, None]


async def _finished(client: CamundaAsyncClient, batch_operation_key: Any) -> Any:
    async with asyncio.timeout(PATIENCE_SECONDS):
        while True:
            batch = await client.get_batch_operation(batch_operation_key)
            if batch.end_date is not None:
                return batch
            await asyncio.sleep(0.1)


def _file(content: bytes, name: str) -> File:
    return File(io.BytesIO(content), name, "text/html")


async def test_documents_are_stored_read_linked_and_deleted(
    client: CamundaAsyncClient, server: Server
) -> None:
    about = DocumentMetadata.from_dict({"fileName": "page.html", "customProperties": {"pages": 1}})

    created = await client.create_document(
        data=CreateDocumentData(_file(b"<p>one</p>", "a.html"), metadata=about)
    )
    read = await client.get_document(created.document_id, content_hash=str(created.content_hash))
    link = await client.create_document_link(
        created.document_id, data=DocumentLinkRequest.from_dict({"timeToLive": 60_000})
    )
    async with httpx.AsyncClient() as anybody:
        linked = await anybody.get(link.url)
        await client.delete_document(created.document_id)
        gone = await anybody.get(link.url)

    assert (created.metadata.file_name, created.metadata.size) == ("page.html", 10)
    assert created.metadata.custom_properties.to_dict() == {"pages": 1}
    assert read.payload.read() == b"<p>one</p>"
    assert (linked.status_code, linked.content) == (200, b"<p>one</p>")
    assert link.url.startswith(server.http)
    assert gone.status_code == 404
    with pytest.raises(NotFoundError):
        await client.get_document(created.document_id)


async def test_several_documents_are_stored_at_once(client: CamundaAsyncClient) -> None:
    files = [_file(b"one", "a.html"), _file(b"three", "b.html")]
    about = [DocumentMetadata.from_dict({}), DocumentMetadata.from_dict({"size": 4})]

    whole = await client.create_documents(data=CreateDocumentsData(files))
    part = await client.create_documents(data=CreateDocumentsData(files, metadata_list=about))

    assert [created.metadata.size for created in whole.created_documents] == [3, 5]
    assert [created.metadata.file_name for created in part.created_documents] == ["a.html"]
    assert [(failed.file_name, failed.status) for failed in part.failed_documents] == [("b.html", 400)]
