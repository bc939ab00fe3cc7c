"""An authorization code: RFC 6749 §4.1.2."""

from dataclasses import dataclass

from identity.access.sessions.session import Authentication
from identity.directory.authorization_details.details import Details
from identity.directory.client import ClientId
from server.platform.records import Kind, Owner, Record


@dataclass(frozen=True, slots=True, kw_only=True)
class AuthorizationCode(Record):
    """`id` is a keyed hash of the code. The record holds the parameters of its authorization request.

    A redeemed code names its token set and is kept for a while, so that a replay revokes the set. The code may be
    redeemed until `redeemable_until`, in Unix seconds, and is kept until it expires. `pair` names the user and the
    client.
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
    authorization_details: Details = ()


AUTHORIZATION_CODES = Kind(
    AuthorizationCode,
    "authorization_code",
    indexed=("pair",),
    owners=(
        Owner("client", "client_id"),
        Owner("user", "authentication.user_id"),
    ),
    outlives=("token_set_id",),
)
