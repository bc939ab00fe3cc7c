"""The redirect URI of upstream providers: OpenID Connect Core 1.0 §3.1.2.5, RFC 9207 §2.4, RFC 9700 §4.4.

It is the assertion consumer service of SAML providers, too: SAML 2.0 Bindings §3.5.

A response is accepted once, in the browser that was sent to the provider, and from that provider only.
"""

from dataclasses import dataclass, replace
from typing import Protocol

from identity.access.sessions.browser import Browser
from identity.access.sessions.session import Session, UpstreamAuthentication
from identity.access.sessions.sessions import Sessions
from identity.authentication.authorization.asked import AskedRequests
from identity.authentication.authorization.session_check import refusal_of
from identity.authentication.authorization.sign_in import Proof, SignedIn, SignInFlow
from identity.authentication.authorization.steps import SecondFactor, SecondFactors
from identity.authentication.federation.accounts import UpstreamAccounts
from identity.authentication.federation.claims import UpstreamPerson, authentication_of
from identity.authentication.federation.login import LIFETIME, UpstreamLogin
from identity.authentication.federation.pending_link import PendingLink
from identity.authentication.federation.people import UpstreamPeople
from identity.authentication.requests.parameters import Parameters
from identity.authentication.requests.request import Prompt
from identity.authentication.saml.arrival import SamlArrivals
from identity.directory.client import Client
from identity.directory.provider import Provider
from identity.directory.providers import Providers
from identity.directory.secrets import SecretHasher
from identity.foundation.errors import AccessDenied, InteractionRequired, ProtocolError
from identity.foundation.tenants import Tenant
from server.platform.errors import Unauthenticated
from server.platform.records import Records


class Clients(Protocol):
    async def find(self, tenant: Tenant, client_id: str) -> Client | None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class StepUpRequest:
    """The client requires a second factor that the provider did not report, and the user has one here.

    `session` is the browser's session.
    """

    follows: SecondFactor
    session: Session


class UpstreamCallback:
    def __init__(
        self,
        sessions: Sessions,
        logins: Records[UpstreamLogin],
        *,
        links: Records[PendingLink],
        hasher: SecretHasher,
        asked: AskedRequests,
        clients: Clients,
        providers: Providers,
        people: UpstreamPeople,
        saml_arrivals: SamlArrivals,
        accounts: UpstreamAccounts,
        sign_in_flow: SignInFlow,
        second_factors: SecondFactors,
    ) -> None:
        self._sessions = sessions
        self._logins = logins
        self._links = links
        self._hasher = hasher
        self._asked = asked
        self._clients = clients
        self._providers = providers
        self._people = people
        self._saml_arrivals = saml_arrivals
        self._accounts = accounts
        self._sign_in_flow = sign_in_flow
        self._second_factors = second_factors

    async def arrive(
        self, tenant: Tenant, browser: Browser, provider_id: str, parameters: Parameters
    ) -> SignedIn | StepUpRequest:
        """Raises Unauthenticated for an invalid response; an error of the provider goes to the relying party."""
        if parameters.are_malformed:
            raise Unauthenticated("a parameter is repeated or contains NUL")
        before, login = await self._login(tenant, browser, provider_id, parameters.one("state"))
        provider, client = await self._parties(tenant, login)
        try:
            person = await self._person(tenant, provider, login, parameters)
            user = await self._accounts.of(tenant, provider, person)
        except AccessDenied as refusal:
            return await self._sent_back(tenant, client, login, refusal)
        proof = _proof(provider, person)
        refusal_of_client = refusal_of(client, user, proof.amr)
        if isinstance(refusal_of_client, InteractionRequired):
            follows = await self._second_factors.after(tenant, before, login.request, user, first=proof)
            if follows is not None:
                return StepUpRequest(follows=replace(follows, client=client), session=before)
        if refusal_of_client is not None:
            return await self._sent_back(tenant, client, login, refusal_of_client)
        await self._asked.take(tenant, login.request)
        return await self._sign_in_flow.conclude(
            tenant,
            browser,
            before,
            client=client,
            request=login.request,
            user=user,
            proof=proof,
        )

    async def keep(self, tenant: Tenant, provider_id: str, *, relay_state: str, message: str) -> None:
        """Keep the response of a SAML provider until the browser arrives; raises Unauthenticated."""
        pending = await self._pending(tenant, relay_state)
        provider = await self._providers.find(tenant, provider_id)
        is_pending = pending is not None and pending.provider_id == provider_id
        if pending is None or not is_pending or provider is None or provider.fields.saml is None:
            raise Unauthenticated("no sign-in at the provider is pending")
        await self._saml_arrivals.keep(tenant, pending.id, message, until=pending.expires_at)

    async def _pending(self, tenant: Tenant, state: str) -> UpstreamLogin | PendingLink | None:
        if not state:
            return None
        pending_id = self._login_id(state)
        login = await self._logins.get(tenant.tenant_id, pending_id)
        return login or await self._links.get(tenant.tenant_id, pending_id)

    def _login_id(self, state: str) -> str:
        return self._hasher.hash(state).hex()

    async def _login(
        self, tenant: Tenant, browser: Browser, provider_id: str, state: str
    ) -> tuple[Session, UpstreamLogin]:
        session = await self._sessions.find(tenant, browser.cookie, browser.peer_address)
        login_id = self._login_id(state)
        login = await self._logins.get(tenant.tenant_id, login_id) if state else None
        is_own = session is not None and login is not None and login.session_id == session.id
        if session is None or login is None or not is_own or login.provider_id != provider_id:
            raise Unauthenticated("no sign-in at the provider is pending in this browser")
        if await self._logins.take(tenant.tenant_id, login_id) is None:
            raise Unauthenticated("the response was used before")
        return session, login

    async def _parties(self, tenant: Tenant, login: UpstreamLogin) -> tuple[Provider, Client]:
        provider = await self._providers.find(tenant, login.provider_id)
        client = await self._clients.find(tenant, login.request.client_id)
        if provider is None or not provider.signs_people_in or client is None or not client.is_enabled:
            raise Unauthenticated("the provider or the client was removed or disabled")
        return provider, client

    async def _person(
        self, tenant: Tenant, provider: Provider, login: UpstreamLogin, parameters: Parameters
    ) -> UpstreamPerson:
        asked_at = None if login.expires_at is None else login.expires_at - LIFETIME
        not_before = asked_at if Prompt.LOGIN in login.request.prompts else None
        return await self._people.of(tenant, provider, login, parameters, not_before=not_before)

    async def _sent_back(
        self, tenant: Tenant, client: Client, login: UpstreamLogin, refusal: ProtocolError
    ) -> SignedIn:
        await self._asked.take(tenant, login.request)
        conclusion = self._sign_in_flow.conclusion
        return SignedIn(outcome=await conclusion.refuse(tenant, client, login.request, refusal))


def _proof(provider: Provider, person: UpstreamPerson) -> Proof:
    vouching = UpstreamAuthentication(provider_id=provider.id, sub=person.sub, sid=person.sid)
    amr, acr = authentication_of(person)
    return Proof(amr=amr, acr=acr, vouching=vouching)
