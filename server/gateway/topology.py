"""The topology; names of roles and states are converted to numbers."""

from gnomon.engine.v1 import topology_service_pb2 as own_pb
from gnomon.gateway_protocol import gateway_pb2 as pb


def topology(answer: own_pb.GetTopologyResponse) -> pb.TopologyResponse:
    return pb.TopologyResponse(
        brokers=map(_broker, answer.brokers),
        clusterSize=answer.cluster_size,
        partitionsCount=answer.partitions_count,
        replicationFactor=answer.replication_factor,
        gatewayVersion=answer.gateway_version,
        clusterId=answer.cluster_id,
    )


def _broker(broker: own_pb.BrokerInfo) -> pb.BrokerInfo:
    return pb.BrokerInfo(
        nodeId=broker.node_id,
        host=broker.host,
        port=broker.port,
        partitions=map(_partition, broker.partitions),
        version=broker.version,
    )


def _partition(partition: own_pb.Partition) -> pb.Partition:
    return pb.Partition(
        partitionId=partition.partition_id,
        role=pb.Partition.PartitionBrokerRole.Value(partition.role.upper()),
        health=pb.Partition.PartitionBrokerHealth.Value(partition.health.upper()),
    )
