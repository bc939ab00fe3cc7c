"""Requests of clients to a user who is elsewhere: OpenID Connect Client-Initiated Backchannel Authentication Core 1.0."""

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from identity.access.polled_request import PolledRequest
from identity.access.sessions.session import Authentication
from identity.crypto.keys.master_keys import Sealed
from identity.directory.authorization_details.details import Details
from identity.directory.client import ClientId
from identity.directory.user import UserId
from server.platform.records import Kind, Owner


class BackchannelState(StrEnum):
    PENDING = "pending"
    ACCEPTED = "accepted"
    DECLINED = "declined"


@dataclass(frozen=True, slots=True, kw_only=True)
class BackchannelRequest(PolledRequest):
    """`id` is a keyed hash of the `auth_req_id`. `user_id` is empty when the client named an unknown user.

    `notification` is what the client is notified with, encrypted. The request counts until `counted_until` among those
    that wait for the user. `pair` identifies the client and the user who accepted, once there is one.
    """

    client_id: ClientId
    user_id: UserId
    oauth_scopes: tuple[str, ...]
    binding_message: str
    acr_values: tuple[str, ...]
    started_at: datetime
    counted_until: datetime
    state: BackchannelState = BackchannelState.PENDING
    authentication: Authentication | None = None
    pair: str = ""
    notification: Sealed | None = field(default=None, repr=False)
    authorization_details: Details = ()

    def waits(self, now: datetime) -> bool:
        return self.state is BackchannelState.PENDING and now < self.redeemable_until


BACKCHANNEL_REQUESTS = Kind(
    BackchannelRequest,
    "backchannel_request",
    indexed=("user_id", "pair"),
    owners=(
        Owner("user", "user_id"),
        Owner("client", "client_id"),
    ),
)
