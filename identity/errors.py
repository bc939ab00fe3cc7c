"""Refusals of the protocol endpoints, each with the code that its RFC gives it.

OAuthError                   server.platform
└─ ProtocolError
   ├─ InvalidRequest         RFC 6749 §5.2
   ├─ InvalidClient          RFC 6749 §5.2
   ├─ InvalidScope           RFC 6749 §5.2
   ├─ UnauthorizedClient     RFC 6749 §5.2
   ├─ UnsupportedGrantType   RFC 6749 §5.2
   └─ InvalidTarget          RFC 8707 §2

A description never repeats what the caller sent: it may be a secret.
"""

from typing import ClassVar

from server.platform.errors import OAuthError


class ProtocolError(OAuthError):
    oauth_code: ClassVar[str]

    def __init__(self, description: str) -> None:
        super().__init__(self.oauth_code, description)


class InvalidRequest(ProtocolError):
    oauth_code = "invalid_request"


class InvalidClient(ProtocolError):
    oauth_code = "invalid_client"


class InvalidScope(ProtocolError):
    oauth_code = "invalid_scope"


class UnauthorizedClient(ProtocolError):
    oauth_code = "unauthorized_client"


class UnsupportedGrantType(ProtocolError):
    oauth_code = "unsupported_grant_type"


class InvalidTarget(ProtocolError):
    oauth_code = "invalid_target"
