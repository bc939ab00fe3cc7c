"""Admits commands of callers to the queue of a partition, and returns the answers.

A command with an idempotency key is executed even if its caller goes away, so that a repeat finds the answer.
"""

import asyncio
from collections.abc import Coroutine, Sequence

from server.engine.answers import Answer
from server.engine.commands import Command
from server.engine.octets import octets_of
from server.partition.idempotency import Answers, IdempotencyKey
from server.partition.lifecycle import Lifecycle, Operation
from server.partition.meter import Meter
from server.partition.origin import Origin
from server.partition.repeats import Repeats
from server.partition.replies import Replies
from server.partition.turn import Entry
from server.partition.waiting_commands import WaitingCommands
from server.store.entities import AuditEntry


class Admission:
    """Admission to one partition.

    Every call raises Unavailable when the partition accepts no commands, and ResourceExhausted when the queue
    is full.
    """

    def __init__(
        self,
        lifecycle: Lifecycle,
        pending: WaitingCommands,
        replies: Replies,
        *,
        answers: Answers,
        repeats: Repeats,
        meter: Meter,
    ) -> None:
        self._lifecycle = lifecycle
        self._pending = pending
        self._replies = replies
        self._answers = answers
        self._repeats = repeats
        self._meter = meter

    def submit(self, command: Command, origin: Origin | None) -> Coroutine[None, None, Answer]:
        """The command's answer once it is committed; awaiting it raises the rejection."""
        key = origin.idempotency if origin else None
        return self._answer(command, origin) if key is None else self._answer_once(key, command, origin)

    async def _answer_once(self, key: IdempotencyKey, command: Command, origin: Origin | None) -> Answer:
        self._lifecycle.expect(Operation.COMMAND)
        answer = self._answers.find(key)
        if answer is None:
            entry = self._entry(command, origin)
            entry.future = answer = asyncio.get_running_loop().create_future()
            self._repeats.put(entry)
            self._answers.keep(key, answer)
        return await asyncio.shield(answer)

    async def settle(self) -> None:
        """Return when everything that is due now has been handled and committed."""
        while self._pending.has_due:
            await self._answer(None, None)
        await self._answer(None, None)

    async def note(self, entries: Sequence[AuditEntry]) -> None:
        """Return when these entries are committed to the audit log."""
        await self._place(Entry(None, noted=entries, octets=octets_of(entries)))

    async def _answer(self, command: Command | None, origin: Origin | None) -> Answer:
        future = self._place(self._entry(command, origin))
        try:
            return await future
        except asyncio.CancelledError:
            if future.done() and not future.cancelled() and future.exception() is None:
                self._replies.take_back(future.result())
            raise

    def _entry(self, command: Command | None, origin: Origin | None) -> Entry:
        return Entry(command, origin=origin, traced=self._meter.traced(), octets=octets_of(command))

    def _place(self, entry: Entry) -> asyncio.Future[Answer]:
        self._lifecycle.expect(Operation.COMMAND)
        future: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()
        entry.future = future
        if self._repeats.precede(entry):
            self._repeats.put(entry)
        else:
            self._pending.put(entry)
        return future
