"""The loop of a partition: takes waiting commands, runs the engine over them, and adds them to the growing commit.

Process instances that commands name are loaded first.
"""

import asyncio
from collections.abc import Collection, Iterable, Mapping
from contextlib import suppress

from server.engine.pages import DocumentId
from server.partition.commits import Commits
from server.partition.lifecycle import Lifecycle, PartitionState
from server.partition.loaded_instances import LoadedInstances
from server.partition.meter import Meter
from server.partition.quota import Quota
from server.partition.slow_tenants import SlowTenants
from server.partition.turn import Entry, Growth
from server.partition.waiting_commands import WaitingCommands
from server.platform.back_off import BackOff, Pauses
from server.platform.clock import Clock, to_the_millisecond
from server.platform.errors import Unavailable
from server.store.ports import Ledger

_BACK_OFF = BackOff(0.2, 2.0)
# A pause in which ready answers are written to callers.
PAUSE_SECONDS = 0.002


class Loop:
    """`in_hand` are the entries that were taken and are not processed yet."""

    def __init__(
        self,
        lifecycle: Lifecycle,
        pending: WaitingCommands,
        commits: Commits,
        *,
        ledger: Ledger,
        loaded: LoadedInstances,
        quota: Quota,
        clock: Clock,
        meter: Meter,
    ) -> None:
        self.in_hand: list[Entry] = []
        self._lifecycle = lifecycle
        self._pending = pending
        self._commits = commits
        self._ledger = ledger
        self._loaded = loaded
        self._quota = quota
        self._slow = SlowTenants()
        self._has_put_off = False
        self._pauses = Pauses(_BACK_OFF)
        self._clock = clock
        self._meter = meter

    async def run(self) -> None:
        """Return when the partition stops and no command waits any more."""
        while self._has_more or self._lifecycle.state is not PartitionState.STOPPING:
            if not self._pending:
                await self._pending.change()
            elif self._commits.room > 0:
                self.in_hand = self._pending.take(self._commits.room)
                await self._process(self.in_hand)
                self.in_hand = []
            else:
                await self._commits.taken()

    @property
    def _has_more(self) -> bool:
        return bool(self._pending) or self._pending.is_expecting

    async def _process(self, entries: list[Entry]) -> None:
        wanted = await self._chosen(list(filter(_is_wanted, entries)))
        missing = self._loaded.missing(entry.command for entry in wanted if entry.command is not None)
        if missing:
            await self._bring_back(missing)
            wanted = list(filter(_is_wanted, wanted))
        if not wanted:
            return
        if starts := self._quota.wanted(entry.command for entry in wanted):
            await self._reserve(starts, wanted)
            wanted = list(filter(_is_wanted, wanted))
        growth = self._commits.grow(wanted, now=to_the_millisecond(self._clock.now()))
        # Processed commands may be committed, so they must not be refused as if they had not happened.
        self.in_hand = growth.postponed
        self._meter.turned(growth.seconds)
        self._slow.note(_processed(wanted, growth), growth.slow)
        self._loaded.touch(growth.touched)
        self._pending.note_processed(growth, wanted)
        if growth.left:
            self._pending.put_left(growth.left)
            # Let commits, leases and callers run.
            await asyncio.sleep(0)
        self._loaded.hold(document for entry in growth.postponed for document in entry.missed)
        if growth.postponed:
            await self._load(growth)

    async def _chosen(self, wanted: list[Entry]) -> list[Entry]:
        """The entries to process now; the others are put back.

        A command of a slow tenant runs alone, after the callers of all others have their answers. In one turn
        with them it would delay their commit, and during their commit it would delay their answers.
        """
        quick, slow = self._slow.split(wanted)
        if not slow:
            return quick
        if quick and not self._has_put_off:
            self._has_put_off = True
            self._pending.put_left(slow)
            return quick
        self._has_put_off = False
        await self._commits.idle()
        await asyncio.sleep(PAUSE_SECONDS)
        self._pending.put_left([*quick, *slow[1:]])
        return [entry for entry in slow[:1] if entry.is_wanted]

    async def _reserve(self, starts: Mapping[str, int], entries: Iterable[Entry]) -> None:
        """Reserve quota for the process instances that these entries may start; refuse them when the store is unreachable."""
        try:
            self._quota.grant(await self._ledger.reserve(starts, self._quota.most))
        except Unavailable as refusal:
            _refuse((entry for entry in entries if self._quota.wanted([entry.command])), refusal.detail)

    async def _bring_back(self, missing: Collection[DocumentId]) -> None:
        """Load the named process instances, so that commands keep their order; if that fails, they are postponed."""
        with suppress(Unavailable):
            self._loaded.bring_back(await self._ledger.documents(missing))

    async def _load(self, growth: Growth) -> None:
        """Load the missing process instances, and put the postponed entries first in the next turn."""
        try:
            self._loaded.bring_back(await self._ledger.documents(growth.missing))
        except Unavailable as refusal:
            _refuse((entry for entry in growth.postponed if entry.incoming is None), refusal.detail)
            await self._pauses.after_failure()
        else:
            self._pauses.succeeded()
        self._pending.put_first(growth.postponed)


def _processed(taken: list[Entry], growth: Growth) -> list[Entry]:
    others = {id(entry) for entry in (*growth.left, *growth.postponed)}
    return [entry for entry in taken if id(entry) not in others] if others else taken


def _is_wanted(entry: Entry) -> bool:
    return entry.is_wanted


def _refuse(entries: Iterable[Entry], reason: str) -> None:
    for entry in entries:
        entry.refuse(reason)
