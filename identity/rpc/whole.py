"""Calls that run to their end, whatever becomes of their callers.

Who hangs up, or waits no longer, would else leave behind a change without the event that tells of it, or the first of two
changes that belong together.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable

from google.protobuf.message import Message

from server.platform.call import Call
from server.platform.errors import ServiceError

logger = logging.getLogger(__name__)

Serve = Callable[[Message, Call], Awaitable[Message]]


class Whole:
    """A servicer, each of whose methods is served to its end as one of `tasks`."""

    def __init__(self, servicer: object, tasks: asyncio.TaskGroup) -> None:
        self._servicer = servicer
        self._tasks = tasks

    def __getattr__(self, name: str) -> Serve:
        serve: Serve = getattr(self._servicer, name)

        async def to_its_end(request: Message, call: Call) -> Message:
            if call.policy.is_long_polling:
                # It changes nothing, and waits for the caller alone.
                return await serve(request, call)
            running = self._tasks.create_task(_settled(serve, request, call))
            try:
                outcome = await asyncio.shield(running)
            except asyncio.CancelledError:
                running.add_done_callback(_look_at)
                raise
            if isinstance(outcome, Exception):
                raise outcome
            return outcome

        return to_its_end


async def _settled(serve: Serve, request: Message, call: Call) -> Message | Exception:
    """What comes of a call, so that one which fails ends no others."""
    try:
        return await serve(request, call)
    except Exception as error:  # noqa: BLE001  # whoever waits raises it
        return error


def _look_at(ended: "asyncio.Task[Message | Exception]") -> None:
    outcome = None if ended.cancelled() else ended.result()
    if isinstance(outcome, Exception) and not isinstance(outcome, ServiceError):
        logger.error("a call failed that nobody waits for", exc_info=outcome)
