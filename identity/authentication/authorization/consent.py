"""Consent check between sign-in and authorization code.

Every way to sign in passes this check, so that none can bypass it.
"""

from dataclasses import dataclass, replace
from typing import Protocol

from identity.access.sessions.session import Session
from identity.access.tokens.claims import PERSON_CLAIMS
from identity.authentication.authorization.conclusion import Conclusion
from identity.authentication.authorization.pending_requests import PendingRequests
from identity.authentication.requests.claims_parameter import parse
from identity.authentication.requests.redirection import Redirection
from identity.authentication.requests.request import AuthorizationRequest, Prompt
from identity.directory.client import Client, ClientId
from identity.directory.consents.consent import Consent, Terms
from identity.directory.user import User, UserId
from identity.foundation.errors import ConsentRequired
from identity.foundation.tenants import Tenant
from identity.foundation.vocabulary import ConsentMode


class Consents(Protocol):
    async def find(self, tenant: Tenant, user_id: UserId, client_id: ClientId) -> Consent | None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsentQuestion:
    """A consent request that the user has to answer before the client gets a code."""

    authorization_id: str
    client: Client
    request: AuthorizationRequest
    user: User
    session: Session


class ConsentGate:
    def __init__(self, consents: Consents, pending: PendingRequests, conclusion: Conclusion) -> None:
        self._consents = consents
        self._pending = pending
        self._conclusion = conclusion

    async def pass_silently(
        self, tenant: Tenant, client: Client, request: AuthorizationRequest, *, session: Session
    ) -> Redirection:
        """Issue a code, or return `consent_required` where a page would have to ask."""
        if await self._is_asked(tenant, client, request, session=session):
            missing = ConsentRequired("the user has not consented to this request")
            return await self._conclusion.refuse(tenant, client, request, missing)
        return await self._conclusion.grant(tenant, client, request, session=session)

    async def pass_or_ask(
        self, tenant: Tenant, client: Client, request: AuthorizationRequest, *, user: User, session: Session
    ) -> Redirection | ConsentQuestion:
        if not await self._is_asked(tenant, client, request, session=session):
            return await self._conclusion.grant(tenant, client, request, session=session)
        # The user has already signed in as the request requires, so the answer needs no further sign-in. The sign-in
        # used up a pushed request.
        asked = replace(request, requires_sign_in=False, acr_values=(), pushed_id="")
        authorization_id = await self._pending.keep(asked, session)
        return ConsentQuestion(
            authorization_id=authorization_id, client=client, request=asked, user=user, session=session
        )

    async def _is_asked(
        self, tenant: Tenant, client: Client, request: AuthorizationRequest, *, session: Session
    ) -> bool:
        """OpenID Connect Core 1.0 §3.1.2.4. Authorization details are asked for even if the client's scopes are not."""
        if Prompt.CONSENT in request.prompts or client.consent is ConsentMode.ALWAYS:
            return True
        if client.consent is ConsentMode.NEVER and not request.authorization_details:
            return False
        given = await self._consents.find(tenant, UserId(session.user_id), client.client_id)
        return given is None or not given.terms.cover(terms_of(request))


def terms_of(request: AuthorizationRequest) -> Terms:
    """Leave out unknown claims, and claims that a granted scope opens anyway."""
    asked = parse(request.claims or "{}")
    named = {*(asked.userinfo or ()), *(asked.id_token or ())}
    closed = (rule for rule in PERSON_CLAIMS if rule.scope and rule.scope not in request.oauth_scopes)
    return Terms(
        oauth_scopes=request.oauth_scopes,
        resources=request.resources,
        claims=tuple(rule.name for rule in closed if rule.name in named),
        authorization_details=request.authorization_details,
    )
