"""Publication of messages."""

from gnomon.engine.v1 import message_service_pb2 as own_pb
from gnomon.gateway_protocol import gateway_pb2 as pb
from server.gateway.fields import tenant_of


def publication(request: pb.PublishMessageRequest) -> own_pb.PublishMessageRequest:
    return own_pb.PublishMessageRequest(
        name=request.name,
        correlation_key=request.correlationKey,
        time_to_live=request.timeToLive,
        message_id=request.messageId,
        variables=request.variables.encode(),
        tenant_id=tenant_of(request.tenantId),
    )


def published(answer: own_pb.PublishMessageResponse) -> pb.PublishMessageResponse:
    return pb.PublishMessageResponse(key=answer.message_key, tenantId=answer.tenant_id)
