"""Publishes messages to process instances."""

from datetime import timedelta

from gnomon.engine.v1 import message_service_pb2 as pb
from server.engine import answers
from server.engine.message_commands import CorrelateMessage, PublishMessage
from server.partition.router import Router
from server.platform.call import Call
from server.rpc.origin import origin_of
from server.rpc.variables import variables_of

MILLISECOND = timedelta(milliseconds=1)


class MessageServicer:
    def __init__(self, router: Router) -> None:
        self._router = router

    async def publish_message(
        self, request: pb.PublishMessageRequest, call: Call
    ) -> pb.PublishMessageResponse:
        command = PublishMessage(
            tenant_id=call.tenant_id,
            name=request.name,
            correlation_key=request.correlation_key,
            time_to_live=request.time_to_live * MILLISECOND,
            message_id=request.message_id,
            variables=variables_of(request.variables),
        )
        answer = await self._router.submit(command, origin_of(request, call))
        assert isinstance(answer, answers.PublishedMessage)  # noqa: S101  # narrows the type
        return pb.PublishMessageResponse(tenant_id=call.tenant_id, message_key=answer.key)

    async def correlate_message(
        self, request: pb.CorrelateMessageRequest, call: Call
    ) -> pb.CorrelateMessageResponse:
        variables = variables_of(request.variables)
        command = CorrelateMessage(call.tenant_id, request.name, request.correlation_key, variables)
        answer = await self._router.submit(command, origin_of(request, call))
        assert isinstance(answer, answers.CorrelatedMessage)  # noqa: S101  # narrows the type
        return pb.CorrelateMessageResponse(
            tenant_id=call.tenant_id,
            message_key=answer.key,
            process_instance_key=answer.process_instance_key,
        )
