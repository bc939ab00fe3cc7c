"""The interface of a partition that a router uses, wherever the partition runs."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from server.engine.answers import ActivatedJobs, Answer
from server.engine.commands import ActivateJobs, Command
from server.engine.formats import ClusterFormat
from server.engine.keys import Key
from server.partition.origin import Origin
from server.store.entities import AuditEntry
from server.store.ports import PartitionId


class PartitionPort(Protocol):
    """Every call raises Unavailable when the partition is not served there, or cannot be reached."""

    async def submit(self, command: Command, origin: Origin | None = None) -> Answer:
        """The command's answer once it is committed; raises the refusal."""
        ...

    async def activate(self, command: ActivateJobs, seconds: float) -> ActivatedJobs:
        """Jobs as soon as there are any; an empty answer after `seconds`, and at once when that is 0."""
        ...

    async def await_offer(self, command: ActivateJobs, seconds: float) -> bool:
        """Whether there are jobs for this activation, as soon as there are."""
        ...

    async def await_completion(self, key: Key, tenant_id: str, seconds: float) -> None:
        """Return when the process instance has completed; raises when it was cancelled, or still runs by then."""
        ...

    async def catch_up(self) -> None:
        """Return when everything that other partitions sent by now is committed."""
        ...

    async def note(self, entries: Sequence[AuditEntry]) -> None:
        """Return when these are in the audit log."""
        ...


@dataclass(frozen=True, slots=True)
class Member:
    """A process that owns partitions: where its gRPC listens, and the partitions with whether each takes commands."""

    node_id: str
    host: str
    port: int
    partitions: tuple[tuple[PartitionId, bool], ...]


class Partitions(Protocol):
    """All partitions of the deployment, as far as this process knows."""

    @property
    def ids(self) -> Sequence[PartitionId]:
        """In their order, from 1 on without a gap."""
        ...

    @property
    def message_homes(self) -> int:
        """How many of them, from 1 on, are homes of messages."""
        ...

    @property
    def format(self) -> ClusterFormat:
        """The latest format that all processes of the deployment read."""
        ...

    def find(self, partition_id: PartitionId) -> PartitionPort:
        """The partition where it runs now; raises Unavailable when it has no owner."""
        ...

    def members(self) -> Sequence[Member]: ...
