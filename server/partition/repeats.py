"""Looks up commands with an idempotency key, and answers those that were executed before with the stored answer.

A command enters the queue when its look-up is done, so only its own caller waits for the ledger. Later commands
of that caller wait behind it, with a key or without, so that they are executed in the order of their arrival.

A look-up that finds nothing stays true while the command waits: until it is answered, `Answers` gives every
repeat the same future, and the partition is the only one to which the router sends the request.
"""

import asyncio
from collections import Counter, deque
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain

from server.engine.answers import Answer
from server.engine.formats import UnreadableFormat
from server.partition.idempotency import IdempotencyKey
from server.partition.turn import Entry
from server.partition.waiting_commands import WaitingCommands
from server.partition.wire import ANSWERS
from server.platform.errors import IdempotencyConflict, Unavailable
from server.store.ports import Ledger, StoredAnswer

Place = tuple[str, str]
Caller = tuple[str, str]

# A larger statement would delay the first of its callers.
MOST_AT_ONCE = 512


class Repeats:
    """Commands before their place in the queue; `run` looks them up, all that have arrived with one statement.

    Nothing of a tenant in `removed` is answered: its stored answers are being deleted.
    """

    def __init__(self, ledger: Ledger, pending: WaitingCommands, removed: Collection[str]) -> None:
        self._ledger = ledger
        self._pending = pending
        self._removed = removed
        self._arrived: deque[Entry] = deque()
        self._in_hand: Sequence[Entry] = ()
        self._callers: Counter[Caller] = Counter()
        self._some = asyncio.Event()

    def entries(self) -> Iterator[Entry]:
        """Entries that are not looked up yet."""
        return chain(self._in_hand, self._arrived)

    def precede(self, entry: Entry) -> bool:
        """Whether earlier commands of the entry's caller are not looked up yet."""
        return bool(self._callers) and _caller(entry) in self._callers

    def put(self, entry: Entry) -> None:
        """Look an entry up, if it has a key, and queue it; raises ResourceExhausted when the queue has no place for it."""
        self._pending.expect(entry)
        self._callers[_caller(entry)] += 1
        self._arrived.append(entry)
        self._some.set()

    async def run(self) -> None:
        """Look up until cancelled."""
        while True:
            await self._some.wait()
            self._some.clear()
            while self._arrived:
                count = min(len(self._arrived), MOST_AT_ONCE)
                self._in_hand = [self._arrived.popleft() for _ in range(count)]
                await self._look_up(self._in_hand)
                for entry in self._in_hand:
                    self._pending.put_expected(entry)
                self._callers -= Counter(map(_caller, self._in_hand))
                self._in_hand = ()

    async def _look_up(self, entries: Iterable[Entry]) -> None:
        """Answer entries that are repeats; refuse all of them if the ledger cannot be read."""
        keyed = [(entry, key) for entry in entries if entry.is_wanted and (key := _key(entry))]
        if not keyed:
            return
        try:
            found = _by_place(await self._ledger.answers({_place(key) for _, key in keyed}))
        except Unavailable as refusal:
            for entry, _ in keyed:
                entry.refuse_untouched(refusal.detail)
            return
        for entry, key in keyed:
            stored = found.get(_place(key))
            if stored is not None and entry.tenant_id not in self._removed:
                _settle(entry, key, stored)


def _caller(entry: Entry) -> Caller:
    return (entry.origin.tenant_id, entry.origin.actor_id) if entry.origin else ("", "")


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
