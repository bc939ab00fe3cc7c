"""Moves commands of other partitions from the outbox into the queue, and reports when they are committed."""

import asyncio
import logging

from server.partition.incoming_commands import IncomingCommands
from server.partition.lifecycle import Lifecycle, Operation
from server.partition.turn import Result
from server.partition.waiting_commands import WaitingCommands
from server.platform.errors import ServiceError
from server.store.ports import IncomingCommand

logger = logging.getLogger(__name__)


class Inbox:
    """The inbox of one partition; only one call at a time reads the outbox."""

    def __init__(self, lifecycle: Lifecycle, pending: WaitingCommands, incoming: IncomingCommands) -> None:
        self._lifecycle = lifecycle
        self._pending = pending
        self._incoming = incoming
        self._catching_up = asyncio.Lock()

    @property
    def unreadable_sources(self) -> int:
        """The number of partitions that sent a command this version cannot read."""
        return self._incoming.stopped

    async def catch_up(self) -> None:
        """Return when everything that other partitions have sent is committed; raises Unavailable.

        The commands are executed even if the caller gives up.
        """
        async with self._catching_up:
            self._lifecycle.expect(Operation.COMMAND)
            await self._incoming.all_committed()
            while await self.take():
                self._lifecycle.expect(Operation.COMMAND)
                await self._incoming.all_committed()

    async def take(self) -> bool:
        """Queue new commands of other partitions, and return whether there were any; raises Unavailable."""
        entries = await self._incoming.read()
        self._pending.put_urgent(entries)
        return bool(entries)

    def settle(self, incoming: IncomingCommand, result: Result) -> None:
        """Report a command that is committed, or has failed for good."""
        if isinstance(result, ServiceError):
            facts = {"source": incoming.source, "number": incoming.number, "reason": result.detail}
            logger.warning("an incoming command was refused", extra=facts)
        self._incoming.settle(incoming)

    def refuse(self, reason: str) -> None:
        """Raise Unavailable for the waiting callers, because this owner commits nothing more."""
        self._incoming.refuse(reason)
