"""What Zeebe's clients get when a call is refused: the status code, the text, and nothing changed."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import grpc
import pytest
from google.rpc.status_pb2 import Status

from gnomon.engine.v1 import job_service_pb2
from gnomon.gateway_protocol import gateway_pb2 as pb
from server import gateway
from server.bpmn.builder import process
from server.platform.dispatch import Dispatcher
from server.platform.errors import (
    ERRORS,
    AlreadyExists,
    DeadlineExceeded,
    IdempotencyConflict,
    InvalidArgument,
    InvalidState,
    ModeNotSupported,
    NotFound,
    PayloadTooLarge,
    PermissionDenied,
    QuotaExhausted,
    ResourceExhausted,
    ServiceError,
    Unauthenticated,
    Unavailable,
)
from server.platform.grpc_server import GrpcConfig, GrpcServer
from tests.server.gateway.zeebe import METHODS, Zeebe, refusal
from tests.server.rpc.caller import Caller

CODES: Mapping[type[ServiceError], grpc.StatusCode] = {
    InvalidArgument: grpc.StatusCode.INVALID_ARGUMENT,
    Unauthenticated: grpc.StatusCode.UNAUTHENTICATED,
    PermissionDenied: grpc.StatusCode.PERMISSION_DENIED,
    NotFound: grpc.StatusCode.NOT_FOUND,
    InvalidState: grpc.StatusCode.FAILED_PRECONDITION,
    AlreadyExists: grpc.StatusCode.ALREADY_EXISTS,
    IdempotencyConflict: grpc.StatusCode.FAILED_PRECONDITION,
    PayloadTooLarge: grpc.StatusCode.OUT_OF_RANGE,
    QuotaExhausted: grpc.StatusCode.RESOURCE_EXHAUSTED,
    ModeNotSupported: grpc.StatusCode.UNIMPLEMENTED,
    # Back pressure, which is UNAVAILABLE in our own services.
    ResourceExhausted: grpc.StatusCode.RESOURCE_EXHAUSTED,
    Unavailable: grpc.StatusCode.UNAVAILABLE,
    DeadlineExceeded: grpc.StatusCode.DEADLINE_EXCEEDED,
}

JOBS = job_service_pb2.DESCRIPTOR.services_by_name["JobService"]


class Refusing:
    """Refuses every completion for the same reason."""

    def __init__(self, error: Exception) -> None:
        self._error = error

    async def complete_job(self, *_: object) -> object:
        raise self._error

    async def stream_activated_jobs(self, *_: object, **__: object) -> None:
        raise self._error


async def refusals(error: Exception) -> list[grpc.aio.AioRpcError]:
    """Of a call with one answer, and of a stream."""
    dispatcher = Dispatcher({JOBS: Refusing(error)}, ())
    zeebe = Dispatcher({gateway.SERVICE: gateway.GatewayServicer(dispatcher)}, ())
    server = GrpcServer(dispatcher, GrpcConfig(port=0), beside=(zeebe,))
    port = await server.start()
    async with grpc.aio.insecure_channel(f"127.0.0.1:{port}") as channel:
        client = Zeebe(channel)
        found = [
            await refusal(client("CompleteJob", jobKey=1)),
            await refusal(client("StreamActivatedJobs", type="charge")),
        ]
    await server.stop()
    return found


def test_the_table_has_every_error() -> None:
    assert set(CODES) == set(ERRORS.values())


@pytest.mark.parametrize("kind", CODES, ids=lambda kind: str(kind.reason))
async def test_each_error_has_its_status_code_and_text(kind: type[ServiceError]) -> None:
    found = await refusals(kind("expected this, found that"))

    assert [each.code() for each in found] == [CODES[kind]] * 2
    assert [each.details() for each in found] == ["expected this, found that"] * 2


async def test_a_refusal_has_details_for_programs() -> None:
    found, _ = await refusals(ResourceExhausted("full", queue="jobs"))

    metadata = dict(found.trailing_metadata())  # type: ignore[arg-type]  # pairs
    status = Status.FromString(metadata["grpc-status-details-bin"])
    assert status.code == grpc.StatusCode.RESOURCE_EXHAUSTED.value[0]  # type: ignore[index]  # a pair
    assert b"RESOURCE_EXHAUSTED" in status.details[0].value


async def test_a_fault_of_the_server_tells_nothing_of_its_cause(caplog: pytest.LogCaptureFixture) -> None:
    found = await refusals(ValueError("secret"))

    assert [each.code() for each in found] == [grpc.StatusCode.INTERNAL] * 2
    assert not [each for each in found if "secret" in (each.details() or "")]
    assert "call failed" in caplog.text


# Who may not call


@pytest.mark.parametrize("rpc", METHODS)
async def test_no_rpc_answers_without_a_token(in_memory: Zeebe, rpc: str) -> None:
    refused = await refusal(in_memory.signed_in_as(None)(rpc))

    assert refused.code() is grpc.StatusCode.UNAUTHENTICATED


@pytest.mark.parametrize("rpc", [rpc for rpc in METHODS if rpc != "Topology"])
async def test_no_rpc_answers_without_its_permission(in_memory: Zeebe, rpc: str) -> None:
    refused = await refusal(in_memory.signed_in_as("reader")(rpc))

    assert refused.code() is grpc.StatusCode.PERMISSION_DENIED


@pytest.mark.parametrize("rpc", [rpc for rpc in METHODS if rpc != "Topology"])
async def test_a_request_without_a_field_is_invalid(in_memory: Zeebe, rpc: str) -> None:
    refused = await refusal(in_memory(rpc))

    assert refused.code() is grpc.StatusCode.INVALID_ARGUMENT
    assert refused.details()


# Keys


@dataclass(frozen=True)
class World:
    """Things of the default tenant, which a client of another tenant knows the keys of."""

    zeebe: Zeebe
    own: Caller
    keys: Mapping[str, int]


@pytest.fixture
async def world(zeebe: Zeebe, own: Caller) -> World:
    definition = await zeebe.deploy(
        process("order").start().service_task("charge", type="charge").service_task("x", type="x").end()
    )
    instance = await zeebe.start("order", '{"a":1}')
    (job,) = await zeebe.activate("charge")
    await zeebe("FailJob", jobKey=job.key, retries=0)
    filter_ = {"process_instance_key": {"eq": instance}}
    (incident,) = (await own("SearchIncidents", filter=filter_)).items
    await zeebe("UpdateJobRetries", jobKey=job.key, retries=2)
    other = await zeebe.start("order", '{"a":1}')
    (active,) = await zeebe.activate("charge")
    assert active.processInstanceKey == other
    keys = {
        "definition": definition,
        "instance": other,
        "element": active.elementInstanceKey,
        "job": active.key,
        "incident": incident.incident_key,
    }
    return World(zeebe, own, keys)


Fields = dict[str, Any]


def _plan(key: int) -> Fields:
    plan = pb.MigrateProcessInstanceRequest.MigrationPlan(targetProcessDefinitionKey=key)
    return {"migrationPlan": plan}


# Each RPC that takes a key, with the key's name in the world and the fields beside it.
KEYED: Mapping[str, tuple[str, str, Fields]] = {
    "DeleteResource": ("resourceKey", "definition", {}),
    "CreateProcessInstance": ("processDefinitionKey", "definition", {}),
    "CancelProcessInstance": ("processInstanceKey", "instance", {}),
    "ModifyProcessInstance": (
        "processInstanceKey",
        "instance",
        {"activateInstructions": [pb.ModifyProcessInstanceRequest.ActivateInstruction(elementId="x")]},
    ),
    "MigrateProcessInstance": ("processInstanceKey", "instance", _plan(1)),
    "CompleteJob": ("jobKey", "job", {}),
    "FailJob": ("jobKey", "job", {"retries": 1}),
    "ThrowError": ("jobKey", "job", {"errorCode": "BROKE"}),
    "UpdateJobRetries": ("jobKey", "job", {"retries": 7}),
    "UpdateJobTimeout": ("jobKey", "job", {"timeout": 1000}),
    "EvaluateConditional": ("processDefinitionKey", "definition", {"variables": '{"a":1}'}),
    "ResolveIncident": ("incidentKey", "incident", {}),
    "SetVariables": ("elementInstanceKey", "element", {"variables": '{"a":2}'}),
}


def test_the_table_has_every_rpc_that_takes_a_key() -> None:
    keyed = {
        rpc
        for rpc, method in METHODS.items()
        if any(
            field.name.endswith("Key") and field.name != "correlationKey"
            for field in method.input_type.fields
        )
    }

    # The keys of decisions have tests of their own.
    assert KEYED.keys() == keyed - {"EvaluateDecision"}


async def test_a_key_of_another_tenant_is_not_found_and_changes_nothing(world: World) -> None:
    stranger = world.zeebe.signed_in_as("stranger")

    found = {
        rpc: (await refusal(stranger(rpc, **{field: world.keys[key]}, **fields))).code()
        for rpc, (field, key, fields) in KEYED.items()
    }

    assert found == dict.fromkeys(KEYED, grpc.StatusCode.NOT_FOUND)
    await _is_unchanged(world)


async def test_a_key_that_is_unknown_is_not_found(in_memory: Zeebe) -> None:
    found = {
        rpc: (await refusal(in_memory(rpc, **{field: 2**40}, **fields))).code()
        for rpc, (field, _, fields) in KEYED.items()
    }

    assert found == dict.fromkeys(KEYED, grpc.StatusCode.NOT_FOUND)


async def _is_unchanged(world: World) -> None:
    """The job is still with its worker, with the variables of its instance, and goes on."""
    await world.zeebe("CompleteJob", jobKey=world.keys["job"])
    (job,) = await world.zeebe.activate("x")
    assert (job.processInstanceKey, job.variables) == (world.keys["instance"], '{"a":1}')


# Variables


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("{", id="not JSON"),
        pytest.param('{"a":2} and more', id="more than JSON"),
        pytest.param("[1]", id="a list"),
        pytest.param('"a"', id="a text"),
        pytest.param("null", id="null"),
        pytest.param('{"a":NaN}', id="NaN"),
    ],
)
async def test_variables_that_are_no_object_are_refused_and_change_nothing(world: World, text: str) -> None:
    variable = pb.ModifyProcessInstanceRequest.VariableInstruction(variables=text)
    activate = pb.ModifyProcessInstanceRequest.ActivateInstruction(
        elementId="x", variableInstructions=[variable]
    )
    keys = world.keys
    calls: Mapping[str, Fields] = {
        "CreateProcessInstance": {"bpmnProcessId": "order", "version": -1, "variables": text},
        "CreateProcessInstanceWithResult": {
            "request": {"bpmnProcessId": "order", "version": -1, "variables": text}
        },
        "CompleteJob": {"jobKey": keys["job"], "variables": text},
        "FailJob": {"jobKey": keys["job"], "variables": text},
        "ThrowError": {"jobKey": keys["job"], "errorCode": "BROKE", "variables": text},
        "SetVariables": {"elementInstanceKey": keys["element"], "variables": text},
        "ModifyProcessInstance": {
            "processInstanceKey": keys["instance"],
            "activateInstructions": [activate],
        },
        "PublishMessage": {"name": "paid", "variables": text},
        "BroadcastSignal": {"signalName": "alarm", "variables": text},
        "EvaluateDecision": {"decisionId": "price", "variables": text},
        "EvaluateConditional": {"variables": text},
    }

    found = {rpc: (await refusal(world.zeebe(rpc, **fields))).code() for rpc, fields in calls.items()}

    assert found == dict.fromkeys(calls, grpc.StatusCode.INVALID_ARGUMENT)
    await _is_unchanged(world)


# Bounds


@pytest.mark.parametrize(
    ("rpc", "fields"),
    [
        pytest.param("CancelProcessInstance", {"operationReference": 2**64 - 1}, id="reference too large"),
        pytest.param("CancelProcessInstance", {"operationReference": 0}, id="reference 0"),
        pytest.param("CancelProcessInstance", {"processInstanceKey": -5}, id="negative key"),
        pytest.param("CreateProcessInstance", {"bpmnProcessId": "order", "version": -2}, id="version -2"),
        pytest.param(
            "CreateProcessInstance", {"bpmnProcessId": "order", "processDefinitionKey": 1}, id="id and key"
        ),
        pytest.param(
            "CreateProcessInstance",
            {"bpmnProcessId": "order", "version": -1, "startInstructions": [{"elementId": "x"}] * 1001},
            id="1001 start instructions",
        ),
        pytest.param(
            "CreateProcessInstance",
            {
                "bpmnProcessId": "order",
                "version": -1,
                "runtimeInstructions": [{"terminate": {"afterElementId": "x"}}] * 101,
            },
            id="101 runtime instructions",
        ),
        pytest.param("EvaluateDecision", {"decisionId": "a", "decisionKey": 1}, id="decision's id and key"),
        pytest.param("DeployResource", {"resources": [{"name": "a.bpmn"}]}, id="an empty file"),
        pytest.param("ActivateJobs", {"type": "a", "timeout": 0}, id="no time for a job"),
        pytest.param(
            "ActivateJobs", {"type": "a", "timeout": 1, "maxJobsToActivate": -1}, id="fewer than 0 jobs"
        ),
        pytest.param("StreamActivatedJobs", {"type": "", "timeout": 1000}, id="no type"),
        pytest.param("UpdateJobRetries", {"jobKey": 1, "retries": 0}, id="no retries"),
        pytest.param("UpdateJobTimeout", {"jobKey": 1, "timeout": -1}, id="negative timeout"),
        pytest.param("FailJob", {"jobKey": 1, "retryBackOff": -1}, id="negative back-off"),
        pytest.param("ThrowError", {"jobKey": 1}, id="no error code"),
        pytest.param("PublishMessage", {"name": "a", "timeToLive": -1}, id="negative time to live"),
        pytest.param(
            "CompleteJob",
            {"jobKey": 1, "result": {"denied": True, "corrections": {"assignee": "ann"}}},
            id="a denial with corrections",
        ),
    ],
)
async def test_a_broken_bound_is_invalid(in_memory: Zeebe, rpc: str, fields: Fields) -> None:
    refused = await refusal(in_memory(rpc, **fields))

    assert refused.code() is grpc.StatusCode.INVALID_ARGUMENT
    assert refused.details()


# Tenants


@pytest.mark.parametrize("tenant", ["", "<default>", "other"])
async def test_a_client_of_one_tenant_need_not_name_it(in_memory: Zeebe, tenant: str) -> None:
    stranger = in_memory.signed_in_as("stranger")
    content = process("order").start().service_task("charge", type="charge").end().to_xml()

    deployed = await stranger(
        "DeployResource", resources=[{"name": "order.bpmn", "content": content}], tenantId=tenant
    )
    created = await stranger("CreateProcessInstance", bpmnProcessId="order", version=-1, tenantId=tenant)
    jobs = await stranger.activate("charge", tenantIds=[tenant] if tenant else [])
    message = await stranger("PublishMessage", name="paid", tenantId=tenant)
    signal = await stranger("BroadcastSignal", signalName="alarm", tenantId=tenant)

    answers = (deployed, created, jobs[0], message, signal)
    assert [each.tenantId for each in answers] == ["other"] * 5


async def test_a_client_of_several_tenants_names_one_in_the_request(in_memory: Zeebe) -> None:
    traveller = in_memory.signed_in_as("traveller")
    content = process("order").start().service_task("charge", type="charge").end().to_xml()
    for tenant in ("default", "other"):
        resources = [{"name": "order.bpmn", "content": content}]
        await traveller("DeployResource", resources=resources, tenantId=tenant)
        await traveller("CreateProcessInstance", bpmnProcessId="order", version=-1, tenantId=tenant)

    (job,) = await traveller.activate("charge", tenantIds=["other"])

    assert job.tenantId == "other"
    unnamed = await refusal(traveller("CompleteJob", jobKey=job.key))
    assert unnamed.code() is grpc.StatusCode.INVALID_ARGUMENT
    assert "x-tenant-id" in (unnamed.details() or "")
    named = in_memory.signed_in_as("traveller", ("x-tenant-id", "other"))
    await named("CompleteJob", jobKey=job.key)


async def test_a_client_of_several_tenants_has_to_name_one(in_memory: Zeebe) -> None:
    traveller = in_memory.signed_in_as("traveller")

    found = [
        await refusal(traveller.activate("charge", tenantIds=tenants))
        for tenants in ([], ["<default>"], ["default", "other"])
    ]

    assert [each.code() for each in found] == [grpc.StatusCode.INVALID_ARGUMENT] * 3


async def test_a_client_cannot_act_in_a_tenant_of_others(in_memory: Zeebe) -> None:
    found = [
        await refusal(in_memory("CreateProcessInstance", bpmnProcessId="order", tenantId="other")),
        await refusal(in_memory.activate("charge", tenantIds=["other"])),
        await refusal(in_memory("StreamActivatedJobs", type="charge", timeout=1, tenantIds=["other"])),
        await refusal(in_memory.signed_in_as("worker", ("x-tenant-id", "other"))("Topology")),
    ]

    assert [each.code() for each in found] == [grpc.StatusCode.PERMISSION_DENIED] * 4


async def test_the_tenants_of_the_client_are_those_of_its_jobs(in_memory: Zeebe) -> None:
    await in_memory.deploy(process("order").start().service_task("charge", type="charge").end())
    await in_memory.start("order")

    jobs = await in_memory.activate("charge", tenantIds=["ignored"], tenantFilter=pb.ASSIGNED)

    assert [job.tenantId for job in jobs] == ["default"]


async def test_a_command_is_carried_out_once_for_each_idempotency_key(zeebe: Zeebe) -> None:
    await zeebe.deploy(process("order").start().service_task("charge", type="charge").end())
    keyed = zeebe.signed_in_as("worker", ("idempotency-key", "one"))

    keys = {await keyed.start("order") for _ in range(3)}
    other = await refusal(keyed("CreateProcessInstance", bpmnProcessId="order", version=1))

    assert len(keys) == 1
    assert len(await zeebe.activate("charge")) == 1
    assert other.code() is grpc.StatusCode.FAILED_PRECONDITION
