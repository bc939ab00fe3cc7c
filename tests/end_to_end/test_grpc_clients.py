"""Services that call gRPC directly: the typed stubs and the plain dataclass clients, against a running server."""

from collections.abc import AsyncIterator, Sequence
from typing import Any

import grpc
import pytest
from google.protobuf.descriptor_pb2 import FileDescriptorProto
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection_pb2
from grpclib.client import Channel as PlainChannel
from grpclib.exceptions import GRPCError

from gnomon.engine.v1 import deployment_service_pb2 as deployment_pb
from gnomon.engine.v1 import job_service_pb2 as job_pb
from gnomon.engine.v1 import process_instance_pb2 as instance_pb
from gnomon.engine.v1 import process_instance_service_pb2 as instance_service_pb
from gnomon.engine.v1.deployment_service_pb2_grpc import DeploymentServiceStub
from gnomon.engine.v1.job_service_pb2_grpc import JobServiceStub
from gnomon.engine.v1.process_instance_service_pb2_grpc import ProcessInstanceServiceStub
from gnomon.plain.gnomon.engine import v1 as plain
from server.bpmn.builder import process
from server.platform.channels import error_of
from server.platform.errors import InvalidArgument, NotFound, PermissionDenied, Unauthenticated
from tests.end_to_end.servers import Server

CONTENT = process("direct").start().service_task("task", type="direct").end().to_xml()

Metadata = Sequence[tuple[str, str]]


@pytest.fixture
def metadata(server: Server) -> Metadata:
    return (("authorization", f"Bearer {server.token()}"),)


@pytest.fixture
async def channel(server: Server) -> AsyncIterator[grpc.aio.Channel]:
    async with grpc.aio.insecure_channel(server.grpc) as channel:
        yield channel


async def test_typed_stubs_run_an_instance_from_deployment_to_completion(
    channel: grpc.aio.Channel, metadata: Metadata
) -> None:
    instances, jobs = ProcessInstanceServiceStub(channel), JobServiceStub(channel)
    resource = deployment_pb.Resource(name="direct.bpmn", content=CONTENT)
    deployment = deployment_pb.CreateDeploymentRequest(resources=[resource])
    await DeploymentServiceStub(channel).CreateDeployment(deployment, metadata=metadata, timeout=10)
    start = instance_service_pb.CreateProcessInstanceRequest(
        process_definition_id="direct", variables=b'{"total":120}'
    )
    created = await instances.CreateProcessInstance(start, metadata=metadata, timeout=10)
    activation = job_pb.ActivateJobsRequest(type="direct", timeout=60_000, max_jobs_to_activate=10)
    (job,) = (await jobs.ActivateJobs(activation, metadata=metadata, timeout=30)).jobs

    completion = job_pb.CompleteJobRequest(job_key=job.job_key, variables=b'{"paid":true}')
    await jobs.CompleteJob(completion, metadata=metadata, timeout=10)

    key = instance_service_pb.GetProcessInstanceRequest(process_instance_key=created.process_instance_key)
    instance = (await instances.GetProcessInstance(key, metadata=metadata, timeout=10)).process_instance
    assert job.variables == b'{"total":120}'
    assert instance.state == instance_pb.PROCESS_INSTANCE_STATE_COMPLETED


async def test_jobs_are_pushed_to_a_client_that_may_work_on_jobs(
    server: Server, channel: grpc.aio.Channel, metadata: Metadata
) -> None:
    content = CONTENT.replace(b"direct", b"pushed")
    deployment = deployment_pb.CreateDeploymentRequest(
        resources=[deployment_pb.Resource(name="pushed.bpmn", content=content)]
    )
    await DeploymentServiceStub(channel).CreateDeployment(deployment, metadata=metadata, timeout=10)
    jobs, request = JobServiceStub(channel), job_pb.StreamActivatedJobsRequest(type="pushed", timeout=60_000)
    reader = (("authorization", f"Bearer {server.token('reader')}"),)

    pushed: Any = jobs.StreamActivatedJobs(request, metadata=metadata, timeout=30)
    start = instance_service_pb.CreateProcessInstanceRequest(process_definition_id="pushed")
    for _ in range(3):
        created = await ProcessInstanceServiceStub(channel).CreateProcessInstance(
            start, metadata=metadata, timeout=10
        )
        job = (await pushed.read()).job
        assert job.process_instance_key == created.process_instance_key
        completion = job_pb.CompleteJobRequest(job_key=job.job_key)
        await jobs.CompleteJob(completion, metadata=metadata, timeout=10)
    pushed.cancel()
    with pytest.raises(grpc.RpcError) as refusal:
        await jobs.StreamActivatedJobs(request, metadata=reader, timeout=10).read()
    assert isinstance(error_of(refusal.value), PermissionDenied)


@pytest.mark.parametrize(
    ("client", "request_", "expected"),
    [
        pytest.param("service", {"process_definition_id": "nobody"}, NotFound, id="unknown process"),
        pytest.param("service", {}, InvalidArgument, id="a bound that is broken"),
        pytest.param("reader", {"process_definition_id": "direct"}, PermissionDenied, id="no permission"),
        pytest.param(None, {"process_definition_id": "direct"}, Unauthenticated, id="no credential"),
    ],
)
async def test_a_direct_call_gets_the_same_errors(
    server: Server,
    channel: grpc.aio.Channel,
    client: str | None,
    request_: dict[str, Any],
    expected: type[Exception],
) -> None:
    metadata = (("authorization", f"Bearer {server.token(client)}"),) if client else ()
    request = instance_service_pb.CreateProcessInstanceRequest(**request_)

    with pytest.raises(grpc.RpcError) as refusal:
        await ProcessInstanceServiceStub(channel).CreateProcessInstance(
            request, metadata=metadata, timeout=10
        )

    assert isinstance(error_of(refusal.value), expected)


async def test_plain_dataclasses_speak_to_the_same_server(server: Server, metadata: Metadata) -> None:
    host, _, port = server.grpc.rpartition(":")
    async with PlainChannel(host, int(port)) as channel:
        resource = plain.Resource(name="direct.bpmn", content=CONTENT)
        deployments = plain.DeploymentServiceStub(channel, metadata=dict(metadata))
        instances = plain.ProcessInstanceServiceStub(channel, metadata=dict(metadata))
        jobs = plain.JobServiceStub(channel, metadata=dict(metadata))
        await deployments.create_deployment(plain.CreateDeploymentRequest(resources=[resource]))
        start = plain.CreateProcessInstanceRequest(process_definition_id="direct")
        created = await instances.create_process_instance(start)
        activation = plain.ActivateJobsRequest(type="direct", timeout=60_000, max_jobs_to_activate=10)
        activated = (await jobs.activate_jobs(activation)).jobs

        for job in activated:
            await jobs.complete_job(plain.CompleteJobRequest(job_key=job.job_key))

        key = plain.GetProcessInstanceRequest(process_instance_key=created.process_instance_key)
        instance = (await instances.get_process_instance(key)).process_instance
        with pytest.raises(GRPCError):
            await jobs.complete_job(plain.CompleteJobRequest(job_key=activated[0].job_key))
    assert instance is not None
    assert instance.state is plain.ProcessInstanceState.COMPLETED


@pytest.mark.parametrize("service", ["", "gnomon.engine.v1.JobService", "gateway_protocol.Gateway"])
async def test_health_says_serving(channel: grpc.aio.Channel, service: str) -> None:
    stub: Any = health_pb2_grpc.HealthStub(channel)

    answer = await stub.Check(health_pb2.HealthCheckRequest(service=service), timeout=10)

    assert answer.status == health_pb2.HealthCheckResponse.SERVING


@pytest.mark.parametrize("version", ["v1", "v1alpha"])
async def test_reflection_lists_the_services_and_describes_each(
    channel: grpc.aio.Channel, version: str
) -> None:
    """A v1 client knows other names for the same messages."""
    reflect = channel.stream_stream(
        f"/grpc.reflection.{version}.ServerReflection/ServerReflectionInfo",
        request_serializer=reflection_pb2.ServerReflectionRequest.SerializeToString,
        response_deserializer=reflection_pb2.ServerReflectionResponse.FromString,
    )
    listing = [reflection_pb2.ServerReflectionRequest(list_services="")]
    (listed,) = [answer async for answer in reflect(listing, timeout=10)]
    names = [service.name for service in listed.list_services_response.service]

    describing = [reflection_pb2.ServerReflectionRequest(file_containing_symbol=name) for name in names]
    described = [answer async for answer in reflect(describing, timeout=10)]

    files = [
        list(map(FileDescriptorProto.FromString, each.file_descriptor_response.file_descriptor_proto))
        for each in described
    ]
    assert {
        "gnomon.engine.v1.JobService",
        "gnomon.identity.v1.TokenService",
        "gateway_protocol.Gateway",
        "grpc.health.v1.Health",
        "grpc.reflection.v1.ServerReflection",
        "grpc.reflection.v1alpha.ServerReflection",
    } <= set(names)
    for name, found in zip(names, files, strict=True):
        assert name in {f"{file.package}.{service.name}" for file in found for service in file.service}
