"""Answers repeated commands with the answers that were stored together with their effects."""

import asyncio
from collections.abc import Iterable, Mapping

from server.engine.answers import Answer
from server.engine.formats import UnreadableFormat
from server.partition.idempotency import IdempotencyKey
from server.partition.turn import Entry
from server.partition.wire import ANSWERS
from server.platform.errors import IdempotencyConflict, Unavailable
from server.store.ports import Ledger, StoredAnswer

Place = tuple[str, str]


async def answer_repeats(entries: Iterable[Entry], ledger: Ledger) -> None:
    """Set the results of entries that are repeats; other entries are left alone. Raises Unavailable."""
    keyed = {_place(key): (entry, key) for entry in entries if (key := _key(entry))}
    if not keyed:
        return
    for place, stored in _by_place(await ledger.answers(keyed.keys())).items():
        entry, key = keyed[place]
        _settle(entry, key, stored)


def _key(entry: Entry) -> IdempotencyKey | None:
    return entry.origin.idempotency if entry.origin else None


def _place(key: IdempotencyKey) -> Place:
    return key.tenant_id, key.key


def _by_place(answers: Iterable[StoredAnswer]) -> Mapping[Place, list[StoredAnswer]]:
    found: dict[Place, list[StoredAnswer]] = {}
    for stored in answers:
        found.setdefault((stored.tenant_id, stored.idempotency_key), []).append(stored)
    return found


def _settle(entry: Entry, key: IdempotencyKey, answers: Iterable[StoredAnswer]) -> None:
    if entry.future is None or entry.future.done():
        return
    for stored in answers:
        if stored.request_hash == key.request_hash:
            _answer(entry.future, stored)
            return
    entry.future.set_exception(IdempotencyConflict("the idempotency key was used with another request"))


def _answer(future: asyncio.Future[Answer], stored: StoredAnswer) -> None:
    try:
        future.set_result(ANSWERS.unpack(stored.answer))
    except UnreadableFormat as error:
        future.set_exception(Unavailable(f"the stored answer cannot be read by this node: {error}"))
