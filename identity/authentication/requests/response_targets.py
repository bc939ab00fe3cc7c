"""Targets of the responses to authorization requests, plain or signed.

Signed responses are those of JWT Secured Authorization Response Mode for OAuth 2.0 (JARM).
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta

import msgspec

from identity.access.tokens.encryptions import ResponseEncryptions
from identity.access.tokens.keys import KeyRing
from identity.authentication.requests.parameters import Parameters
from identity.authentication.requests.redirect_uris import is_registered
from identity.authentication.requests.redirection import MAX_STATE, ResponseTarget, Signer
from identity.authentication.requests.request import (
    AuthorizationRequest,
    ResponseMode,
    SignedResponseMode,
    signed_mode_of,
)
from identity.crypto.jose.encryption import Encryption
from identity.crypto.jose.signing_key import SigningKey
from identity.directory.client import Client
from identity.foundation.tenants import Tenant
from server.platform.clock import Clock

# JARM §2.1: at most ten minutes.
_LIFETIME = timedelta(minutes=5)


@dataclass(frozen=True, slots=True, kw_only=True)
class ResponseSigner:
    """Signs the parameters of one response and encrypts them, if the client wants that: JARM §2.1, §2.2."""

    client_id: str
    signing_key: SigningKey = field(repr=False)
    encryption: Encryption | None
    now: datetime

    def __call__(self, parameters: Mapping[str, str]) -> str:
        claims = {**parameters, "aud": self.client_id, "exp": int((self.now + _LIFETIME).timestamp())}
        signed = self.signing_key.sign(msgspec.json.encode(claims))
        return signed if self.encryption is None else self.encryption.of_jwt(signed)


class ResponseTargets:
    def __init__(self, keys: KeyRing, encryptions: ResponseEncryptions, clock: Clock) -> None:
        self._keys = keys
        self._encryptions = encryptions
        self._clock = clock

    async def of(self, tenant: Tenant, client: Client, request: AuthorizationRequest) -> ResponseTarget:
        """Return the target of a valid request; raises Unavailable while a signing key is being made, or without a key of the client."""
        signed_mode = request.signed_response_mode
        return ResponseTarget(
            issuer=tenant.issuer,
            uri=request.redirect_uri,
            response_mode=request.response_mode if signed_mode is None else signed_mode.unsigned,
            state=request.state,
            signer=None if signed_mode is None else await self._signer(tenant, client),
        )

    async def of_refused(
        self, tenant: Tenant, client: Client, parameters: Parameters
    ) -> ResponseTarget | None:
        """Return the target of an invalid request; None when the redirect URI is invalid."""
        uri, state = parameters.one("redirect_uri"), parameters.one("state")
        if not is_registered(uri, client.redirect_uris):
            return None
        mode = parameters.one("response_mode")
        signed_mode = signed_mode_of(mode)
        is_posted = mode == ResponseMode.FORM_POST
        if signed_mode is None and client.signs_messages:
            signed_mode = SignedResponseMode.FORM_POST if is_posted else SignedResponseMode.QUERY
        plain_mode = ResponseMode.FORM_POST if is_posted else ResponseMode.QUERY
        return ResponseTarget(
            issuer=tenant.issuer,
            uri=uri,
            response_mode=plain_mode if signed_mode is None else signed_mode.unsigned,
            state=state if 0 < len(state) <= MAX_STATE else None,
            signer=None if signed_mode is None else await self._signer(tenant, client),
        )

    async def _signer(self, tenant: Tenant, client: Client) -> Signer:
        keys = await self._keys.key_set(tenant.tenant_id)
        return ResponseSigner(
            client_id=client.client_id,
            signing_key=keys.signing_key(client.authorization_signed_response_alg),
            encryption=await self._encryptions.of_authorization(client),
            now=self._clock.now(),
        )
