"""Checks of every registration form before its address is looked up: proof of work and rate limit."""

from dataclasses import dataclass
from typing import Protocol

from identity.proof_of_work.proof_of_work import ProofOfWork
from identity.registration.limits import RegistrationLimits
from identity.tenancy.settings import TenantSettings
from identity.tenants import Tenant


class Settings(Protocol):
    async def of(self, tenant: Tenant) -> TenantSettings: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class RegistrationDoor:
    proof_of_work: ProofOfWork
    limits: RegistrationLimits

    async def pass_through(self, tenant: Tenant, peer_address: str, proof_of_work: str) -> None:
        """Raises PermissionDenied, NotFound for a proof of work that was used, ResourceExhausted."""
        await self.proof_of_work.spend(tenant, proof_of_work)
        await self.limits.count(tenant, peer_address)
