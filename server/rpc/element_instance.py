"""Servicer for reading element instances and setting variables of active ones."""

from gnomon.engine.v1 import element_instance_pb2 as entity_pb
from gnomon.engine.v1 import element_instance_service_pb2 as pb
from server.engine.keys import Key
from server.engine.process_instance_commands import ActivateAdHocSubProcessActivities, SetVariables
from server.partition.router import Router
from server.platform.call import Call
from server.rpc.activations import activations_of
from server.rpc.origin import origin_of
from server.rpc.reads import get, search
from server.rpc.variables import variables_of
from server.store.entities import ElementInstance
from server.store.ports import Store
from server.store.searchables import ELEMENT_INSTANCES


class ElementInstanceServicer:
    def __init__(self, store: Store, router: Router) -> None:
        self._store = store
        self._router = router

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

    async def create_element_instance_variables(
        self, request: pb.CreateElementInstanceVariablesRequest, call: Call
    ) -> pb.CreateElementInstanceVariablesResponse:
        key = Key(request.element_instance_key)
        command = SetVariables(
            tenant_id=call.tenant_id,
            process_instance_key=await self._process_instance_key(key, call),
            element_instance_key=key,
            variables=variables_of(request.variables),
            is_local=request.local,
        )
        await self._router.submit(command, origin_of(request, call))
        return pb.CreateElementInstanceVariablesResponse()

    async def activate_ad_hoc_sub_process_activities(
        self, request: pb.ActivateAdHocSubProcessActivitiesRequest, call: Call
    ) -> pb.ActivateAdHocSubProcessActivitiesResponse:
        key = Key(request.ad_hoc_sub_process_instance_key)
        command = ActivateAdHocSubProcessActivities(
            tenant_id=call.tenant_id,
            process_instance_key=await self._process_instance_key(key, call),
            ad_hoc_sub_process_instance_key=key,
            elements=activations_of(request.elements, "elements"),
            cancels_remaining=request.cancel_remaining_instances,
        )
        await self._router.submit(command, origin_of(request, call))
        return pb.ActivateAdHocSubProcessActivitiesResponse()

    async def _process_instance_key(self, key: Key, call: Call) -> Key:
        """The process instance of an element instance; another key may be that of a process instance itself."""
        row = await self._store.get(ElementInstance, key, tenant_id=call.tenant_id)
        return row.process_instance_key if row is not None else key
