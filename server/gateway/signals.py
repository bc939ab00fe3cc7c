"""Broadcasting of signals."""

from gnomon.engine.v1 import signal_service_pb2 as own_pb
from gnomon.gateway_protocol import gateway_pb2 as pb
from server.gateway.fields import tenant_of


def signal(request: pb.BroadcastSignalRequest) -> own_pb.BroadcastSignalRequest:
    return own_pb.BroadcastSignalRequest(
        signal_name=request.signalName,
        variables=request.variables.encode(),
        tenant_id=tenant_of(request.tenantId),
    )


def sent(answer: own_pb.BroadcastSignalResponse) -> pb.BroadcastSignalResponse:
    return pb.BroadcastSignalResponse(key=answer.signal_key, tenantId=answer.tenant_id)
