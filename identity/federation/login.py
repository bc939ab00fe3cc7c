"""A person who is at an upstream provider, and whom that is to say back."""

from dataclasses import dataclass, field
from datetime import timedelta

from identity.authorization.request import AuthorizationRequest
from server.platform.records import Kind, Record

LIFETIME = timedelta(minutes=5)


@dataclass(frozen=True, slots=True, kw_only=True)
class UpstreamLogin(Record):
    """`id` is a keyed hash of the `state` that the provider gives back; `session_id` is the browser's that left.

    `request` is what the person goes on with afterwards.
    """

    provider_id: str
    session_id: str
    request: AuthorizationRequest
    nonce: str = field(repr=False)
    code_verifier: str = field(repr=False)


UPSTREAM_LOGINS = Kind(UpstreamLogin, "upstream_login")
