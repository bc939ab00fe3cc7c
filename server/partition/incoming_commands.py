"""Commands from other partitions: each is read once from the outbox and executed, even if no caller waits.

A caller waits for the position of a command, `committed(source, number)`, not for the command itself, so a
caller that gives up cancels nothing. A command that this version cannot read stays in the outbox until
another node owns the partition. Later commands of the same source may depend on it and stay, too; other
sources continue.
"""

import asyncio
import logging
from collections.abc import Sequence

from server.engine.formats import UnreadableFormat
from server.partition.turn import Entry
from server.partition.wire import COMMANDS
from server.platform.errors import Unavailable
from server.store.ports import IncomingCommand, Ledger, PartitionId

logger = logging.getLogger(__name__)

# The most commands that are read and not committed yet.
MOST_INCOMING = 1_000
# Higher than the number of every command: nothing more is read from a source at this position.
AFTER_ALL = (1 << 63) - 1

_Position = tuple[PartitionId, int]


class IncomingCommands:
    """Reads the commands of each source in the order of their numbers."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._read: dict[PartitionId, int] = {}
        self._under_way: dict[PartitionId, dict[int, None]] = {}
        self._waiting: dict[asyncio.Future[None], _Position] = {}
        self._stopped: set[PartitionId] = set()

    @property
    def stopped(self) -> int:
        """The number of sources whose commands wait for an owner that can read them."""
        return len(self._stopped)

    async def read(self) -> Sequence[Entry]:
        """The next commands to execute; raises Unavailable."""
        # All commands found may belong to sources that stop here; the next read leaves those sources out.
        while found := await self._ledger.incoming(self._read, MOST_INCOMING):
            entries = [entry for each in found if (entry := self._entry(each)) is not None]
            if entries:
                return entries
        return []

    def _entry(self, incoming: IncomingCommand) -> Entry | None:
        if incoming.source in self._stopped:
            return None
        try:
            command = COMMANDS.unpack(incoming.command, incoming.format)
        except UnreadableFormat as error:
            self._stop(incoming, str(error))
            return None
        self._read[incoming.source] = incoming.number
        self._under_way.setdefault(incoming.source, {})[incoming.number] = None
        return Entry(command, incoming=incoming, octets=len(incoming.command))

    def _stop(self, incoming: IncomingCommand, reason: str) -> None:
        """Stop reading a source, because its commands must be executed in order."""
        self._stopped.add(incoming.source)
        self._read[incoming.source] = AFTER_ALL
        logger.error(
            "a command of another partition cannot be read; it and all later ones wait for a node that can read it",
            extra={
                "source": incoming.source,
                "number": incoming.number,
                "format": incoming.format,
                "reason": reason,
            },
        )

    def settle(self, incoming: IncomingCommand) -> None:
        """Note that a command is committed, or has failed for good."""
        self._under_way[incoming.source].pop(incoming.number, None)
        for future, (source, number) in list(self._waiting.items()):
            if not future.done() and self._is_committed(source, number):
                future.set_result(None)

    async def committed(self, source: PartitionId, number: int) -> None:
        """Return when all commands read from this source up to the number are committed; raises Unavailable."""
        if self._is_committed(source, number):
            return
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting[future] = (source, number)
        try:
            await future
        finally:
            del self._waiting[future]

    async def all_committed(self) -> None:
        """Return when all commands that have been read are committed; raises Unavailable."""
        for source, number in list(self._read.items()):
            await self.committed(source, number)

    def refuse(self, reason: str) -> None:
        """Raise Unavailable for the waiting callers, because this owner commits nothing more."""
        for future in self._waiting:
            if not future.done():
                future.set_exception(Unavailable(reason))

    def _is_committed(self, source: PartitionId, number: int) -> bool:
        first = next(iter(self._under_way.get(source, ())), None)
        return first is None or first > number
