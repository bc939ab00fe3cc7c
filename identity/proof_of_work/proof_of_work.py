"""Challenges that nobody has to remember, and solutions that are good once.

A challenge is signed, so a wrong or late solution costs no look-up. A good one is spent by one insert, of which there is
one winner however many ask at a time and wherever; one with a wrong counter is not spent and may be tried again.
"""

import hmac
from datetime import UTC, datetime

from identity.proof_of_work.challenge import SALT_LENGTH, Challenge, Solution, parse, signature_of, unpadded
from identity.proof_of_work.config import ProofOfWorkConfig
from identity.randomness import Randomness
from identity.single_use import SingleUse
from identity.tenants import Tenant
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
        """Return a challenge that is good at this tenant's provider."""
        difficulty, salt = self._config.difficulty, unpadded(self._randomness.octets(SALT_LENGTH))
        expiry = int((self._clock.now() + self._config.lifetime).timestamp())
        signature = signature_of(difficulty, expiry, salt, secret=self._secret_of(tenant))
        return str(Challenge(difficulty, expiry, salt, signature))

    async def spend(self, tenant: Tenant, solution: str) -> None:
        """Take a solution; raises PermissionDenied when it is none, NotFound when it was taken before."""
        challenge = self._proved(tenant, parse(solution))
        if not await self._single_use.spend(
            tenant, _PURPOSE, challenge.signature, until=_forgotten_at(challenge)
        ):
            raise NotFound("the proof of work was used before")

    def _proved(self, tenant: Tenant, solution: Solution | None) -> Challenge:
        if solution is None or not self._is_ours(tenant, solution.challenge):
            raise PermissionDenied("the proof of work is not a solution of one of our challenges")
        if solution.challenge.expiry < self._clock.now().timestamp():
            raise PermissionDenied("the proof of work came too late")
        if solution.leading_zero_bits < solution.challenge.difficulty:
            raise PermissionDenied("the proof of work does not have the bits that were asked for")
        return solution.challenge

    def _is_ours(self, tenant: Tenant, challenge: Challenge) -> bool:
        secret = self._secret_of(tenant)
        expected = signature_of(challenge.difficulty, challenge.expiry, challenge.salt, secret=secret)
        return hmac.compare_digest(expected, challenge.signature)

    def _secret_of(self, tenant: Tenant) -> str:
        # What was solved for one tenant is spent there, and there alone.
        return hmac.digest(self._secret, tenant.tenant_id.encode(), "sha256").hex()


def _forgotten_at(challenge: Challenge) -> datetime:
    # A second later than its last good moment: a spent proof must not expire while it can be spent.
    return datetime.fromtimestamp(challenge.expiry + 1, UTC)
