"""Deletes what was deployed."""

from gnomon.engine.v1 import resource_service_pb2 as pb
from server.engine.commands import DeleteResource
from server.engine.keys import Key
from server.partition.router import Router
from server.platform.call import Call
from server.rpc.origin import origin_of


class ResourceServicer:
    def __init__(self, router: Router) -> None:
        self._router = router

    async def delete_resource(
        self, request: pb.DeleteResourceRequest, call: Call
    ) -> pb.DeleteResourceResponse:
        command = DeleteResource(call.tenant_id, Key(request.resource_key))
        await self._router.submit(command, origin_of(request, call))
        return pb.DeleteResourceResponse(resource_key=request.resource_key)
