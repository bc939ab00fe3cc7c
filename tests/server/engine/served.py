"""Stories whose commands a partition carries out, instead of the engine alone."""

import logging
from collections.abc import Callable, Coroutine, Sequence
from datetime import timedelta
from typing import Any, Self

from server.engine.answers import Answer, TransitionBegun
from server.engine.commands import Command
from server.engine.events import Event, UserTaskTransitionBegan
from server.engine.rejection import Rejected, RejectionType
from server.partition.origin import Origin
from server.partition.partition import Partition
from server.platform.clock import VirtualClock
from server.platform.errors import (
    AlreadyExists,
    DeadlineExceeded,
    Internal,
    InvalidArgument,
    InvalidState,
    NotFound,
    QuotaExhausted,
    ServiceError,
)
from tests.server.engine.scenario import Scenario

MOST = 100_000
REFUSALS: dict[type[ServiceError], RejectionType] = {
    InvalidArgument: RejectionType.INVALID_ARGUMENT,
    NotFound: RejectionType.NOT_FOUND,
    InvalidState: RejectionType.INVALID_STATE,
    AlreadyExists: RejectionType.ALREADY_EXISTS,
    QuotaExhausted: RejectionType.EXHAUSTED,
}

# Runs something to its end, with the partition beside it.
Run = Callable[[Coroutine[Any, Any, Any]], Any]


class ServedScenario(Scenario):
    """`state` is the partition's own; every command has been committed when it is answered."""

    def __init__(self, run: Run, partition: Partition, clock: VirtualClock) -> None:
        super().__init__()
        self._run = run
        self._clock = clock
        self._faults = _Faults()
        clock.pin(self.now)
        self.go_on_with(partition)

    def go_on_with(self, partition: Partition) -> None:
        """Have this one carry out the commands from now on."""
        self.state = partition.state
        self.partition = partition
        partition.observers.append(self._observe)

    def execute(self, command: Command) -> Answer:
        self.last_events = []
        with self._faults:
            try:
                answer: Answer = self._run(self.partition.submit(command, self._origin(command)))
            except DeadlineExceeded:
                (began,) = (each for each in self.last_events if isinstance(each, UserTaskTransitionBegan))
                return TransitionBegun(began.transition.key)
            except Internal:
                raise self._faults.last from None
            except tuple(REFUSALS) as refusal:
                raise Rejected(REFUSALS[type(refusal)], refusal.detail) from refusal
        return answer

    def advance(self, by: timedelta) -> Self:
        self.now += by
        self._clock.pin(self.now)
        list(self.due.take(self.now, MOST))  # the partition brings them by itself
        self.last_events = []
        self._run(self._settled())
        return self

    def _origin(self, command: Command) -> Origin:
        return Origin(getattr(command, "tenant_id", ""), actor_id="story", request_id="r")

    def _observe(self, happened: Sequence[Event]) -> None:
        # A turn of nothing but a barrier brings none.
        self.last_events = list(happened) or self.last_events
        self.happens(happened)

    async def _settled(self) -> None:
        self.partition.clock_moved()
        await self.partition.settle()


class _Faults(logging.Handler):
    """Faults that the log tells of while the block runs; callers are told nothing."""

    last: BaseException = AssertionError("no fault was logged")
    _logger = logging.getLogger("server.partition.turn")

    def __enter__(self) -> None:
        self._logger.addHandler(self)

    def __exit__(self, *_: object) -> None:
        self._logger.removeHandler(self)

    def emit(self, record: logging.LogRecord) -> None:
        if record.exc_info and record.exc_info[1] is not None:
            self.last = record.exc_info[1]
