"""Idempotency: a repeated command with the same idempotency key gets the first answer, and takes effect once.

A repeat that arrives while the first command is in progress waits for it. A rejected command changed nothing
and is not kept, so its repeat is handled again.
"""

import asyncio
from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass

from server.engine.answers import Answer
from server.engine.events import Event
from server.engine.tenant_events import TenantMarked
from server.platform.errors import IdempotencyConflict


@dataclass(frozen=True, slots=True)
class IdempotencyKey:
    """The key that a caller chose, within its tenant; `request_hash` distinguishes requests."""

    tenant_id: str
    key: str
    request_hash: bytes


@dataclass(frozen=True, slots=True)
class _Kept:
    request_hash: bytes
    answer: asyncio.Future[Answer]


class Answers:
    """LRU cache of answers to commands with an idempotency key; commands in progress are never evicted."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._kept: OrderedDict[tuple[str, str], _Kept] = OrderedDict()

    def find(self, key: IdempotencyKey) -> asyncio.Future[Answer] | None:
        """The answer of the first command with the key; raises IdempotencyConflict if that was another request."""
        kept = self._kept.get((key.tenant_id, key.key))
        if kept is None:
            return None
        if kept.request_hash != key.request_hash:
            raise IdempotencyConflict("the idempotency key was used with another request")
        return kept.answer

    def keep(self, key: IdempotencyKey, answer: asyncio.Future[Answer]) -> None:
        place = (key.tenant_id, key.key)
        self._kept[place] = _Kept(key.request_hash, answer)
        answer.add_done_callback(lambda done: self._settle(place, done))
        while len(self._kept) > self._most and self._oldest.answer.done():
            self._kept.popitem(last=False)

    def keep_final(self, key: IdempotencyKey, answer: Answer) -> None:
        """Keep the answer of a request that has ended, and give it to the repeat that waits for its turn.

        The repeat was looked up before the end was committed, and its own execution would be refused.
        """
        kept = self._kept.get((key.tenant_id, key.key))
        final: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()
        final.set_result(answer)
        self.keep(key, final)
        if kept is not None and kept.request_hash == key.request_hash and not kept.answer.done():
            kept.answer.set_result(answer)

    def observe(self, happened: Iterable[Event]) -> None:
        """Forget the answers of tenants that are being removed."""
        removed = {event.tenant_id for event in happened if isinstance(event, TenantMarked)}
        if removed:
            for place in [place for place in self._kept if place[0] in removed]:
                del self._kept[place]

    @property
    def _oldest(self) -> _Kept:
        return next(iter(self._kept.values()))

    def _settle(self, place: tuple[str, str], answer: asyncio.Future[Answer]) -> None:
        if answer.cancelled() or answer.exception() is not None:
            kept = self._kept.get(place)
            if kept is not None and kept.answer is answer:
                del self._kept[place]
