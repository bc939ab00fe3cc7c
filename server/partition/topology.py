"""The owners of the deployment's partitions, as last seen by this node, and ports to partitions of other nodes."""

from collections.abc import Callable, Collection, Mapping, Sequence

from server.partition.port import Member
from server.partition.remote import RemotePartition
from server.partition.tunnels import Tunnels
from server.platform.errors import Unavailable
from server.store.ports import PartitionId
from server.store.postgres.leases import LeaseHolder


class Topology:
    """A cache of lease rows, read every `cluster.poll_seconds`; a port is kept while its address owns a partition.

    `written_format` returns the number of the wire format for other nodes.
    """

    def __init__(self, tunnels: Tunnels, secret: str, *, written_format: Callable[[], int]) -> None:
        self._tunnels = tunnels
        self._secret = secret
        self._written_format = written_format
        self._holdings: Mapping[PartitionId, LeaseHolder] = {}
        self._remote: dict[tuple[PartitionId, str], RemotePartition] = {}

    @property
    def ids(self) -> Sequence[PartitionId]:
        return sorted(self._holdings)

    @property
    def message_homes(self) -> int:
        """The number of partitions, counted from 1, that are homes of messages."""
        return sum(holding.has_messages for holding in self._holdings.values()) or 1

    @property
    def is_all_owned(self) -> bool:
        """Whether each partition has an owner with a valid lease."""
        return all(holding.is_live for holding in self._holdings.values())

    def update(self, holdings: Sequence[LeaseHolder]) -> None:
        """Replace all rows, keep tunnels to exactly these addresses, and drop other ports."""
        addresses: Collection[str] = {holding.address for holding in holdings if holding.address}
        self._remote = {place: port for place, port in self._remote.items() if place[1] in addresses}
        self._tunnels.keep(addresses)
        self._holdings = {holding.partition_id: holding for holding in holdings}

    def note(self, holding: LeaseHolder) -> None:
        """Add one row that is newer than the last `update`."""
        self._holdings = {**self._holdings, holding.partition_id: holding}

    def is_elsewhere(self, partition_id: PartitionId, node_id: str) -> bool:
        """Whether another node owns the partition, or no node as far as is known."""
        holding = self._holdings.get(partition_id)
        return holding is not None and holding.owner != node_id

    def remote(self, partition_id: PartitionId) -> RemotePartition:
        """The port to the partition at its current owner; raises Unavailable when it has none."""
        holding = self._holdings[partition_id]
        if not holding.is_live or not holding.address:
            raise Unavailable.untouched(f"partition {partition_id} has no owner at the moment")
        place = (partition_id, holding.address)
        if place not in self._remote:
            channel = self._tunnels.find(holding.address)
            self._remote[place] = RemotePartition(
                partition_id, channel, self._secret, written_format=self._written_format
            )
        return self._remote[place]

    def members(self, is_open: Callable[[LeaseHolder], bool]) -> Sequence[Member]:
        """The nodes that own partitions, with their partitions."""
        owned: dict[tuple[str, str], list[tuple[PartitionId, bool]]] = {}
        for holding in self._holdings.values():
            if holding.is_live and holding.owner and holding.address:
                owner = owned.setdefault((holding.owner, holding.address), [])
                owner.append((holding.partition_id, is_open(holding)))
        return [_member(node_id, address, found) for (node_id, address), found in sorted(owned.items())]


def _member(node_id: str, address: str, partitions: list[tuple[PartitionId, bool]]) -> Member:
    host, _, port = address.rpartition(":")
    return Member(node_id, host, int(port), tuple(partitions))
