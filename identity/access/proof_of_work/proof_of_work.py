"""Stateless proof-of-work challenges with single-use solutions.

A challenge is signed, so a wrong or late solution costs no look-up. A valid solution is used up by one insert, which
only one of several concurrent requests wins. A solution with a wrong counter is not used up and may be tried again.
"""

import hmac
from datetime import UTC, datetime

from identity.access.proof_of_work.challenge import (
    SALT_LENGTH,
    Challenge,
    Solution,
    parse,
    signature_of,
    unpadded,
)
from identity.access.proof_of_work.config import ProofOfWorkConfig
from identity.foundation.randomness import Randomness
from identity.foundation.single_use import SingleUse
from identity.foundation.tenants import Tenant
from server.platform.clock import Clock
from server.platform.errors import NotFound, PermissionDenied

_PURPOSE = "proof of work"


class ProofOfWork:
    def __init__(
        self,
        single_use: SingleUse,
        secret: bytes,
        *,
        clock: Clock,
        randomness: Randomness,
        config: ProofOfWorkConfig,
    ) -> None:
        """Sign challenges with a secret that all processes of the deployment share."""
        self._single_use = single_use
        self._secret = secret
        self._clock = clock
        self._randomness = randomness
        self._config = config

    def challenge(self, tenant: Tenant) -> str:
        """Return a challenge that is valid at this tenant's provider."""
        difficulty, salt = self._config.difficulty, unpadded(self._randomness.octets(SALT_LENGTH))
        expiry = int((self._clock.now() + self._config.lifetime).timestamp())
        signature = signature_of(difficulty, expiry, salt, secret=self._secret_of(tenant))
        return str(Challenge(difficulty, expiry, salt, signature))

    async def spend(self, tenant: Tenant, solution: str) -> None:
        """Use up a solution; raises PermissionDenied for an invalid one, NotFound for a used one."""
        challenge = self._proved(tenant, parse(solution))
        if not await self._single_use.spend(
            tenant, _PURPOSE, challenge.signature, until=_forgotten_at(challenge)
        ):
            raise NotFound("the proof of work was used before")

    def _proved(self, tenant: Tenant, solution: Solution | None) -> Challenge:
        if solution is None or not self._is_ours(tenant, solution.challenge):
            raise PermissionDenied("the proof of work does not solve a challenge of this provider")
        if solution.challenge.expiry < self._clock.now().timestamp():
            raise PermissionDenied("the proof of work has expired")
        if solution.leading_zero_bits < solution.challenge.difficulty:
            raise PermissionDenied("the proof of work has too few zero bits")
        return solution.challenge

    def _is_ours(self, tenant: Tenant, challenge: Challenge) -> bool:
        secret = self._secret_of(tenant)
        expected = signature_of(challenge.difficulty, challenge.expiry, challenge.salt, secret=secret)
        return hmac.compare_digest(expected, challenge.signature)

    def _secret_of(self, tenant: Tenant) -> str:
        # A solution is valid at one tenant only.
        return hmac.digest(self._secret, tenant.tenant_id.encode(), "sha256").hex()


def _forgotten_at(challenge: Challenge) -> datetime:
    # A second after the last valid moment: the record must not expire while the solution is valid.
    return datetime.fromtimestamp(challenge.expiry + 1, UTC)
