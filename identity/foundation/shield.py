"""Shields servicer calls from client cancellation.

A client that disconnects therefore leaves no change without its event, and no first of two related changes without the
second. A shielded call still ends: at its own deadline, when the provider stops, and during an outage of the store. A
second change that must follow even then is stored together with the first, as a removal or as a task of a queue.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

from google.protobuf.message import Message

from server.platform.call import Call
from server.platform.deadlines import Deadlines
from server.platform.errors import DeadlineExceeded, ResourceExhausted, ServiceError, Unavailable

logger = logging.getLogger(__name__)

# Longer than any delay of login protection, and than the provider's own outgoing calls of one request.
CALL_SECONDS = 60.0
# The process has ten seconds from SIGTERM to its end; most of them belong to its listeners.
DRAIN_SECONDS = 2.0
# Calls outlive clients that disconnect, so bounds on connections do not bound calls.
MOST_CALLS = 4096

Serve = Callable[[Message, Call], Awaitable[Message]]


class CallShield:
    """Runs calls in its own `tasks`, at most `most_calls` at a time, each at most `call_seconds`."""

    def __init__(
        self,
        tasks: asyncio.TaskGroup,
        *,
        call_seconds: float = CALL_SECONDS,
        drain_seconds: float = DRAIN_SECONDS,
        most_calls: int = MOST_CALLS,
    ) -> None:
        self._tasks = tasks
        self._call_seconds = call_seconds
        self._drain_seconds = drain_seconds
        self._most_calls = most_calls
        self._deadlines = Deadlines()
        self._running: set[asyncio.Task[Message | Exception]] = set()
        self._is_draining = False

    async def run(self, serve: Serve, request: Message, call: Call) -> Message:
        """Return the result of `serve`; the call continues when this is cancelled."""
        if self._is_draining:
            raise Unavailable.untouched("the provider is stopping")
        if len(self._running) >= self._most_calls:
            raise ResourceExhausted(f"{self._most_calls} calls are running already")
        running = self._tasks.create_task(self._outcome(serve, request, call))
        self._running.add(running)
        running.add_done_callback(self._running.discard)
        try:
            outcome = await asyncio.shield(running)
        except asyncio.CancelledError:
            if running.cancelled() and not _is_cancelled():
                raise Unavailable("the provider stopped before the call ended") from None
            running.add_done_callback(_report_fault)
            raise
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    async def drain(self) -> None:
        """Refuse new calls, and return when none runs: calls that exceed `drain_seconds` are cancelled."""
        self._is_draining = True
        if not self._running:
            return
        _, late = await asyncio.wait(self._running, timeout=self._drain_seconds)
        if late:
            logger.warning("calls were cancelled because the provider stops", extra={"calls": len(late)})
        for call in late:
            call.cancel()

    async def _outcome(self, serve: Serve, request: Message, call: Call) -> Message | Exception:
        """Return the error of a failed call: if raised, it would end the other calls of the task group."""
        deadline = self._deadlines.within(self._call_seconds)
        try:
            with deadline:
                return await serve(request, call)
        except Exception as error:
            if not deadline.is_past:
                return error
            logger.exception("a call exceeded its deadline", extra={"rpc": call.policy.path})
            return DeadlineExceeded(f"{call.policy.name} took longer than {self._call_seconds:g} s")


@asynccontextmanager
async def call_shield(
    *,
    call_seconds: float = CALL_SECONDS,
    drain_seconds: float = DRAIN_SECONDS,
    most_calls: int = MOST_CALLS,
) -> AsyncIterator[CallShield]:
    """A shield for the calls of the block, drained at its end."""
    async with asyncio.TaskGroup() as tasks:
        shield = CallShield(
            tasks, call_seconds=call_seconds, drain_seconds=drain_seconds, most_calls=most_calls
        )
        try:
            yield shield
        finally:
            await shield.drain()


class ShieldedServicer:
    """A servicer whose methods run under a shield, except those that only wait on behalf of their caller."""

    def __init__(self, servicer: object, shield: CallShield) -> None:
        self._servicer = servicer
        self._shield = shield

    def __getattr__(self, name: str) -> Serve:
        serve: Serve = getattr(self._servicer, name)

        async def shielded(request: Message, call: Call) -> Message:
            if call.policy.is_long_polling:
                return await serve(request, call)
            return await self._shield.run(serve, request, call)

        return shielded


def _is_cancelled() -> bool:
    """Whether this task is cancelled, and not only the call that it awaits."""
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


def _report_fault(ended: "asyncio.Task[Message | Exception]") -> None:
    outcome = None if ended.cancelled() else ended.result()
    if isinstance(outcome, Exception) and not isinstance(outcome, ServiceError):
        logger.error("a call failed after its caller had disconnected", exc_info=outcome)
