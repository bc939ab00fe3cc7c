"""A client of Zeebe's gateway, on generated stubs."""

from collections.abc import AsyncIterator
from typing import Any

import grpc
from google.protobuf.descriptor import MethodDescriptor
from google.protobuf.message_factory import GetMessageClass

from gnomon.gateway_protocol import gateway_pb2 as pb
from server.bpmn.builder import ProcessBuilder

METHODS: dict[str, MethodDescriptor] = {
    method.name: method for method in pb.DESCRIPTOR.services_by_name["Gateway"].methods
}
SECONDS = 20


class Zeebe:
    """Raises grpc.aio.AioRpcError, as the clients see it."""

    def __init__(
        self, channel: grpc.aio.Channel, credential: str | None = "worker", *headers: tuple[str, str]
    ) -> None:
        self.channel = channel
        own = (("authorization", f"Bearer {credential}"),) if credential else ()
        self.metadata = (*own, *headers)

    def signed_in_as(self, credential: str | None, *headers: tuple[str, str]) -> "Zeebe":
        return Zeebe(self.channel, credential, *headers)

    async def __call__(self, rpc: str, /, *, seconds: float = SECONDS, **fields: object) -> Any:
        """The answer; all of them where the RPC is a stream."""
        method = METHODS[rpc]
        if method.server_streaming:
            return [answer async for answer in self.stream(rpc, seconds=seconds, **fields)]
        call = self.channel.unary_unary(
            f"/gateway_protocol.Gateway/{rpc}",
            request_serializer=GetMessageClass(method.input_type).SerializeToString,
            response_deserializer=GetMessageClass(method.output_type).FromString,
        )
        return await call(_request(method, fields), metadata=self.metadata, timeout=seconds)

    def stream(
        self, rpc: str, /, *, seconds: float = SECONDS, **fields: object
    ) -> "grpc.aio.UnaryStreamCall[Any, Any]":
        method = METHODS[rpc]
        call = self.channel.unary_stream(
            f"/gateway_protocol.Gateway/{rpc}",
            request_serializer=GetMessageClass(method.input_type).SerializeToString,
            response_deserializer=GetMessageClass(method.output_type).FromString,
        )
        return call(_request(method, fields), metadata=self.metadata, timeout=seconds)

    async def deploy(self, builder: ProcessBuilder) -> int:
        """Key of the process definition."""
        resource = {"name": "process.bpmn", "content": builder.to_xml()}
        response = await self("DeployResource", resources=[resource])
        return int(response.deployments[0].process.processDefinitionKey)

    async def start(self, process_id: str, variables: str = "") -> int:
        response = await self(
            "CreateProcessInstance", bpmnProcessId=process_id, version=-1, variables=variables
        )
        return int(response.processInstanceKey)

    async def activate(self, job_type: str, most: int = 10, **fields: object) -> list[pb.ActivatedJob]:
        asked = {
            "type": job_type,
            "worker": "worker",
            "timeout": 60_000,
            "maxJobsToActivate": most,
            "requestTimeout": -1,
        }
        answers = await self("ActivateJobs", **{**asked, **fields})
        return [job for answer in answers for job in answer.jobs]


def _request(method: MethodDescriptor, fields: dict[str, object]) -> Any:
    return GetMessageClass(method.input_type)(**fields)


async def refusal(answering: Any) -> grpc.aio.AioRpcError:
    """With which it was answered."""
    try:
        if isinstance(answering, AsyncIterator):
            answer: object = [each async for each in answering]
        else:
            answer = await answering
    except grpc.aio.AioRpcError as refused:
        return refused
    raise AssertionError(f"expected a refusal, found {answer}")
