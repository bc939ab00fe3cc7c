"""Password hashing with argon2id (RFC 9106) in a bounded thread pool.

A hash takes a tenth of a second and much memory, so it never runs on the event loop. Tenants take turns: callers of one
tenant do not wait for those that wait for another. Calls beyond the bounds of the queue are refused, and calls that wait
too long. Hashes of other systems, from imports, are verified in the same threads and count as outdated.
"""

from collections.abc import Sequence

from argon2 import PasswordHasher
from argon2.exceptions import VerifyMismatchError
from zxcvbn_rs_py import zxcvbn

from identity.directory.password_config import PasswordConfig
from identity.directory.password_hashes.foreign_hash import OWN, cost_of, read
from identity.directory.password_hashes.pbkdf2 import work
from server.platform.tenant_threads import TenantThreads

# A worker computes about ten hashes a second; beyond this number callers would wait longer than browsers do.
_MOST_OF_A_TENANT = 200
_MOST_WAITING = 1000
_LONGEST_WAIT = 20.0

# Guessing known passwords and their variations takes up to this many attempts, as a power of ten.
_EASY_GUESSES = 6


class Passwords:
    """`tenant_id` is the tenant for which a caller waits."""

    def __init__(self, config: PasswordConfig, most_waiting: int = _MOST_WAITING) -> None:
        self._hasher = PasswordHasher(config.iterations, config.memory_kib, config.lanes)
        self._threads = TenantThreads(
            "passwords",
            config.workers,
            most_waiting=most_waiting,
            most_of_one=_MOST_OF_A_TENANT,
            is_short=True,
            longest_wait=_LONGEST_WAIT,
        )

    async def hash(self, tenant_id: str, password: str) -> str:
        """Raises ResourceExhausted when too many wait already, or after too long a wait."""
        return await self._threads.run(tenant_id, self._hasher.hash, password)

    async def verify(
        self, tenant_id: str, password_hash: str | None, password: str, *, decoy: str = ""
    ) -> bool:
        """Whether the hash is of this password; without a hash False, at the same cost. Raises ResourceExhausted.

        With a decoy, a wrong password costs a hash of ours and the decoy, whatever the hash is.
        """
        return await self._threads.run(tenant_id, self._verified, password_hash, password, decoy)

    async def is_easily_guessed(self, tenant_id: str, password: str, about: Sequence[str]) -> bool:
        """Whether it is a known password, or a variation of one, of a pattern, or of facts about the user.

        Raises ResourceExhausted.
        """
        estimated = await self._threads.run(tenant_id, zxcvbn, password, list(about))
        return estimated.guesses_log10 < _EASY_GUESSES

    def is_outdated(self, password_hash: str) -> bool:
        """Whether the hash has other cost parameters than new ones."""
        return not password_hash.startswith(OWN) or self._hasher.check_needs_rehash(password_hash)

    def close(self) -> None:
        self._threads.close()

    def _verified(self, password_hash: str | None, password: str, decoy: str) -> bool:
        if self._verify(password_hash, password):
            return True
        if not decoy:
            return False
        if password_hash and self.is_outdated(password_hash):
            self._hasher.hash(password)
            work(cost_of(decoy) - cost_of(password_hash))
        else:
            read(decoy).matches(password)
        return False

    def _verify(self, password_hash: str | None, password: str) -> bool:
        if not password_hash:
            self._hasher.hash(password)
            return False
        if not password_hash.startswith(OWN):
            return read(password_hash).matches(password)
        try:
            return self._hasher.verify(password_hash, password)
        except VerifyMismatchError:
            return False
