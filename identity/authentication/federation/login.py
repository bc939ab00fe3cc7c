"""A pending sign-in at an upstream provider."""

from dataclasses import dataclass, field
from datetime import timedelta

from identity.authentication.requests.request import AuthorizationRequest
from server.platform.records import Kind, Owner, Record

LIFETIME = timedelta(minutes=5)


@dataclass(frozen=True, slots=True, kw_only=True)
class UpstreamLogin(Record):
    """`id` is a keyed hash of `state`; `session_id` is the session of the browser that was redirected.

    `request` is the authorization request that continues afterwards. For a SAML provider `nonce` is the id of our
    request to it.
    """

    provider_id: str
    session_id: str
    request: AuthorizationRequest
    nonce: str = field(repr=False)
    code_verifier: str = field(default="", repr=False)


UPSTREAM_LOGINS = Kind(
    UpstreamLogin, "upstream_login", owners=(Owner("provider", "provider_id"),), outlives=("session_id",)
)
