"""The interface of a partition for a router, whichever process runs the partition."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from server.engine.answers import ActivatedJobs, Answer
from server.engine.commands import Command
from server.engine.formats import ClusterFormat
from server.engine.job_commands import ActivateJobs
from server.engine.keys import Key
from server.partition.origin import Origin
from server.store.entities import AuditEntry
from server.store.ports import PartitionId


class PartitionPort(Protocol):
    """A partition; every call raises Unavailable when it is not served there, or cannot be reached."""

    async def submit(self, command: Command, origin: Origin | None = None) -> Answer:
        """The command's answer once it is committed; raises the rejection."""
        ...

    async def activate(self, command: ActivateJobs, seconds: float) -> ActivatedJobs:
        """Wait for jobs and return them; empty after `seconds`, and at once when that is 0."""
        ...

    async def await_offer(self, command: ActivateJobs, seconds: float) -> bool:
        """Wait for an offer of jobs, and return whether there is one."""
        ...

    async def await_completion(self, key: Key, tenant_id: str, seconds: float) -> None:
        """Return when the process instance has completed.

        Raises an error when it was terminated, or still runs after `seconds`.
        """
        ...

    async def catch_up(self) -> None:
        """Return when everything that other partitions have sent is committed."""
        ...

    async def note(self, entries: Sequence[AuditEntry]) -> None:
        """Return when these entries are committed to the audit log."""
        ...


@dataclass(frozen=True, slots=True)
class Member:
    """A process that owns partitions: its gRPC address, and for each partition whether it accepts commands."""

    node_id: str
    host: str
    port: int
    partitions: tuple[tuple[PartitionId, bool], ...]


class Partitions(Protocol):
    """All partitions of the deployment, as far as this process knows."""

    @property
    def ids(self) -> Sequence[PartitionId]:
        """All partition ids in order, from 1 without gaps."""
        ...

    @property
    def message_homes(self) -> int:
        """The number of partitions, counted from 1, that are homes of messages."""
        ...

    @property
    def format(self) -> ClusterFormat:
        """The latest format that all processes of the deployment read."""
        ...

    def find(self, partition_id: PartitionId) -> PartitionPort:
        """The partition at its current owner; raises Unavailable when it has none."""
        ...

    def members(self) -> Sequence[Member]: ...
