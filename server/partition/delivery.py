"""Notifies partitions of committed commands that wait for them in the outbox.

A failed call is repeated. If the sending process dies, the next owner of its partition calls. A partition
also reads the outbox when it is recovered.
"""

import asyncio
import logging
from collections.abc import Collection

from server.partition.port import Partitions
from server.platform.back_off import BackOff
from server.platform.errors import ServiceError
from server.store.ports import EVERY_OTHER_PARTITION, PartitionId

logger = logging.getLogger(__name__)

CALL_SECONDS = 10.0

_BACK_OFF = BackOff(0.5, 5.0)


class Delivery:
    """Partitions of this process report with `sent`; `run` notifies the receivers, with one call at a time for each."""

    def __init__(self) -> None:
        self._sent: set[tuple[PartitionId, PartitionId]] = set()
        self._some = asyncio.Event()
        self._wanted: set[PartitionId] = set()
        self._called: set[PartitionId] = set()

    def sent(self, source: PartitionId, targets: Collection[PartitionId]) -> None:
        """Report commands that the source partition has committed."""
        self._sent |= {(source, target) for target in targets}
        self._some.set()

    async def run(self, partitions: Partitions) -> None:
        """Notify receivers until cancelled."""
        async with asyncio.TaskGroup() as calls:
            while True:
                await self._some.wait()
                self._some.clear()
                self._wanted |= self._targets(partitions)
                for target in self._wanted - self._called:
                    self._called.add(target)
                    calls.create_task(self._call(target, partitions))

    def _targets(self, partitions: Partitions) -> set[PartitionId]:
        sent, self._sent = self._sent, set()
        targets = {target for _, target in sent if target != EVERY_OTHER_PARTITION}
        for source, target in sent:
            if target == EVERY_OTHER_PARTITION:
                targets |= set(partitions.ids) - {source}
        return targets

    async def _call(self, target: PartitionId, partitions: Partitions) -> None:
        failures = 0
        while failures or target in self._wanted:
            self._wanted.discard(target)
            failures = 0 if await self._is_told(target, partitions) else failures + 1
            if failures:
                await asyncio.sleep(_BACK_OFF.seconds(failures))
        self._called.remove(target)

    async def _is_told(self, target: PartitionId, partitions: Partitions) -> bool:
        try:
            async with asyncio.timeout(CALL_SECONDS):
                await partitions.find(target).catch_up()
        except (ServiceError, TimeoutError) as error:
            facts = {"partition_id": target, "reason": str(error) or type(error).__name__}
            logger.info("notifying a partition of commands failed; retrying", extra=facts)
            return False
        except Exception:
            logger.exception(
                "notifying a partition of commands failed; retrying", extra={"partition_id": target}
            )
            return False
        return True
