"""Servicer for the topology of the engine and its readiness."""

from importlib.metadata import version

from gnomon.engine.v1 import topology_service_pb2 as pb
from server.partition.port import Member, Partitions
from server.platform.call import Call
from server.platform.errors import Unavailable

VERSION = version("gnomon")


class TopologyServicer:
    """The topology of all processes that own partitions."""

    def __init__(self, partitions: Partitions) -> None:
        self._partitions = partitions

    async def get_topology(self, request: pb.GetTopologyRequest, call: Call) -> pb.GetTopologyResponse:
        members = self._partitions.members()
        return pb.GetTopologyResponse(
            brokers=[_broker(number, member) for number, member in enumerate(members)],
            cluster_size=len(members),
            partitions_count=len(self._partitions.ids),
            replication_factor=1,
            gateway_version=VERSION,
        )

    async def get_status(self, request: pb.GetStatusRequest, call: Call) -> pb.GetStatusResponse:
        owned = [is_open for member in self._partitions.members() for _, is_open in member.partitions]
        if not any(owned):
            raise Unavailable("no partition takes commands yet")
        return pb.GetStatusResponse()


def _broker(node_id: int, member: Member) -> pb.BrokerInfo:
    partitions = [
        pb.Partition(partition_id=number, role="leader", health="healthy" if is_open else "unhealthy")
        for number, is_open in member.partitions
    ]
    return pb.BrokerInfo(
        node_id=node_id,
        broker_id=str(node_id),
        host=member.host,
        port=member.port,
        partitions=partitions,
        version=VERSION,
    )
