"""Redirects the browser to an upstream provider with PKCE, state and nonce: RFC 9700 §2.1.

A SAML provider gets a request with an id in place of the nonce, and the state as relay state.
"""

import base64
import hashlib
from dataclasses import dataclass, field

from identity.access.proof_of_work.proof_of_work import ProofOfWork
from identity.access.sessions.browser import Browser
from identity.access.sessions.session import Session
from identity.access.sessions.sessions import Sessions, proved
from identity.authentication.authorization.asked import AskedRequests, Reference
from identity.authentication.federation.hints import Hints
from identity.authentication.federation.login import LIFETIME, UpstreamLogin
from identity.authentication.requests.login_hint import login_hint
from identity.authentication.requests.parameters import Parameters
from identity.authentication.requests.redirection import Redirection
from identity.authentication.requests.request import AuthorizationRequest, Prompt, ResponseMode
from identity.authentication.saml.service_provider import (
    AuthenticationRequest,
    ServiceProvider,
    callback_of,
)
from identity.directory.provider import Provider
from identity.directory.providers import Providers
from identity.directory.secrets import SecretHasher
from identity.foundation.randomness import Randomness
from identity.foundation.tenants import Tenant
from server.platform.clock import Clock
from server.platform.errors import InvalidArgument, NotFound
from server.platform.records import Records

_SECRET_LENGTH = 43


@dataclass(frozen=True, slots=True, kw_only=True)
class Departure:
    """`address` is the e-mail address that the user typed, empty for the one in the request."""

    authorization_id: str
    provider_id: str
    address: str
    proof_of_work: str = field(repr=False)


class UpstreamLoginRedirect:
    def __init__(
        self,
        sessions: Sessions,
        proof_of_work: ProofOfWork,
        *,
        asked: AskedRequests,
        providers: Providers,
        hints: Hints,
        logins: Records[UpstreamLogin],
        service_provider: ServiceProvider,
        hasher: SecretHasher,
        clock: Clock,
        randomness: Randomness,
    ) -> None:
        self._sessions = sessions
        self._proof_of_work = proof_of_work
        self._asked = asked
        self._providers = providers
        self._hints = hints
        self._logins = logins
        self._service_provider = service_provider
        self._hasher = hasher
        self._clock = clock
        self._randomness = randomness

    async def leave(self, tenant: Tenant, browser: Browser, departure: Departure) -> Redirection:
        """Raises Unauthenticated, InvalidArgument, PermissionDenied, and NotFound for a provider that is not there."""
        session = await proved(self._sessions, tenant, browser)
        if not (departure.authorization_id and departure.proof_of_work):
            raise InvalidArgument("expected the request of a page, and a proof of work")
        await self._proof_of_work.spend(tenant, departure.proof_of_work)
        reference = Reference(authorization_id=departure.authorization_id, parameters=Parameters(()))
        _, request = await self._asked.find(tenant, session, reference)
        provider = await self._providers.find(tenant, departure.provider_id)
        if provider is None or not provider.signs_people_in:
            raise NotFound("there is no such provider")
        if provider.fields.saml is not None:
            return await self._depart_for_saml(tenant, session, provider, request=request)
        address = login_hint(departure.address) or request.login_hint
        hints = await self._hints.of(tenant, provider, address)
        return await self._depart(tenant, session, provider, request=request, hints=hints)

    async def _depart(
        self,
        tenant: Tenant,
        session: Session,
        provider: Provider,
        *,
        request: AuthorizationRequest,
        hints: tuple[tuple[str, str], ...],
    ) -> Redirection:
        nonce, verifier = (self._randomness.alphanumeric(_SECRET_LENGTH) for _ in range(2))
        state = await self._begun(session, provider, request=request, nonce=nonce, code_verifier=verifier)
        parameters = (
            ("response_type", "code"),
            ("client_id", provider.fields.client_id),
            ("redirect_uri", callback_of(tenant, provider)),
            ("scope", " ".join(provider.fields.oauth_scopes)),
            ("state", state),
            ("nonce", nonce),
            ("code_challenge", _challenge(verifier)),
            ("code_challenge_method", "S256"),
            *((("prompt", "login"),) if Prompt.LOGIN in request.prompts else ()),
            *hints,
        )
        return Redirection(provider.fields.authorization_endpoint, ResponseMode.QUERY, parameters)

    async def _depart_for_saml(
        self, tenant: Tenant, session: Session, provider: Provider, *, request: AuthorizationRequest
    ) -> Redirection:
        # An XML id does not begin with a digit.
        request_id = f"_{self._randomness.alphanumeric(_SECRET_LENGTH)}"
        state = await self._begun(session, provider, request=request, nonce=request_id)
        asked = AuthenticationRequest(
            id=request_id,
            at=self._clock.now(),
            relay_state=state,
            forces_authentication=Prompt.LOGIN in request.prompts,
        )
        return self._service_provider.request(tenant, provider, asked)

    async def _begun(
        self,
        session: Session,
        provider: Provider,
        *,
        request: AuthorizationRequest,
        nonce: str,
        code_verifier: str = "",
    ) -> str:
        """Store the pending sign-in and return its state."""
        state = self._randomness.alphanumeric(_SECRET_LENGTH)
        await self._logins.insert(
            UpstreamLogin(
                tenant_id=provider.tenant_id,
                id=self._hasher.hash(state).hex(),
                expires_at=self._clock.now() + LIFETIME,
                provider_id=provider.id,
                session_id=session.id,
                request=request,
                nonce=nonce,
                code_verifier=code_verifier,
            )
        )
        return state


def _challenge(verifier: str) -> str:
    digest = hashlib.sha256(verifier.encode()).digest()
    return base64.urlsafe_b64encode(digest).rstrip(b"=").decode()
