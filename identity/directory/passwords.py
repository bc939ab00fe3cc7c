"""Passwords of people: argon2id (RFC 9106), never more at a time than the pool has threads.

A hash takes a tenth of a second and much memory, so neither the loop nor a crowd may compute it freely.
"""

import asyncio
from concurrent.futures import Future, ThreadPoolExecutor

from argon2 import PasswordHasher
from argon2.exceptions import VerifyMismatchError

from identity.config import PasswordConfig
from identity.directory.user import UserId


class Passwords:
    def __init__(self, config: PasswordConfig) -> None:
        self._hasher = PasswordHasher(config.iterations, config.memory_kib, config.lanes)
        self._pool = ThreadPoolExecutor(config.workers, thread_name_prefix="passwords")
        self._hashes: dict[UserId, Future[str]] = {}

    def set(self, user_id: UserId, password: str) -> None:
        """Take a new password; it is hashed in the background."""
        self._hashes[user_id] = self._pool.submit(self._hasher.hash, password)

    async def verify(self, user_id: UserId, password: str) -> bool:
        """Whether it is the user's password; costs the same for a user that does not exist."""
        return await asyncio.get_running_loop().run_in_executor(self._pool, self._verify, user_id, password)

    def close(self) -> None:
        self._pool.shutdown(wait=False, cancel_futures=True)

    def _verify(self, user_id: UserId, password: str) -> bool:
        hashed = self._hashes.get(user_id)
        if hashed is None:
            self._hasher.hash(password)
            return False
        try:
            # Submitted before this ran, so it is done or has a thread of its own: waiting here cannot deadlock.
            return self._hasher.verify(hashed.result(), password)
        except VerifyMismatchError:
            return False
