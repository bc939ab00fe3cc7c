"""Endpoints of embedded mode for Camunda's process test library, which need no credential."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from aiohttp import web

from edge.process_tests import CHANGE_ID, process_test_routes
from gnomon.engine.v1 import clock_service_pb2, topology_service_pb2
from server.platform.call import Call
from server.platform.channels import Channel, LocalChannel
from server.platform.dispatch import Dispatcher
from server.renewal import RenewableEngine

if TYPE_CHECKING:
    from server.rpc.topology import TopologyServicer

_CLOCK = clock_service_pb2.DESCRIPTOR.services_by_name["ClockService"]
_TOPOLOGY = topology_service_pb2.DESCRIPTOR.services_by_name["TopologyService"]


@dataclass(frozen=True, slots=True)
class ProcessTests:
    """The endpoints, and the channel to the only contract service that the library calls without a credential."""

    routes: Sequence[web.RouteDef]
    topology: Channel

    def channels(self, others: Channel) -> Callable[[str], Channel]:
        """Return the channel of each service by full name."""
        return lambda name: self.topology if name == _TOPOLOGY.full_name else others


def process_tests(engine: RenewableEngine) -> ProcessTests:
    """Return the endpoints of a renewable engine."""
    clock = LocalChannel(Dispatcher({_CLOCK: engine.servicers[_CLOCK]}, ()))
    topology = LocalChannel(Dispatcher({_TOPOLOGY: _Topology(engine)}, ()))
    return ProcessTests(process_test_routes(clock, engine.clock, engine.renew), topology)


class _Topology:
    """The topology; it always reports the latest purge as complete, because the purging call returns afterwards."""

    def __init__(self, engine: RenewableEngine) -> None:
        self._engine = engine

    async def get_topology(
        self, request: topology_service_pb2.GetTopologyRequest, call: Call
    ) -> topology_service_pb2.GetTopologyResponse:
        found = await self._servicer().get_topology(request, call)
        found.last_completed_change_id = str(CHANGE_ID)
        return found

    async def get_status(
        self, request: topology_service_pb2.GetStatusRequest, call: Call
    ) -> topology_service_pb2.GetStatusResponse:
        return await self._servicer().get_status(request, call)

    def _servicer(self) -> "TopologyServicer":
        return cast("TopologyServicer", self._engine.servicer(_TOPOLOGY))
