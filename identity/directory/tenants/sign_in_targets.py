"""Routes an e-mail address to its sign-in target, by the verified domains of all tenants.

Each query is one or two indexed reads, so every process sees a change at once. The result does not depend on
existing accounts.
"""

from dataclasses import dataclass

from identity.directory.tenants.domain_names import domain_name_of
from identity.directory.tenants.providers import Provider, ProviderDirectory
from identity.directory.tenants.settings import EmailFirst
from identity.directory.tenants.sign_in_domain import SIGN_IN_DOMAINS, SignInDomain, Target, TargetType
from identity.directory.tenants.tenant_record import DEPLOYMENT, TENANTS
from identity.foundation.tenants import Tenant, Tenants
from server.platform.errors import NotFound
from server.platform.records import RecordStore


@dataclass(frozen=True, slots=True)
class Route:
    """A target with the enabled ones of its providers."""

    type: TargetType = TargetType.PASSWORD
    providers: tuple[Provider, ...] = ()


PASSWORD_PAGE = Route()


class SignInTargets:
    def __init__(self, tenants: Tenants, store: RecordStore, providers: ProviderDirectory) -> None:
        self._tenants = tenants
        self._records = store.of(TENANTS)
        self._domains = store.of(SIGN_IN_DOMAINS)
        self._providers = providers

    async def is_email_first(self, tenant: Tenant) -> bool:
        """Whether the sign-in page asks for the e-mail address first; never in a deployment with one tenant."""
        if len(self._tenants.all()) == 1:
            return False
        record = await self._records.get(DEPLOYMENT, tenant.tenant_id)
        if record is None or record.settings.email_first is EmailFirst.OFF:
            return False
        domains = await self._domains.find(DEPLOYMENT, "owner", tenant.tenant_id)
        return any(domain.is_verified for domain in domains)

    async def target_of(self, tenant: Tenant, email: str) -> Target | None:
        """Return the target of the address's domain, None if the tenant has no such verified domain."""
        domain = await self._verified(email.rpartition("@")[2])
        return domain.target if domain is not None and domain.owner == tenant.tenant_id else None

    async def route_of(self, tenant: Tenant, email: str) -> Route:
        """Return the route of an address; the password page if there is no other."""
        target = await self.target_of(tenant, email)
        if target is None or not await self.is_email_first(tenant):
            return PASSWORD_PAGE
        found = [await self._providers.find(tenant, provider_id) for provider_id in target.provider_ids]
        enabled = tuple(provider for provider in found if provider is not None and provider.is_enabled)
        return Route(target.type, enabled) if enabled else PASSWORD_PAGE

    async def provider_in_charge(self, tenant: Tenant, email: str) -> Provider | None:
        """Return the enabled provider that the address must sign in through, None where a password is allowed."""
        target = await self.target_of(tenant, email)
        if target is None or target.type is not TargetType.PROVIDER:
            return None
        provider = await self._providers.find(tenant, target.provider_ids[0])
        return provider if provider is not None and provider.is_enabled else None

    async def is_of_provider(self, tenant: Tenant, domain: str, provider_id: str) -> bool:
        """Whether the tenant has verified the domain, and the provider is among its targets."""
        found = await self._verified(domain)
        is_own = found is not None and found.owner == tenant.tenant_id
        return found is not None and is_own and provider_id in found.target.provider_ids

    async def owner_of(self, domain: str) -> Tenant | None:
        """Return the enabled tenant that has verified the domain, or None."""
        found = await self._verified(domain)
        try:
            return self._tenants.find(found.owner) if found is not None else None
        except NotFound:
            return None

    async def _verified(self, domain: str) -> SignInDomain | None:
        try:
            name = domain_name_of(domain)
        except ValueError:
            return None
        found = await self._domains.find(DEPLOYMENT, "verified_name", name, most=1)
        return found[0] if found else None
