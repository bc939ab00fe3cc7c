"""Quota reservations: made before process instances are started, and settled by the commit of the starts.

Active process instances and starts in progress, in all partitions together, never exceed a quota. A
reservation compares and sets the version of its tenant's row, so it never relies on outdated numbers. Locks
last only for one statement, so a frozen owner delays nothing. Reservations of a former owner have an older
epoch than their partition and no longer count.
"""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from server.platform.back_off import BackOff
from server.platform.errors import Unavailable
from server.platform.postgres.database import Database
from server.store.ports import PartitionId, Reservation
from server.store.postgres.literals import storable

# The most conflicts with other partitions before the caller is asked to retry.
MOST_ATTEMPTS = 50
_BACK_OFF = BackOff(0.001, 0.05)


@dataclass(frozen=True, slots=True)
class _Use:
    """The use of a tenant's quota at a version of its row: active process instances and starts in progress."""

    version: int
    count: int


class Reservations:
    """The reservations of one partition in one epoch."""

    def __init__(self, database: Database, partition_id: PartitionId, epoch: int) -> None:
        self._database = database
        self._partition_id = partition_id
        self._epoch = epoch
        self._last = 0
        # Reservations that were made, or perhaps made, and not yet handed out for settling.
        self._open: list[int] = []

    async def reserve(self, wanted: Mapping[str, int], most: int) -> Reservation:
        """Reserve the wanted amount for each tenant, or the rest of its quota; raises Unavailable."""
        granted: dict[str, int] = {}
        for failures in range(1, MOST_ATTEMPTS + 1):
            missing = sorted(wanted.keys() - granted.keys())
            used = await self._used(missing)
            grants = {each: min(wanted[each], max(most - used[each].count, 0)) for each in missing}
            granted |= {each: 0 for each in missing if not grants[each]}
            granted |= await self._kept(used, {each: grant for each, grant in grants.items() if grant})
            if granted.keys() == wanted.keys():
                numbers, self._open = tuple(self._open), []
                return Reservation(granted, numbers)
            await asyncio.sleep(_BACK_OFF.seconds(failures))
        raise Unavailable.untouched("too many starts of the tenant are pending in other partitions")

    async def _used(self, tenant_ids: Sequence[str]) -> Mapping[str, _Use]:
        text = """
            SELECT coalesce(quota.version, 0) AS version,
                (SELECT coalesce(sum(active.count), 0)::bigint FROM gnomon.active_instances AS active
                    WHERE active.tenant_id = asked.tenant_id)
                + (SELECT coalesce(sum(reserved.count), 0)::bigint FROM gnomon.quota_reservation AS reserved
                    JOIN gnomon.partition AS owned USING (partition_id, epoch)
                    WHERE reserved.tenant_id = asked.tenant_id) AS count
            FROM unnest($1::text[]) WITH ORDINALITY AS asked (tenant_id, place)
            LEFT JOIN gnomon.quota ON quota.tenant_id = asked.tenant_id
            ORDER BY asked.place
        """
        found = await self._database.fetch(text, [*map(storable, tenant_ids)])
        return {each: _Use(**row) for each, row in zip(tenant_ids, found, strict=True)}

    async def _kept(self, used: Mapping[str, _Use], grants: Mapping[str, int]) -> Mapping[str, int]:
        """Write reservations; return the reservations without a conflict with another partition."""
        if not grants:
            return {}
        self._last += 1
        self._open.append(self._last)
        text = """
            WITH asked AS (
                SELECT * FROM unnest($4::text[], $5::bigint[], $6::bigint[]) AS asked (tenant_id, version, count)
            ), raised AS (
                INSERT INTO gnomon.quota AS quota (tenant_id, version)
                SELECT tenant_id, version + 1 FROM asked ORDER BY tenant_id
                ON CONFLICT (tenant_id) DO UPDATE SET version = EXCLUDED.version
                WHERE quota.version = EXCLUDED.version - 1
                RETURNING tenant_id
            )
            INSERT INTO gnomon.quota_reservation (partition_id, epoch, number, tenant_id, count)
            SELECT $1, $2, $3, tenant_id, asked.count FROM asked JOIN raised USING (tenant_id)
            RETURNING tenant_id
        """
        stored = {storable(each): each for each in grants}
        versions = [used[each].version for each in stored.values()]
        counts = [grants[each] for each in stored.values()]
        found = await self._database.fetch(
            text, self._partition_id, self._epoch, self._last, list(stored), versions, counts
        )
        return {stored[row["tenant_id"]]: grants[stored[row["tenant_id"]]] for row in found}
