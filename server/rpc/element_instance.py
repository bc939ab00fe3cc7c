"""Reads element instances."""

from gnomon.engine.v1 import element_instance_pb2 as entity_pb
from gnomon.engine.v1 import element_instance_service_pb2 as pb
from server.engine.keys import Key
from server.platform.call import Call
from server.rpc.searching import get, search
from server.store.entities import ElementInstance
from server.store.ports import Store
from server.store.searchables import ELEMENT_INSTANCES


class ElementInstanceServicer:
    def __init__(self, store: Store) -> None:
        self._store = store

    async def search_element_instances(
        self, request: pb.SearchElementInstancesRequest, call: Call
    ) -> pb.SearchElementInstancesResponse:
        return await search(self._store, ELEMENT_INSTANCES, request, pb.SearchElementInstancesResponse, call)

    async def get_element_instance(
        self, request: pb.GetElementInstanceRequest, call: Call
    ) -> pb.GetElementInstanceResponse:
        key = Key(request.element_instance_key)
        row = await get(self._store, ElementInstance, key, call, entity_pb.ElementInstance)
        return pb.GetElementInstanceResponse(element_instance=row)
