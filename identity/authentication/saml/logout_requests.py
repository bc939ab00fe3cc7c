"""Requests by which a session that ended here ends at its SAML provider: SAML 2.0 Core §3.7.1, Profiles §4.4."""

from dataclasses import dataclass

from identity.access.sessions.session import Session
from identity.authentication.saml.service_provider import LogoutRequest, ServiceProvider, saml_of
from identity.directory.providers import Providers
from identity.foundation.randomness import Randomness
from identity.foundation.tenants import Tenant
from server.platform.clock import Clock

_ID_LENGTH = 40


@dataclass(frozen=True, slots=True)
class UpstreamSamlLogout:
    providers: Providers
    service_provider: ServiceProvider
    clock: Clock
    randomness: Randomness

    async def uri(self, tenant: Tenant, session: Session) -> str:
        """Return the address of the provider with a signed logout request for an ended session; empty for none.

        Only the user's own session ends there. Where an attribute identifies users, the NameID of the user is unknown.
        """
        if not session.provider_id or session.is_impersonated:
            return ""
        provider = await self.providers.find(tenant, session.provider_id)
        if provider is None or provider.fields.saml is None:
            return ""
        saml = saml_of(provider)
        if not (saml.sends_logout and saml.single_logout_endpoint) or saml.subject_attribute:
            return ""
        request = LogoutRequest(
            id=f"_{self.randomness.alphanumeric(_ID_LENGTH)}",
            at=self.clock.now(),
            name_id=session.upstream_sub,
            session_index=session.upstream_sid,
        )
        return self.service_provider.logout_request(tenant, provider, request)
