"""Refusals of the protocol endpoints, each with the code of its RFC.

OAuthError                   server.platform
└─ ProtocolError
   ├─ InvalidRequest         RFC 6749 §5.2
   ├─ InvalidClient          RFC 6749 §5.2
   ├─ InvalidGrant           RFC 6749 §5.2
   ├─ AuthorizationPending   RFC 8628 §3.5
   ├─ SlowDown               RFC 8628 §3.5
   ├─ AccessDenied           RFC 8628 §3.5, RFC 6749 §4.1.2.1
   ├─ ExpiredToken           RFC 8628 §3.5
   ├─ UnsupportedTokenType   RFC 7009 §2.2.1
   ├─ InvalidToken           RFC 6750 §3.1
   ├─ InsufficientScope      RFC 6750 §3.1
   ├─ InvalidDpopProof       RFC 9449 §5
   ├─ UseDpopNonce           RFC 9449 §8
   ├─ InvalidScope           RFC 6749 §5.2
   ├─ UnauthorizedClient     RFC 6749 §5.2
   ├─ UnsupportedGrantType   RFC 6749 §5.2
   ├─ InvalidTarget          RFC 8707 §2
   ├─ InvalidAuthorizationDetails RFC 9396 §5
   ├─ UnsupportedResponseType RFC 6749 §4.1.2.1
   ├─ LoginRequired          OpenID Connect Core 1.0 §3.1.2.6
   ├─ InteractionRequired    OpenID Connect Core 1.0 §3.1.2.6
   ├─ ConsentRequired        OpenID Connect Core 1.0 §3.1.2.6
   ├─ RequestNotSupported    OpenID Connect Core 1.0 §3.1.2.6
   ├─ RequestUriNotSupported OpenID Connect Core 1.0 §3.1.2.6
   ├─ InvalidRequestUri      OpenID Connect Core 1.0 §3.1.2.6
   ├─ InvalidRequestObject   OpenID Connect Core 1.0 §3.1.2.6
   ├─ UnknownUserId          CIBA Core 1.0 §13
   ├─ InvalidBindingMessage  CIBA Core 1.0 §13
   ├─ InvalidRedirectUri     RFC 7591 §3.2.2
   └─ InvalidClientMetadata  RFC 7591 §3.2.2

A description never repeats input of the caller, which may be a secret.
"""

from typing import ClassVar

from server.platform.errors import OAuthError


class ProtocolError(OAuthError):
    oauth_code: ClassVar[str]

    def __init__(self, description: str, **metadata: str) -> None:
        super().__init__(self.oauth_code, description, **metadata)


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


class InvalidAuthorizationDetails(ProtocolError):
    oauth_code = "invalid_authorization_details"


class InvalidGrant(ProtocolError):
    oauth_code = "invalid_grant"


class AuthorizationPending(ProtocolError):
    oauth_code = "authorization_pending"


class SlowDown(ProtocolError):
    oauth_code = "slow_down"


class AccessDenied(ProtocolError):
    oauth_code = "access_denied"


class ExpiredToken(ProtocolError):
    oauth_code = "expired_token"


class UnsupportedTokenType(ProtocolError):
    oauth_code = "unsupported_token_type"


class InvalidToken(ProtocolError):
    oauth_code = "invalid_token"


class InsufficientScope(ProtocolError):
    oauth_code = "insufficient_scope"


class InvalidDpopProof(ProtocolError):
    oauth_code = "invalid_dpop_proof"


class UseDpopNonce(ProtocolError):
    """`nonce`, also in the metadata, is required in the next proof."""

    oauth_code = "use_dpop_nonce"

    def __init__(self, nonce: str) -> None:
        super().__init__("the DPoP proof has to carry the nonce of this server", nonce=nonce)
        self.nonce = nonce


class UnsupportedResponseType(ProtocolError):
    oauth_code = "unsupported_response_type"


class LoginRequired(ProtocolError):
    oauth_code = "login_required"


class InteractionRequired(ProtocolError):
    oauth_code = "interaction_required"


class ConsentRequired(ProtocolError):
    oauth_code = "consent_required"


class RequestNotSupported(ProtocolError):
    oauth_code = "request_not_supported"


class RequestUriNotSupported(ProtocolError):
    oauth_code = "request_uri_not_supported"


class InvalidRequestUri(ProtocolError):
    oauth_code = "invalid_request_uri"


class InvalidRequestObject(ProtocolError):
    oauth_code = "invalid_request_object"


class UnknownUserId(ProtocolError):
    oauth_code = "unknown_user_id"


class InvalidBindingMessage(ProtocolError):
    oauth_code = "invalid_binding_message"


class InvalidRedirectUri(ProtocolError):
    oauth_code = "invalid_redirect_uri"


class InvalidClientMetadata(ProtocolError):
    oauth_code = "invalid_client_metadata"
