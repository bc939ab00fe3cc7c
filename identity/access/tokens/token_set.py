"""Tokens of one grant: a family of refresh tokens and their access tokens."""

from dataclasses import dataclass
from datetime import datetime

from identity.access.sessions.session import Authentication
from identity.directory.authorization_details.details import Details
from identity.directory.client import Client, ClientId
from server.platform.records import Kind, Owner, Record


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenSet(Record):
    """`refresh_token_hash` is the keyed hash of the present refresh token, empty when there is none.

    The previous token is valid until `previous_until`, for a client that did not get the response. A later use counts
    as theft, and the whole set is revoked. Access tokens name their set, so that they end with it. Each use extends the
    set, at most until `ends_at`. `sid` is empty when the set outlives its session, and `device_id` when it belongs to
    no device. `begun_at` is the time when it began; sets that the previous version created have none.
    """

    client_id: ClientId
    authentication: Authentication
    oauth_scopes: tuple[str, ...]
    user_id: str
    ends_at: datetime
    sid: str = ""
    device_id: str = ""
    resources: tuple[str, ...] = ()
    claims: str = ""
    dpop_jkt: str = ""
    refresh_token_hash: str = ""
    previous_refresh_token_hash: str = ""
    previous_until: datetime | None = None
    authorization_details: Details = ()
    begun_at: datetime | None = None

    def is_refused_to(self, client: Client) -> bool:
        """Whether it began before the `not_before` of its client."""
        return client.not_before is not None and (self.begun_at or self.authentication.at) < client.not_before


TOKEN_SETS = Kind(
    TokenSet,
    "token_set",
    indexed=("user_id", "sid", "device_id", "client_id"),
    owners=(
        Owner("user", "user_id"),
        Owner("client", "client_id"),
        Owner("device", "device_id"),
    ),
)
