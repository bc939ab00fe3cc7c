"""Deletes what was deployed, and reads generic resources."""

from gnomon.engine.v1 import generic_resource_pb2 as entity_pb
from gnomon.engine.v1 import resource_service_pb2 as pb
from server.engine.commands import DeleteResource
from server.engine.keys import Key
from server.partition.router import Router
from server.platform.call import Call
from server.rpc.origin import origin_of
from server.rpc.searching import found, get
from server.store.entities import GenericResource
from server.store.ports import Store


class ResourceServicer:
    def __init__(self, router: Router, store: Store) -> None:
        self._router = router
        self._store = store

    async def get_resource(self, request: pb.GetResourceRequest, call: Call) -> pb.GetResourceResponse:
        """Also one that is deleted: a job may have its key."""
        row = await get(self._store, GenericResource, request.resource_key, call, entity_pb.GenericResource)
        return pb.GetResourceResponse(resource=row)

    async def get_resource_content(
        self, request: pb.GetResourceContentRequest, call: Call
    ) -> pb.GetResourceContentResponse:
        row = await found(self._store, GenericResource, request.resource_key, call)
        return pb.GetResourceContentResponse(content=row.content)

    async def delete_resource(
        self, request: pb.DeleteResourceRequest, call: Call
    ) -> pb.DeleteResourceResponse:
        command = DeleteResource(call.tenant_id, Key(request.resource_key))
        await self._router.submit(command, origin_of(request, call))
        return pb.DeleteResourceResponse(resource_key=request.resource_key)
