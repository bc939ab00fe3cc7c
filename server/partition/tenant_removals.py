"""Removes tenants from the partitions that this process owns, in rounds.

A removal marks the tenant in each partition, which from then on refuses its commands. Partitions send each other
commands, so a partition counts as clean only after a sweep that began when all partitions had marked the tenant. When
all are clean, the provider lets the partitions release the id, and then ends the removal.

A round begins with the list of removals, and acts only on partitions that were open before. It purges only under a
mark that was committed before it asked for the list. A removal does not end while any partition has a mark. So a purge
never reaches a successor, however late a process acts. A mark of a removal that is not listed is dropped.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TypeVar

from server.engine.commands import Command
from server.engine.pages import DocumentId, Kind
from server.engine.tenant_commands import MarkTenant, PurgeTenant, ReleaseTenant
from server.engine.tenants import definitions_of, documents_of
from server.partition.local import LocalPartition
from server.platform.errors import ServiceError
from server.store.ports import TenantRows

T = TypeVar("T")
# The removals as the provider has them at the time of the call.
Listed = Callable[[], Awaitable[Sequence["Removal"]]]

logger = logging.getLogger(__name__)

# An evicted process instance is loaded before it is purged.
INSTANCES_AT_ONCE = 16
DOCUMENTS_AT_ONCE = 200
DEFINITIONS_AT_ONCE = 50
# The longest time that one round spends on one tenant in one partition.
SLICE_SECONDS = 2.0


@dataclass(frozen=True, slots=True)
class Removal:
    """A removal of a tenant as the provider lists it.

    `is_settled` is true when no earlier caller of the tenant can be active any more. `is_releasing` is true when all
    partitions were clean.
    """

    tenant_id: str
    number: int
    is_settled: bool = False
    is_releasing: bool = False


@dataclass(frozen=True, slots=True)
class RemovalReport:
    """The number of rows that a tenant has left; `is_done` is true when all partitions have done the listed step."""

    removal: Removal
    rows_left: int
    is_done: bool


class TenantRemovals:
    """`owned` returns the open partitions of this process; nothing is marked until `is_possible`."""

    def __init__(
        self,
        owned: Callable[[], Iterable[LocalPartition]],
        rows: TenantRows,
        is_possible: Callable[[], bool] = lambda: True,
    ) -> None:
        self._owned = owned
        self._rows = rows
        self._is_possible = is_possible
        # The number of the removal whose first sweep is over, by partition and tenant.
        self._swept: dict[tuple[LocalPartition, str], int] = {}
        self._clean: dict[tuple[LocalPartition, str], int] = {}

    async def advance(self, listed: Listed) -> Sequence[RemovalReport]:
        """Do one round, and report what is left of each listed tenant; raises the errors of `listed`."""
        marked = {each: dict(each.partition.state.removed_tenants) for each in self._owned()}
        removals = await listed()
        self._forget(marked, removals)
        for local, marks in marked.items():
            await _untroubled(self._renew_marks(local, marks, removals))
        reports = [await _untroubled(self._sweep(removal, marked)) for removal in removals]
        return [report for report in reports if report is not None]

    def _forget(self, marked: Mapping[LocalPartition, object], removals: Sequence[Removal]) -> None:
        tenant_ids = {removal.tenant_id for removal in removals}
        for done in (self._swept, self._clean):
            for place in [each for each in done if each[0] not in marked or each[1] not in tenant_ids]:
                del done[place]

    async def _renew_marks(
        self, local: LocalPartition, marks: Mapping[str, int], removals: Sequence[Removal]
    ) -> None:
        wanted = {each.tenant_id: each.number for each in removals if not each.is_releasing}
        for tenant_id in marks:
            if tenant_id not in wanted:
                await _submit(local, ReleaseTenant(tenant_id))
        if self._is_possible():
            for tenant_id, number in wanted.items():
                if marks.get(tenant_id) != number:
                    await _submit(local, MarkTenant(tenant_id, number))

    async def _sweep(
        self, removal: Removal, marked: Mapping[LocalPartition, Mapping[str, int]]
    ) -> RemovalReport:
        progress = await self._rows.progress(removal.tenant_id, removal.number)
        if removal.is_releasing:
            return RemovalReport(removal, 0, is_done=not progress.marked)
        are_all_marked = progress.marked == progress.partitions
        for local, marks in marked.items():
            if marks.get(removal.tenant_id) == removal.number:
                await _untroubled(
                    self._sweep_partition(local, removal, is_final=removal.is_settled and are_all_marked)
                )
        progress = await self._rows.progress(removal.tenant_id, removal.number)
        is_done = are_all_marked and progress.clean == progress.partitions
        left = 0 if is_done else await self._rows.left(removal.tenant_id)
        return RemovalReport(removal, left, is_done=is_done and removal.is_settled)

    async def _sweep_partition(self, local: LocalPartition, removal: Removal, *, is_final: bool) -> None:
        place = (local, removal.tenant_id)
        done = self._clean if is_final else self._swept
        if done.get(place) == removal.number:
            return
        if is_final:
            await local.catch_up()
        until = asyncio.get_running_loop().time() + SLICE_SECONDS
        partition_id = local.partition.id
        if await self._purge(local, removal.tenant_id, until) and await self._rows.delete(
            partition_id, removal.tenant_id, until
        ):
            if is_final:
                await self._rows.note_clean(partition_id, removal.tenant_id, removal.number)
            done[place] = removal.number

    async def _purge(self, local: LocalPartition, tenant_id: str, until: float) -> bool:
        """Remove documents and definitions; returns whether none is left."""
        state, clock = local.partition.state, asyncio.get_running_loop().time
        evicted = [
            DocumentId(Kind.PROCESS_INSTANCE, key)
            for key in await self._rows.active(local.partition.id, tenant_id)
            if key in state.evicted
        ]
        documents = [*documents_of(state, tenant_id), *evicted]
        for some in _slices(documents):
            await _submit(local, PurgeTenant(tenant_id, documents=some))
            if clock() > until:
                return False
        for keys in _portions(definitions_of(state, tenant_id), DEFINITIONS_AT_ONCE):
            await _submit(local, PurgeTenant(tenant_id, definitions=keys))
            if clock() > until:
                return False
        return True


async def _submit(local: LocalPartition, command: Command) -> None:
    await local.partition.submit(command)


async def _untroubled(work: Awaitable[T]) -> T | None:
    """The result, or None when a partition or the store is unreachable; the next round tries again."""
    try:
        return await work
    except ServiceError as refusal:
        logger.info("the removal of a tenant waits", extra={"reason": refusal.detail})
        return None


def _slices(documents: Iterable[DocumentId]) -> Iterator[tuple[DocumentId, ...]]:
    """Documents for one command each, process instances apart from others."""
    instances: list[DocumentId] = []
    others: list[DocumentId] = []
    for document in documents:
        (instances if document.kind is Kind.PROCESS_INSTANCE else others).append(document)
    yield from _portions(instances, INSTANCES_AT_ONCE)
    yield from _portions(others, DOCUMENTS_AT_ONCE)


def _portions(items: Iterable[T], most: int) -> Iterator[tuple[T, ...]]:
    rest = iter(list(items))
    while some := tuple(islice(rest, most)):
        yield some
