"""Reads and resolves incidents."""

from gnomon.engine.v1 import incident_pb2 as entity_pb
from gnomon.engine.v1 import incident_service_pb2 as pb
from server.engine.keys import Key
from server.engine.process_instance_commands import ResolveIncident
from server.partition.router import Router
from server.platform.call import Call
from server.platform.query import Condition, Operator, equals
from server.rpc import incident_statistics
from server.rpc.element_incidents import elements_with_incidents
from server.rpc.origin import origin_of
from server.rpc.reads import found, get, search
from server.store.entities import ElementInstance, Incident, ProcessInstance
from server.store.ports import Store
from server.store.searchables import INCIDENTS


class IncidentServicer:
    def __init__(self, store: Store, router: Router) -> None:
        self._store = store
        self._router = router

    async def search_incidents(
        self, request: pb.SearchIncidentsRequest, call: Call
    ) -> pb.SearchIncidentsResponse:
        return await search(self._store, INCIDENTS, request, pb.SearchIncidentsResponse, call)

    async def search_process_instance_incidents(
        self, request: pb.SearchProcessInstanceIncidentsRequest, call: Call
    ) -> pb.SearchProcessInstanceIncidentsResponse:
        key = Key(request.process_instance_key)
        await found(self._store, ProcessInstance, key, call)
        also = (equals(INCIDENTS, "process_instance_key", key),)
        return await search(
            self._store, INCIDENTS, request, pb.SearchProcessInstanceIncidentsResponse, call, also=also
        )

    async def search_element_instance_incidents(
        self, request: pb.SearchElementInstanceIncidentsRequest, call: Call
    ) -> pb.SearchElementInstanceIncidentsResponse:
        row = await found(self._store, ElementInstance, request.element_instance_key, call)
        elements = await elements_with_incidents(self._store, row)
        return await search(
            self._store,
            INCIDENTS,
            request,
            pb.SearchElementInstanceIncidentsResponse,
            call,
            also=(equals(INCIDENTS, "process_instance_key", row.process_instance_key),),
            changing=(Condition(INCIDENTS.fields["element_instance_key"], Operator.IN, elements),),
        )

    async def get_incident(self, request: pb.GetIncidentRequest, call: Call) -> pb.GetIncidentResponse:
        row = await get(self._store, Incident, Key(request.incident_key), call, entity_pb.Incident)
        return pb.GetIncidentResponse(incident=row)

    async def resolve_incident(
        self, request: pb.ResolveIncidentRequest, call: Call
    ) -> pb.ResolveIncidentResponse:
        command = ResolveIncident(call.tenant_id, Key(request.incident_key))
        await self._router.submit(command, origin_of(request, call))
        return pb.ResolveIncidentResponse()

    async def get_process_instance_statistics_by_error(
        self, request: pb.GetProcessInstanceStatisticsByErrorRequest, call: Call
    ) -> pb.GetProcessInstanceStatisticsByErrorResponse:
        return await incident_statistics.instances_by_error(self._store, request, call)

    async def get_process_instance_statistics_by_definition(
        self, request: pb.GetProcessInstanceStatisticsByDefinitionRequest, call: Call
    ) -> pb.GetProcessInstanceStatisticsByDefinitionResponse:
        return await incident_statistics.instances_by_definition(self._store, request, call)
