"""An authorization code: RFC 6749 §4.1.2."""

from dataclasses import dataclass

from identity.clients.client import ClientId
from identity.sessions.session import Authentication
from server.platform.records import Kind, Record


@dataclass(frozen=True, slots=True, kw_only=True)
class AuthorizationCode(Record):
    """`id` is a keyed hash of the code, bound to everything that its request was.

    Redeemed, it names the token set that came of it and stays a while, so that a replay takes that back. It may be
    redeemed until `redeemable_until`, in Unix seconds, and is kept until it expires. `pair` names the person and the client.
    """

    client_id: ClientId
    redirect_uri: str
    redeemable_until: int
    authentication: Authentication
    oauth_scopes: tuple[str, ...]
    nonce: str = ""
    code_challenge: str = ""
    resources: tuple[str, ...] = ()
    claims: str = ""
    dpop_jkt: str = ""
    token_set_id: str = ""
    pair: str = ""


AUTHORIZATION_CODES = Kind(AuthorizationCode, "authorization_code", indexed=("pair",))
