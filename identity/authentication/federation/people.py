"""Reads the response of an upstream provider: the user whom it signed in.

OpenID Connect Core 1.0 §3.1.2.5, SAML 2.0 Core §3.4.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Protocol

from identity.authentication.federation.claims import UpstreamPerson, person_of
from identity.authentication.federation.id_token import UpstreamIdTokens
from identity.authentication.federation.tokens import UpstreamTokens
from identity.authentication.federation.userinfo import with_booleans
from identity.authentication.requests.parameters import Parameters
from identity.authentication.saml.arrival import SamlArrivals
from identity.authentication.saml.service_provider import callback_of
from identity.authentication.saml.sign_in import SamlResponses
from identity.directory.provider import Provider
from identity.foundation.errors import AccessDenied, InvalidToken
from identity.foundation.tenants import Tenant
from server.platform.errors import Unauthenticated


class Pending(Protocol):
    """A request to the provider that has no response yet."""

    @property
    def id(self) -> str: ...
    @property
    def nonce(self) -> str: ...
    @property
    def code_verifier(self) -> str: ...


class UpstreamPeople:
    def __init__(
        self,
        tokens: UpstreamTokens,
        id_tokens: UpstreamIdTokens,
        *,
        saml_arrivals: SamlArrivals,
        saml_responses: SamlResponses,
    ) -> None:
        self._tokens = tokens
        self._id_tokens = id_tokens
        self._saml_arrivals = saml_arrivals
        self._saml_responses = saml_responses

    async def of(
        self,
        tenant: Tenant,
        provider: Provider,
        pending: Pending,
        parameters: Parameters,
        *,
        not_before: datetime | None,
    ) -> UpstreamPerson:
        """Return the user; with `not_before`, the user of a SAML provider signed in since then.

        Raises Unauthenticated for an invalid response, AccessDenied when the provider signed nobody in.
        """
        if provider.fields.saml is not None:
            claims = await self._saml_claims(tenant, provider, pending, not_before)
            return person_of(claims, provider.fields)
        if parameters.one("iss") not in {"", provider.fields.issuer}:
            raise Unauthenticated("the response comes from another provider")
        code = parameters.one("code")
        if parameters.one("error") or not code:
            raise AccessDenied("the provider did not sign the user in")
        redirect_uri = callback_of(tenant, provider)
        tokens = await self._tokens.redeem(
            provider, code=code, code_verifier=pending.code_verifier, redirect_uri=redirect_uri
        )
        if provider.fields.profile is not None:
            claims = await self._tokens.profile(provider, provider.fields.profile, tokens)
            return person_of(claims, provider.fields)
        try:
            claims = await self._id_tokens.verified(
                provider, tokens.id_token, nonce=pending.nonce, access_token=tokens.access_token
            )
        except InvalidToken as refusal:
            raise Unauthenticated(refusal.detail) from refusal
        if "email" not in claims:
            claims = {**await self._tokens.person(provider, tokens, claims["sub"]), **claims}
        if provider.fields.has_text_booleans:
            claims = with_booleans(claims)
        return person_of(claims, provider.fields)

    async def _saml_claims(
        self, tenant: Tenant, provider: Provider, pending: Pending, not_before: datetime | None
    ) -> Mapping[str, object]:
        message = await self._saml_arrivals.take(tenant, pending.id)
        return await self._saml_responses.claims(
            tenant, provider, message, request_id=pending.nonce, not_before=not_before
        )
