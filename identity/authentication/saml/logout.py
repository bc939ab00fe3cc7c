"""Single logout that a SAML provider initiates: SAML 2.0 Core §3.7, Profiles §4.4.

Only sessions that began with a sign-in at the provider end. The request must be signed, also over the redirect binding.
"""

from datetime import datetime, timedelta
from typing import Protocol

from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey
from cryptography.x509 import Certificate

from identity.access.sessions.session import Session
from identity.access.sessions.sessions import Sessions
from identity.authentication.requests.redirection import Redirection
from identity.authentication.saml.certificates import certificates_of
from identity.authentication.saml.logout_messages import LOGOUT_REQUEST, current_until, session_indexes_of
from identity.authentication.saml.redirect_binding import verified_request
from identity.authentication.saml.refusals import Refusal, RefusedMessage
from identity.authentication.saml.response import decoded, verified_message
from identity.authentication.saml.service_provider import ServiceProvider, logout_of, saml_of
from identity.authentication.saml.subjects import name_id_of
from identity.crypto.xml.documents import MalformedXml, XmlElement, text_of
from identity.directory.provider import Provider
from identity.directory.providers import Providers
from identity.foundation.events.events import Events
from identity.foundation.events.kinds import EventType
from identity.foundation.single_use import SingleUse
from identity.foundation.tenants import Tenant
from server.platform.clock import Clock
from server.platform.errors import NotFound, Unauthenticated


class SessionTermination(Protocol):
    async def end(self, tenant: Tenant, session: Session) -> None: ...


class SamlLogout:
    def __init__(
        self,
        providers: Providers,
        service_provider: ServiceProvider,
        *,
        single_use: SingleUse,
        sessions: Sessions,
        termination: SessionTermination,
        events: Events,
        clock: Clock,
    ) -> None:
        self._providers = providers
        self._service_provider = service_provider
        self._single_use = single_use
        self._sessions = sessions
        self._termination = termination
        self._events = events
        self._clock = clock

    async def receive_query(self, tenant: Tenant, provider_id: str, query: str) -> Redirection:
        """Answer a request of the redirect binding; raises NotFound, Unauthenticated."""
        provider = await self._provider(tenant, provider_id)
        try:
            request, relay_state = verified_request(query, _certificates(provider))
            return await self._received(tenant, provider, request, relay_state=relay_state)
        except RefusedMessage as refused:
            raise await self._refused(tenant, provider, refused) from refused

    async def receive_form(
        self, tenant: Tenant, provider_id: str, *, message: str, relay_state: str
    ) -> Redirection:
        """Answer a request of the POST binding; raises NotFound, Unauthenticated."""
        provider = await self._provider(tenant, provider_id)
        try:
            request = verified_message(decoded(message, LOGOUT_REQUEST), _certificates(provider))
            return await self._received(tenant, provider, request, relay_state=relay_state)
        except RefusedMessage as refused:
            raise await self._refused(tenant, provider, refused) from refused

    async def _provider(self, tenant: Tenant, provider_id: str) -> Provider:
        """Return a provider with single logout; it may be disabled, for sessions from before."""
        provider = await self._providers.find(tenant, provider_id)
        if provider is None or provider.fields.saml is None or not saml_of(provider).single_logout_endpoint:
            raise NotFound("there is no such provider")
        return provider

    async def _refused(self, tenant: Tenant, provider: Provider, refused: RefusedMessage) -> Unauthenticated:
        await self._events.emit(
            tenant.tenant_id,
            EventType.UPSTREAM_RESPONSE_REFUSED,
            text=f"provider {provider.fields.name}: {refused.reason}",
        )
        return Unauthenticated("the request of the provider is invalid")

    async def _received(
        self, tenant: Tenant, provider: Provider, request: XmlElement, *, relay_state: str
    ) -> Redirection:
        try:
            until = self._expect_request(tenant, provider, request)
            sub, sids = _named(provider, request, self._service_provider.key(provider))
        except (MalformedXml, ValueError) as error:
            raise RefusedMessage(Refusal.MALFORMED) from error
        identifier = f"{provider.id} {request.get('ID')}"
        if not await self._single_use.spend(tenant, "saml logout", identifier, until=until):
            raise RefusedMessage(Refusal.REPLAY)
        for sid in sids:
            await self._end(tenant, provider, sub=sub, sid=sid)
        return self._service_provider.logout_response(
            tenant, provider, request.get("ID", ""), at=self._clock.now(), relay_state=relay_state
        )

    def _expect_request(self, tenant: Tenant, provider: Provider, request: XmlElement) -> datetime:
        """Return the time after which the request would be refused as expired."""
        return current_until(
            request,
            issuer=provider.fields.issuer,
            destination=logout_of(tenant, provider),
            now=self._clock.now(),
            skew=timedelta(seconds=saml_of(provider).clock_skew_secs),
        )

    async def _end(self, tenant: Tenant, provider: Provider, *, sub: str, sid: str) -> None:
        for session in await self._sessions.vouched_for(tenant, provider.id, sub=sub, sid=sid):
            await self._termination.end(tenant, session)
            await self._events.emit(
                tenant.tenant_id,
                EventType.FORCED_LOGOUT,
                text=f"provider {provider.fields.name}",
                user_id=session.user_id,
            )


def _named(provider: Provider, request: XmlElement, key: RSAPrivateKey) -> tuple[str, tuple[str, ...]]:
    """Return the subject and the session indexes; an empty index means all sessions of the subject."""
    name = name_id_of(request, key)
    sids = session_indexes_of(request)
    # If an attribute identifies users, a session is known only by its index.
    sub = "" if saml_of(provider).subject_attribute else text_of(name)
    if not sub and not sids:
        raise RefusedMessage(Refusal.SUBJECT)
    return sub, sids or ("",)


def _certificates(provider: Provider) -> tuple[Certificate, ...]:
    return certificates_of(saml_of(provider).certificates)
