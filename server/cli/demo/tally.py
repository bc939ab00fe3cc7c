"""Progress of the demo, as counted by the server."""

from collections.abc import Sequence
from dataclasses import dataclass

from gnomon.engine.v1 import incident_service_pb2 as incident_pb
from gnomon.engine.v1 import process_instance_service_pb2 as instance_pb
from gnomon.engine.v1.incident_service_pb2_grpc import IncidentServiceStub
from gnomon.engine.v1.process_instance_service_pb2_grpc import ProcessInstanceServiceStub
from server.cli.choices import IncidentState, InstanceState, equal, page
from server.cli.session import Session


@dataclass(frozen=True, slots=True)
class Tally:
    """Counts for one process."""

    process_id: str
    instances: int
    completed: int
    incidents_raised: int
    incidents_resolved: int

    @property
    def incidents_open(self) -> int:
        return self.incidents_raised - self.incidents_resolved


class InstanceCounter:
    """Counts instances and incidents with the tag of one demo."""

    def __init__(self, session: Session, tag: str) -> None:
        self._session = session
        self._instances = ProcessInstanceServiceStub(session.channel)
        self._incidents = IncidentServiceStub(session.channel)
        self._tag = tag

    async def tallies(self, process_ids: Sequence[str]) -> list[Tally]:
        return [await self._tally(process_id) for process_id in process_ids]

    async def _tally(self, process_id: str) -> Tally:
        return Tally(
            process_id,
            instances=await self._count_instances(process_id),
            completed=await self._count_instances(process_id, InstanceState.COMPLETED),
            incidents_raised=await self._count_incidents(process_id),
            incidents_resolved=await self._count_incidents(process_id, IncidentState.RESOLVED),
        )

    async def _count_instances(self, process_id: str, state: InstanceState | None = None) -> int:
        matching = instance_pb.ProcessInstanceFilter(
            process_definition_id=equal(process_id), state=state.filter() if state else None, tags=[self._tag]
        )
        request = instance_pb.SearchProcessInstancesRequest(filter=matching, page=page(1))
        return (await self._session.call(self._instances.SearchProcessInstances, request)).page.total_items

    async def _count_incidents(self, process_id: str, state: IncidentState | None = None) -> int:
        matching = incident_pb.IncidentFilter(
            process_definition_id=equal(process_id), state=state.filter() if state else None, tags=[self._tag]
        )
        request = incident_pb.SearchIncidentsRequest(filter=matching, page=page(1))
        return (await self._session.call(self._incidents.SearchIncidents, request)).page.total_items
