"""Records of logout: open questions to people, and logout tokens that relying parties have yet to take."""

from dataclasses import dataclass

from identity.retry_queue import QueuedTask
from server.platform.records import Kind, Record


@dataclass(frozen=True, slots=True, kw_only=True)
class LogoutRequest(Record):
    """A logout request whose person is being asked, in the session that it would end.

    `redirect_uri` is registered, or empty; so is `screen_client_id`, the client whose screens the person sees.
    """

    session_id: str = ""
    client_id: str = ""
    redirect_uri: str = ""
    state: str | None = None
    screen_client_id: str = ""


LOGOUT_REQUESTS = Kind(LogoutRequest, "logout_request")


@dataclass(frozen=True, slots=True, kw_only=True)
class BackChannelLogout(QueuedTask):
    """A logout token that is to be delivered: OpenID Connect Back-Channel Logout 1.0 §2.5; it is made when it is sent."""

    client_id: str
    user_id: str
    sid: str


BACK_CHANNEL_LOGOUTS = Kind(BackChannelLogout, "back_channel_logout", indexed=("due",), scheduled="next_at")
