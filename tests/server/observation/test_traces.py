"""One trace from the request over HTTP to the commit."""

import grpc
import pytest
from opentelemetry.trace import format_trace_id
from opentelemetry.trace.status import StatusCode

from edge.config import EdgeConfig
from gnomon.engine.v1 import topology_service_pb2 as pb
from gnomon.engine.v1.topology_service_pb2_grpc import TopologyServiceStub
from server.platform.observation_config import TracingConfig
from server.platform.sockets import free_port
from tests.server.observation.world import HOST, SECRET, configuration, recording, world

TRACE = "0af7651916cd43dd8448eb211c80319c"
PARENT = f"00-{TRACE}-b7ad6b7169203331-01"
UNSAMPLED = f"00-{TRACE}-b7ad6b7169203331-00"
HTTP = "POST /v2/process-instances"
RPC = "gnomon.engine.v1.ProcessInstanceService/CreateProcessInstance"


async def test_a_trace_leads_from_the_client_to_the_commit() -> None:
    traces = recording()
    async with world(observation=traces.observation) as found:
        await found.deploy()
        traces.exporter.clear()
        await found.start(traceparent=PARENT, **{"X-Request-Id": "request-1"})

    http, rpc, command, commit = map(traces.named, (HTTP, RPC, "CreateProcessInstance", "commit"))
    assert {format_trace_id(span.context.trace_id) for span in (http, rpc, command, commit)} == {TRACE}
    assert http.parent is not None
    assert format(http.parent.span_id, "016x") == "b7ad6b7169203331"
    assert [span.parent and span.parent.span_id for span in (rpc, command, commit)] == [
        span.context.span_id for span in (http, rpc, command)
    ]
    assert {span.attributes["gnomon.request_id"] for span in (http, rpc) if span.attributes} == {"request-1"}
    assert http.attributes is not None
    assert http.attributes["http.response.status_code"] == 200


async def test_a_trace_goes_through_an_edge_of_its_own() -> None:
    service, edge = recording(), recording()
    async with world(observation=service.observation) as behind:
        await behind.deploy()
        config = configuration(edge=EdgeConfig(port=free_port(HOST), services=(behind.grpc,), secret=SECRET))
        async with world(config, edge.observation) as before:
            service.exporter.clear()
            answer = await before.start(traceparent=PARENT)

    assert answer.status_code == 200
    http, rpc = edge.named(HTTP), service.named(RPC)
    assert format_trace_id(rpc.context.trace_id) == TRACE
    assert rpc.parent is not None
    assert rpc.parent.span_id == http.context.span_id


async def test_a_trace_comes_over_grpc() -> None:
    traces = recording()
    async with (
        world(observation=traces.observation) as found,
        grpc.aio.insecure_channel(found.grpc) as channel,
    ):
        await TopologyServiceStub(channel).GetStatus(
            pb.GetStatusRequest(), metadata=(("traceparent", PARENT),)
        )

    span = traces.named("gnomon.engine.v1.TopologyService/GetStatus")
    assert format_trace_id(span.context.trace_id) == TRACE


@pytest.mark.parametrize(("traceparent", "count"), [(PARENT, 1), (UNSAMPLED, 0), ("nonsense", 0)])
async def test_the_client_says_whether_its_trace_is_recorded(traceparent: str, count: int) -> None:
    traces = recording(TracingConfig(sample_ratio=0))
    async with world(observation=traces.observation) as found:
        await found.http.get("/v2/status", headers={"traceparent": traceparent})

    assert len([span for span in traces.spans if span.name == "GET /v2/status"]) == count


async def test_clients_cannot_have_more_recorded_than_the_bound() -> None:
    traces = recording(TracingConfig(sample_ratio=0, max_traces_per_second=1))
    async with world(observation=traces.observation) as found:
        for _ in range(200):
            await found.http.get("/v2/status", headers={"traceparent": PARENT})

    assert 1 <= len([span for span in traces.spans if span.name == "GET /v2/status"]) < 200


async def test_no_path_is_in_a_trace_as_it_was_sent() -> None:
    traces = recording()
    async with world(observation=traces.observation) as found:
        await found.client.get("/v2/variables/1?secret=marker")
        await found.http.get("/marker")

    assert "GET /v2/variables/{variable_key}" in [span.name for span in traces.spans]
    assert not any("marker" in span.to_json() for span in traces.spans)


async def test_a_refusal_makes_the_span_of_its_call_an_error() -> None:
    traces = recording()
    async with world(observation=traces.observation) as found:
        await found.client.get("/v2/variables/1")

    assert traces.named("gnomon.engine.v1.VariableService/GetVariable").status.status_code is StatusCode.ERROR
