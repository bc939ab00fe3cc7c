"""Check of the tenant's terms of use between sign-in and consent.

Every way to sign in passes this check, so that none can bypass it.
"""

from dataclasses import replace
from typing import Protocol

from identity.access.sessions.session import Session
from identity.authentication.authorization.conclusion import Conclusion
from identity.authentication.authorization.consent import ConsentGate, ConsentQuestion
from identity.authentication.authorization.pending_requests import PendingRequests
from identity.authentication.requests.redirection import Redirection
from identity.authentication.requests.request import AuthorizationRequest, ResponseMode
from identity.directory.client import Client
from identity.directory.terms_of_use.terms_of_use import OutstandingTerms
from identity.directory.user import User
from identity.foundation.errors import InteractionRequired
from identity.foundation.tenants import Tenant


class TermsToAccept(Protocol):
    async def outstanding(self, tenant: Tenant, user: User) -> OutstandingTerms | None: ...


class TermsGate:
    def __init__(
        self,
        terms: TermsToAccept,
        consent_gate: ConsentGate,
        *,
        pending: PendingRequests,
        conclusion: Conclusion,
    ) -> None:
        self._terms = terms
        self._consent_gate = consent_gate
        self._pending = pending
        self._conclusion = conclusion

    async def is_closed(self, tenant: Tenant, user: User) -> bool:
        """Whether the user has to accept terms before being signed in."""
        outstanding = await self._terms.outstanding(tenant, user)
        return outstanding is not None and not outstanding.may_wait

    async def pass_silently(
        self, tenant: Tenant, client: Client, request: AuthorizationRequest, *, user: User, session: Session
    ) -> Redirection:
        """Continue to the consent check, or return `interaction_required` where the user has to accept terms."""
        if await self.is_closed(tenant, user):
            missing = InteractionRequired("the user has not accepted the terms of use")
            return await self._conclusion.refuse(tenant, client, request, missing)
        return await self._consent_gate.pass_silently(tenant, client, request, session=session)

    async def pass_or_ask(
        self, tenant: Tenant, client: Client, request: AuthorizationRequest, *, user: User, session: Session
    ) -> Redirection | ConsentQuestion:
        """Continue to the consent check, or redirect to the page with the terms.

        A support person who acts as the user answers no question.
        """
        if session.is_impersonated:
            return await self.pass_silently(tenant, client, request, user=user, session=session)
        outstanding = await self._terms.outstanding(tenant, user)
        if outstanding is None or _is_postponed(outstanding, session):
            return await self._consent_gate.pass_or_ask(tenant, client, request, user=user, session=session)
        # As for consent: the user has signed in as the request requires, and the sign-in used up a pushed request.
        asked = replace(request, requires_sign_in=False, acr_values=(), pushed_id="")
        return terms_page(tenant, await self._pending.keep(asked, session))


def terms_page(tenant: Tenant, authorization_id: str) -> Redirection:
    """Return the redirect to the page with the terms."""
    parameters = (("authorization_id", authorization_id),)
    return Redirection(f"{tenant.issuer}oidc/authorize/terms", ResponseMode.QUERY, parameters)


def _is_postponed(outstanding: OutstandingTerms, session: Session) -> bool:
    return outstanding.may_wait and session.postponed_terms == outstanding.version.id
