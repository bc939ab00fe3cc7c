"""Work beside the event loop has a bound, past which callers are refused."""

import pytest
from google.protobuf.message import Message

from gnomon.engine.v1 import deployment_service_pb2, expression_service_pb2, lint_service_pb2
from server.bpmn.builder import process
from server.engine import State
from server.partition.config import DecisionsConfig, InstancesConfig, JobsConfig, PartitionConfig
from server.partition.local import LocalPartition, OnlyPartition
from server.partition.partition import Partition
from server.partition.router import Router
from server.platform.call import Call, TenantId
from server.platform.clock import VirtualClock
from server.platform.errors import ResourceExhausted
from server.rpc.deployment import DeploymentServicer
from server.rpc.expression import ExpressionServicer
from server.rpc.lint import LintServicer
from server.store.memory import MemoryStore
from tests.server.rpc.caller import POLICIES


def call(rpc: str, request: Message) -> Call:
    return Call(POLICIES[rpc], request, {}, tenant_id=TenantId("default"))


async def test_an_expression_too_many_is_refused() -> None:
    request = expression_service_pb2.EvaluateExpressionRequest(expression="1")
    servicer = ExpressionServicer(VirtualClock(), MemoryStore(1), most_waiting=0)

    with pytest.raises(ResourceExhausted, match="expressions wait already"):
        await servicer.evaluate_expression(request, call("EvaluateExpression", request))


async def test_a_deployment_too_many_is_refused() -> None:
    store = MemoryStore(100)
    partition = Partition(State(), store, VirtualClock(), PartitionConfig())
    local = LocalPartition(partition, store, JobsConfig(), InstancesConfig())
    servicer = DeploymentServicer(
        Router(OnlyPartition(local, "localhost", 0)), DecisionsConfig(), most_waiting=0
    )
    request = deployment_service_pb2.CreateDeploymentRequest(
        resources=[{"name": "order.bpmn", "content": process("order").end().to_xml()}]
    )

    with pytest.raises(ResourceExhausted, match="deployments wait already"):
        await servicer.create_deployment(request, call("CreateDeployment", request))


async def test_a_lint_too_many_is_refused() -> None:
    request = lint_service_pb2.LintResourceRequest(resource_name="order.bpmn", content="<order/>")

    with pytest.raises(ResourceExhausted, match="lints wait already"):
        await LintServicer(most_waiting=0).lint_resource(request, call("LintResource", request))
