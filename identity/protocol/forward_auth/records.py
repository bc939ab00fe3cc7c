"""Stored sign-ins and sessions of services behind a proxy."""

from dataclasses import dataclass, field

from identity.directory.client import ClientId
from server.platform.records import Kind, Owner, Record


@dataclass(frozen=True, slots=True, kw_only=True)
class ForwardRequest(Record):
    """`id` is a keyed hash of the state; `browser_hash` is one of the cookie of the redirected browser.

    `return_to` is the address that the browser requested from the service.
    """

    client_id: ClientId
    browser_hash: str
    redirect_uri: str
    return_to: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ForwardSession(Record):
    """`id` is a keyed hash of the cookie's value. The session ends with its token set and with the sign-in session.

    `csrf_token` is a keyed hash of the token.
    """

    client_id: ClientId
    token_set_id: str
    csrf_token: str = field(repr=False)


FORWARD_REQUESTS = Kind(ForwardRequest, "forward_request", owners=(Owner("client", "client_id"),))
FORWARD_SESSIONS = Kind(
    ForwardSession, "forward_session", owners=(Owner("client", "client_id"),), outlives=("token_set_id",)
)
