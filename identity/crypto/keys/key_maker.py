"""Generates new keys in worker threads.

Quick keys and slow keys have one worker each. Tokens of a new tenant need a quick key, so they never wait for slow keys
of other tenants. Slow keys occupy one core at most.
"""

from typing import Protocol

from identity.crypto.jose.algorithms import KeyKind, PrivateKey
from server.platform.errors import ResourceExhausted, Unavailable
from server.platform.threads import Threads

_MOST_WAITING = 200


class KeyMaker(Protocol):
    async def make(self, kind: KeyKind) -> PrivateKey:
        """Raises Unavailable when too many wait already."""
        ...

    def close(self) -> None: ...


class ThreadedKeyMaker:
    def __init__(self, most_waiting: int = _MOST_WAITING) -> None:
        self._quick = Threads("quick signing keys", 1, most_waiting=most_waiting)
        self._slow = Threads("slow signing keys", 1, most_waiting=most_waiting)

    async def make(self, kind: KeyKind) -> PrivateKey:
        threads = self._quick if kind.is_quick else self._slow
        try:
            return await threads.run(kind.generate)
        except ResourceExhausted as error:
            raise Unavailable.untouched("too many signing keys are being made; try again") from error

    def close(self) -> None:
        self._quick.close()
        self._slow.close()
