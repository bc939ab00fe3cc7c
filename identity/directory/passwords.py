"""Passwords of people: argon2id (RFC 9106), never more at a time than the pool has threads.

A hash takes a tenth of a second and much memory, so neither the loop nor a crowd may compute it freely: past a bound
callers are turned away.
"""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from argon2 import PasswordHasher
from argon2.exceptions import VerifyMismatchError

from identity.config import PasswordConfig
from server.platform.errors import ResourceExhausted

T = TypeVar("T")

# A worker does some ten a second: whoever comes later would wait longer than a browser does.
_MOST_WAITING = 200


class Passwords:
    def __init__(self, config: PasswordConfig, most_waiting: int = _MOST_WAITING) -> None:
        self._hasher = PasswordHasher(config.iterations, config.memory_kib, config.lanes)
        self._pool = ThreadPoolExecutor(config.workers, thread_name_prefix="passwords")
        self._most_waiting = most_waiting
        self._waiting = 0

    async def hash(self, password: str) -> str:
        """Raises ResourceExhausted when too many wait already."""
        return await self._computed(lambda: self._hasher.hash(password))

    async def verify(self, password_hash: str | None, password: str) -> bool:
        """Whether the hash is the password's; without a hash it is not, at the same cost. Raises ResourceExhausted."""
        return await self._computed(lambda: self._verify(password_hash, password))

    def is_outdated(self, password_hash: str) -> bool:
        """Whether it was made at another cost than new ones."""
        return self._hasher.check_needs_rehash(password_hash)

    def close(self) -> None:
        self._pool.shutdown(wait=False, cancel_futures=True)

    async def _computed(self, compute: Callable[[], T]) -> T:
        if self._waiting >= self._most_waiting:
            raise ResourceExhausted("too many passwords are being checked")
        self._waiting += 1
        try:
            return await asyncio.get_running_loop().run_in_executor(self._pool, compute)
        finally:
            self._waiting -= 1

    def _verify(self, password_hash: str | None, password: str) -> bool:
        if not password_hash:
            self._hasher.hash(password)
            return False
        try:
            return self._hasher.verify(password_hash, password)
        except VerifyMismatchError:
            return False
