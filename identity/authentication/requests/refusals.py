"""Refusals of an authorization request."""

from identity.authentication.requests.redirection import Redirection
from identity.foundation.errors import ProtocolError


class UnredirectableRefusal(Exception):
    """The error is shown to the user only: RFC 6749 §4.1.2.1."""

    def __init__(self, refusal: ProtocolError) -> None:
        super().__init__(refusal.detail)
        self.refusal = refusal


class RedirectedRefusal(Exception):
    """The error is sent to the relying party."""

    def __init__(self, redirection: Redirection) -> None:
        super().__init__("the authorization request is refused")
        self.redirection = redirection
