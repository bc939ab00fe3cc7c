"""Requests to upstream providers with PKCE, state and nonce: RFC 9700 §2.1.

A SAML provider gets a request with an id in place of the nonce, and the state as relay state.
"""

import base64
import hashlib
from dataclasses import dataclass, field

from identity.authentication.requests.redirection import Redirection
from identity.authentication.requests.request import ResponseMode
from identity.authentication.saml.service_provider import (
    AuthenticationRequest,
    ServiceProvider,
    callback_of,
)
from identity.directory.provider import Provider
from identity.foundation.randomness import Randomness
from identity.foundation.tenants import Tenant
from server.platform.clock import Clock

_SECRET_LENGTH = 43


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestSecrets:
    """Values of one request; a SAML request has no `code_verifier`, and its id as `nonce`."""

    state: str = field(repr=False)
    nonce: str = field(repr=False)
    code_verifier: str = field(default="", repr=False)


class UpstreamRequests:
    def __init__(self, service_provider: ServiceProvider, *, clock: Clock, randomness: Randomness) -> None:
        self._service_provider = service_provider
        self._clock = clock
        self._randomness = randomness

    def secrets(self, provider: Provider) -> RequestSecrets:
        """Return new values; the caller stores them before the browser leaves."""
        state, nonce, verifier = (self._randomness.alphanumeric(_SECRET_LENGTH) for _ in range(3))
        if provider.fields.saml is not None:
            # An XML id does not begin with a digit.
            return RequestSecrets(state=state, nonce=f"_{nonce}")
        return RequestSecrets(state=state, nonce=nonce, code_verifier=verifier)

    def redirection(
        self,
        tenant: Tenant,
        provider: Provider,
        secrets: RequestSecrets,
        *,
        forces_authentication: bool,
        hints: tuple[tuple[str, str], ...] = (),
    ) -> Redirection:
        """Return the redirect, or the form, that takes the browser to the provider; SAML has no hints."""
        if provider.fields.saml is not None:
            asked = AuthenticationRequest(
                id=secrets.nonce,
                at=self._clock.now(),
                relay_state=secrets.state,
                forces_authentication=forces_authentication,
            )
            return self._service_provider.request(tenant, provider, asked)
        parameters = (
            ("response_type", "code"),
            ("client_id", provider.fields.client_id),
            ("redirect_uri", callback_of(tenant, provider)),
            ("scope", " ".join(provider.fields.oauth_scopes)),
            ("state", secrets.state),
            ("nonce", secrets.nonce),
            ("code_challenge", _challenge(secrets.code_verifier)),
            ("code_challenge_method", "S256"),
            *((("response_mode", "form_post"),) if provider.fields.posts_response else ()),
            *((("prompt", "login"),) if forces_authentication else ()),
            *hints,
        )
        return Redirection(provider.fields.authorization_endpoint, ResponseMode.QUERY, parameters)


def _challenge(verifier: str) -> str:
    digest = hashlib.sha256(verifier.encode()).digest()
    return base64.urlsafe_b64encode(digest).rstrip(b"=").decode()
