"""Stored logout requests that wait for the user, and queued logout tokens."""

from dataclasses import dataclass

from identity.delivery.retry_queue import QueuedTask
from server.platform.records import Kind, Record


@dataclass(frozen=True, slots=True, kw_only=True)
class LogoutRequest(Record):
    """A logout request that waits for the user's answer, in the session that it would end.

    `redirect_uri` is registered, or empty; so is `screen_client_id`, the client whose screens are shown.
    """

    session_id: str = ""
    client_id: str = ""
    redirect_uri: str = ""
    state: str | None = None
    screen_client_id: str = ""


LOGOUT_REQUESTS = Kind(
    LogoutRequest,
    "logout_request",
    owners=(),
    outlives=(
        "session_id",
        "client_id",
        "screen_client_id",
    ),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class BackChannelLogout(QueuedTask):
    """A queued logout token, made when it is sent: OpenID Connect Back-Channel Logout 1.0 §2.5."""

    client_id: str
    user_id: str
    sid: str


BACK_CHANNEL_LOGOUTS = Kind(
    BackChannelLogout,
    "back_channel_logout",
    indexed=("due",),
    scheduled="next_at",
    owners=(),
    outlives=(
        "client_id",
        "user_id",
    ),
)
