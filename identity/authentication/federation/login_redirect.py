"""Redirects the browser of a user who signs in to an upstream provider."""

from dataclasses import dataclass, field

from identity.access.proof_of_work.proof_of_work import ProofOfWork
from identity.access.sessions.browser import Browser
from identity.access.sessions.sessions import Sessions, proved
from identity.authentication.authorization.asked import AskedRequests, Reference
from identity.authentication.federation.hints import Hints
from identity.authentication.federation.login import LIFETIME, UpstreamLogin
from identity.authentication.federation.requests import UpstreamRequests
from identity.authentication.requests.login_hint import login_hint
from identity.authentication.requests.parameters import Parameters
from identity.authentication.requests.redirection import Redirection
from identity.authentication.requests.request import Prompt
from identity.directory.providers import Providers
from identity.directory.secrets import SecretHasher
from identity.foundation.tenants import Tenant
from server.platform.clock import Clock
from server.platform.errors import InvalidArgument, NotFound
from server.platform.records import Records


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
        requests: UpstreamRequests,
        hasher: SecretHasher,
        clock: Clock,
    ) -> None:
        self._sessions = sessions
        self._proof_of_work = proof_of_work
        self._asked = asked
        self._providers = providers
        self._hints = hints
        self._logins = logins
        self._requests = requests
        self._hasher = hasher
        self._clock = clock

    async def leave(self, tenant: Tenant, browser: Browser, departure: Departure) -> Redirection:
        """Raises Unauthenticated, InvalidArgument, PermissionDenied, and NotFound for an unknown provider."""
        session = await proved(self._sessions, tenant, browser)
        if not (departure.authorization_id and departure.proof_of_work):
            raise InvalidArgument("expected the request of a page, and a proof of work")
        await self._proof_of_work.spend(tenant, departure.proof_of_work)
        reference = Reference(authorization_id=departure.authorization_id, parameters=Parameters(()))
        _, request = await self._asked.find(tenant, session, reference)
        provider = await self._providers.find(tenant, departure.provider_id)
        if provider is None or not provider.signs_people_in:
            raise NotFound("there is no such provider")
        is_saml = provider.fields.saml is not None
        address = login_hint(departure.address) or request.login_hint
        secrets = self._requests.secrets(provider)
        await self._logins.insert(
            UpstreamLogin(
                tenant_id=provider.tenant_id,
                id=self._hasher.hash(secrets.state).hex(),
                expires_at=self._clock.now() + LIFETIME,
                provider_id=provider.id,
                session_id=session.id,
                request=request,
                nonce=secrets.nonce,
                code_verifier=secrets.code_verifier,
            )
        )
        return self._requests.redirection(
            tenant,
            provider,
            secrets,
            forces_authentication=Prompt.LOGIN in request.prompts,
            hints=() if is_saml else await self._hints.of(tenant, provider, address),
        )
