"""Broadcasts signals to process instances."""

from gnomon.engine.v1 import signal_service_pb2 as pb
from server.engine import answers
from server.engine.signal_commands import BroadcastSignal
from server.partition.router import Router
from server.platform.call import Call
from server.rpc.origin import origin_of
from server.rpc.variables import variables_of


class SignalServicer:
    def __init__(self, router: Router) -> None:
        self._router = router

    async def broadcast_signal(
        self, request: pb.BroadcastSignalRequest, call: Call
    ) -> pb.BroadcastSignalResponse:
        command = BroadcastSignal(call.tenant_id, request.signal_name, variables_of(request.variables))
        answer = await self._router.submit(command, origin_of(request, call))
        assert isinstance(answer, answers.SignalBroadcast)  # noqa: S101  # narrows the type
        return pb.BroadcastSignalResponse(tenant_id=call.tenant_id, signal_key=answer.key)
