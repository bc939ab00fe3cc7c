"""Servicer for cancelling and migrating process instances as an operator."""

from gnomon.engine.v1 import operations_service_pb2 as pb
from server.engine.keys import Key
from server.engine.process_instance_commands import CancelProcessInstance
from server.partition.router import Router
from server.platform.call import Call
from server.rpc.migration import migration_of
from server.rpc.origin import origin_of


class OperationsServicer:
    def __init__(self, router: Router) -> None:
        self._router = router

    async def accept_cancellation(
        self, request: pb.AcceptCancellationRequest, call: Call
    ) -> pb.AcceptCancellationResponse:
        command = CancelProcessInstance(call.tenant_id, Key(request.process_instance_key))
        await self._router.submit(command, origin_of(request, call))
        return pb.AcceptCancellationResponse()

    async def accept_migration(
        self, request: pb.AcceptMigrationRequest, call: Call
    ) -> pb.AcceptMigrationResponse:
        await self._router.submit(migration_of(request, call), origin_of(request, call))
        return pb.AcceptMigrationResponse()
