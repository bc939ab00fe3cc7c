"""Callers that wait for the end of a user task's transition, while its listeners run.

A caller that gives up loses nothing: the transition continues, and a repeat with the same idempotency key
waits again.
"""

import asyncio
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from itertools import chain

from server.engine import events
from server.engine.answers import DONE, Answer
from server.engine.keys import Key
from server.partition.config import InstancesConfig
from server.partition.idempotency import IdempotencyKey
from server.partition.places import Places
from server.partition.wire import ANSWERS
from server.platform.errors import DeadlineExceeded, InvalidState, ResourceExhausted, Unavailable
from server.store.ports import StoredAnswer

Waiting = asyncio.Future[Answer]


class TransitionWaiters:
    def __init__(self, config: InstancesConfig) -> None:
        self._seconds = config.await_completion_seconds
        self._places = Places(config.max_awaiting, config.max_tenant_awaiting, "calls for a user task")
        self._waiting: dict[Key, set[Waiting]] = {}

    @property
    def waiting(self) -> int:
        """The number of waiting callers."""
        return self._places.taken

    def hold(self, key: Key, tenant_id: str, answer: Waiting) -> None:
        """Set the answer when the transition ends, or an error when that takes too long."""
        try:
            self._places.take(tenant_id)
        except ResourceExhausted as refusal:
            answer.set_exception(DeadlineExceeded(f"{refusal.detail}; the listeners are being called"))
            return
        self._waiting.setdefault(key, set()).add(answer)
        timer = asyncio.get_running_loop().call_later(self._seconds, self._give_up, answer)

        def leave(_: Waiting) -> None:
            timer.cancel()
            self._places.free(tenant_id)
            left = self._waiting.get(key)
            if left is not None:
                left.discard(answer)
                if not left:
                    del self._waiting[key]

        answer.add_done_callback(leave)

    def _give_up(self, answer: Waiting) -> None:
        if not answer.done():
            answer.set_exception(
                DeadlineExceeded(
                    f"the listeners did not answer within {self._seconds:g} s; they are still being called"
                )
            )

    def observe(self, happened: Sequence[events.Event]) -> None:
        """Set the answers of ended transitions."""
        if not self._waiting:
            return
        for event in happened:
            if isinstance(event, events.UserTaskTransitionEnded):
                for answer in tuple(self._waiting.get(event.transition.key, ())):
                    _settle(answer, event.refusal)

    def refuse(self) -> None:
        for answer in tuple(chain.from_iterable(self._waiting.values())):
            if not answer.done():
                answer.set_exception(
                    Unavailable("the partition stopped serving; the listeners are still being called")
                )


def _settle(answer: Waiting, refusal: str | None) -> None:
    if answer.done():
        return
    if refusal is None:
        answer.set_result(DONE)
    else:
        answer.set_exception(InvalidState(refusal))


def ended_well(happened: Iterable[events.Event]) -> Iterator[IdempotencyKey]:
    """The requests whose transitions ended without a refusal; a repeat of a refused request is handled again."""
    for event in happened:
        if isinstance(event, events.UserTaskTransitionEnded) and event.refusal is None:
            requester = event.transition.requester
            if requester is not None and requester.idempotency_key:
                tenant_id = event.instance.tenant_id
                yield IdempotencyKey(tenant_id, requester.idempotency_key, requester.request_hash)


def final_answers(happened: Iterable[events.Event], now: datetime) -> Iterator[StoredAnswer]:
    """Stored answers for repeats of requests whose transitions succeeded."""
    for key in ended_well(happened):
        yield StoredAnswer(key.tenant_id, key.key, key.request_hash, ANSWERS.pack(DONE), now)
