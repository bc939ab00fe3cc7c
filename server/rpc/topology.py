"""Says what the engine consists of and whether it is ready."""

from importlib.metadata import version

from gnomon.engine.v1 import topology_service_pb2 as pb
from server.engine.keys import partition_of
from server.partition.partition import Partition
from server.platform.call import Call
from server.platform.errors import Unavailable
from server.platform.grpc_server import GrpcConfig

VERSION = version("gnomon")


class TopologyServicer:
    """Of one node that holds every partition."""

    def __init__(self, partition: Partition, grpc: GrpcConfig) -> None:
        self._partition = partition
        self._grpc = grpc

    async def get_topology(
        self,
        request: pb.GetTopologyRequest,
        call: Call,
    ) -> pb.GetTopologyResponse:
        partition = pb.Partition(
            partition_id=partition_of(self._partition.state.last_key),
            role="leader",
            health="healthy" if self._partition.is_open else "dead",
        )
        broker = pb.BrokerInfo(
            node_id=0, host=self._grpc.host, port=self._grpc.port, partitions=[partition], version=VERSION
        )
        return pb.GetTopologyResponse(
            brokers=[broker],
            cluster_size=1,
            partitions_count=1,
            replication_factor=1,
            gateway_version=VERSION,
        )

    async def get_status(
        self,
        request: pb.GetStatusRequest,
        call: Call,
    ) -> pb.GetStatusResponse:
        if not self._partition.is_open:
            raise Unavailable("no partition takes commands yet")
        return pb.GetStatusResponse()
