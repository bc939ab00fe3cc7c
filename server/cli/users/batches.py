"""Sends accounts in batches, several at a time, and counts the outcomes."""

import asyncio
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from gnomon.identity.v1 import user_transfer_service_pb2 as pb
from gnomon.identity.v1.user_transfer_service_pb2 import TransferredUser
from gnomon.identity.v1.user_transfer_service_pb2_grpc import UserTransferServiceStub
from server.cli.session import Session
from server.cli.users.row import Row, UnreadableFile
from server.platform.errors import InvalidArgument

MOST_ROWS = 500
_MOST_BYTES = 1_048_576
_AT_A_TIME = 2
_CALL_SECONDS = 120.0


@dataclass(frozen=True, slots=True)
class Refusal:
    place: int
    name: str
    reason: str


@dataclass(slots=True)
class Tally:
    """Counts of an import; `noted` is called whenever the counts have changed."""

    noted: Callable[["Tally"], None]
    created: int = 0
    unchanged: int = 0
    refusals: list[Refusal] = field(default_factory=list)

    @property
    def settled(self) -> int:
        return self.created + self.unchanged + len(self.refusals)

    def add(self, row: Row, result: pb.ImportResult) -> None:
        match result.outcome:
            case pb.IMPORT_OUTCOME_CREATED:
                self.created += 1
            case pb.IMPORT_OUTCOME_UNCHANGED:
                self.unchanged += 1
            case _:
                self.refuse(row, result.reason)

    def refuse(self, row: Row, reason: str) -> None:
        self.refusals.append(Refusal(row.place, row.name, reason))


class Imports:
    """Sends the batches of an import; `request` holds the options of every call."""

    def __init__(self, session: Session, request: pb.ImportUsersRequest, tally: Tally) -> None:
        self._session = session
        self._stub = UserTransferServiceStub(session.channel)
        self._request = request
        self._tally = tally
        self._fault: OSError | UnreadableFile | None = None

    async def run(self, rows: Iterable[Row]) -> None:
        """Send all rows while the file is being read.

        Raises ServiceError. OSError or UnreadableFile is raised after all earlier accounts were sent.
        """
        places = asyncio.Semaphore(_AT_A_TIME)
        async with asyncio.TaskGroup() as sending:
            for batch in self._batches(rows):
                await places.acquire()
                task = sending.create_task(self._send(batch))
                task.add_done_callback(lambda _: places.release())
        if self._fault is not None:
            raise self._fault

    def _batches(self, rows: Iterable[Row]) -> Iterator[Sequence[tuple[Row, TransferredUser]]]:
        batch: list[tuple[Row, TransferredUser]] = []
        size = 0
        for row in self._until_fault(rows):
            if row.user is None:
                self._tally.refuse(row, row.reason)
                continue
            octets = row.user.ByteSize()
            if batch and (len(batch) == MOST_ROWS or size + octets > _MOST_BYTES):
                yield batch
                batch, size = [], 0
            batch.append((row, row.user))
            size += octets
        if batch:
            yield batch

    def _until_fault(self, rows: Iterable[Row]) -> Iterator[Row]:
        try:
            yield from rows
        except (OSError, UnreadableFile) as error:
            self._fault = error

    async def _send(self, batch: Sequence[tuple[Row, TransferredUser]]) -> None:
        request = pb.ImportUsersRequest()
        request.CopyFrom(self._request)
        request.users.extend(user for _, user in batch)
        try:
            answer = await self._session.call(self._stub.ImportUsers, request, seconds=_CALL_SECONDS)
        except InvalidArgument as refusal:
            await self._send_parts(batch, refusal)
            return
        for (row, _), result in zip(batch, answer.results, strict=True):
            self._tally.add(row, result)
        self._tally.noted(self._tally)

    async def _send_parts(
        self, batch: Sequence[tuple[Row, TransferredUser]], refusal: InvalidArgument
    ) -> None:
        """Split a refused batch to find the account that violates the contract's bounds."""
        if len(batch) == 1:
            self._tally.refuse(batch[0][0], " ".join(refusal.detail.split()))
            return
        middle = len(batch) // 2
        for half in (batch[:middle], batch[middle:]):
            await self._send(half)
