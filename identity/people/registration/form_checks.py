"""Checks of every registration form before its address is looked up: proof of work and rate limit."""

from dataclasses import dataclass
from typing import Protocol

from identity.access.proof_of_work.proof_of_work import ProofOfWork
from identity.directory.tenants.settings import TenantSettings
from identity.foundation.tenants import Tenant
from identity.people.registration.limits import RegistrationLimits


class Settings(Protocol):
    async def of(self, tenant: Tenant) -> TenantSettings: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class RegistrationAdmission:
    proof_of_work: ProofOfWork
    limits: RegistrationLimits

    async def pass_through(self, tenant: Tenant, peer_address: str, proof_of_work: str) -> None:
        """Raises PermissionDenied, NotFound for a proof of work that was used, ResourceExhausted."""
        await self.proof_of_work.spend(tenant, proof_of_work)
        await self.limits.count(tenant, peer_address)
