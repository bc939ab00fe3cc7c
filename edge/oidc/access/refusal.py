"""Error responses of the provider's endpoints.

Protocol endpoints use OAuth errors: `error` is a registered code with an `error_description` (RFC 6749 §5.2). All
others have their own names of errors. Both have a `message`, and a `timestamp` in Unix seconds.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

import orjson

from edge.oidc.access.own_authorization import own_sign_in
from server.platform.errors import InvalidArgument, OAuthError, ResourceExhausted, ServiceError

BASIC_CHALLENGE = {"WWW-Authenticate": 'Basic realm="token endpoint", charset="UTF-8"'}

_KINDS = {
    400: "BadRequest",
    401: "Unauthorized",
    403: "Forbidden",
    404: "NotFound",
    408: "RequestTimeout",
    409: "Conflict",
    429: "TooManyRequests",
}
_COMPANY_SIGN_IN = "COMPANY_SIGN_IN"
_CAUSES = {
    _COMPANY_SIGN_IN: (409, "UseCompanySignIn"),
    "EMAIL_NOT_CONFIRMED": (403, "EmailNotConfirmed"),
    "PASSWORD_EXPIRED": (403, "PasswordRefresh"),
    "NO_ACCOUNT": (403, "NoAccount"),
    "DIRECTORY_UNAVAILABLE": (503, "DirectoryUnavailable"),
    "SELF_DELETE_OFF": (406, "NotAccepted"),
    "SECOND_FACTOR_REQUIRED": (406, "MfaRequired"),
    "OWN_FACTOR_REQUIRED": (403, "MfaRequired"),
    "WRONG_CODE": (401, "WrongCode"),
    "OTHER_ETAG": (412, "PreconditionFailed"),
}
# The session of a sign-in page has ended, or the browser did not send its cookie.
SESSION_ENDED = "SESSION_ENDED"
# A new password breaks a rule; the rest of the cause names it.
_PASSWORD = "PASSWORD_"  # noqa: S105  # the beginning of causes

NETWORK_REFUSED = "NetworkRefused"
_UNAUTHORIZED = 401
TOO_MANY_REQUESTS = 429
_TEMPORARILY_UNAVAILABLE = 503
_SERVER_ERROR = 500

# RFC 6749 §5.2, RFC 6750 §3.1; all other OAuth errors have status 400.
_STATUSES = {"invalid_client": 401, "invalid_token": 401, "insufficient_scope": 403}


@dataclass(eq=False, slots=True)
class Refused(Exception):
    """An error response; `is_oauth` when `error` is an OAuth error code.

    The same request fails until `retry_at`, in Unix seconds, or for `retry_after` seconds; both are 0 when unknown.
    `members` are additional members of the body, of the `media_type`. `cause` is from the service, empty without one.
    """

    status: int
    error: str
    message: str
    is_oauth: bool = False
    headers: Mapping[str, str] = field(default_factory=dict)
    retry_at: int = 0
    retry_after: int = 0
    members: Mapping[str, object] = field(default_factory=dict)
    cause: str = ""
    media_type: str = "application/json"

    def seconds_to_wait(self, now: datetime) -> int:
        return max(self.retry_after, self.retry_at - int(now.timestamp()), 0)

    def headers_at(self, now: datetime) -> Mapping[str, str]:
        """Return the headers; those about the waiting time depend on the present time."""
        seconds = self.seconds_to_wait(now)
        if not seconds:
            return self.headers
        waiting = {"Retry-After": str(seconds), "x-retry-not-before": str(int(now.timestamp()) + seconds)}
        return {**self.headers, **waiting}

    def body(self, now: datetime) -> bytes:
        description = {"error_description": self.message} if self.is_oauth else {}
        timestamp = int(now.timestamp())
        return orjson.dumps(
            {
                "error": self.error,
                **description,
                "message": self.message,
                "timestamp": timestamp,
                **self.members,
            }
        )


def use_company_sign_in(*, provider_id: str, provider_name: str, location: str) -> Refused:
    """409 for an address whose users sign in at a provider; `location` is where they do."""
    return Refused(
        409,
        "UseCompanySignIn",
        "users with this address sign in through their organization",
        members={"provider": {"id": provider_id, "name": provider_name}, "location": location},
    )


def network_refused() -> Refused:
    """403 for a network from which users may not use the provider; it does not name the rule."""
    message = "access from this network is not permitted"
    return Refused(
        403,
        NETWORK_REFUSED,
        message,
        members={"type": "about:blank", "title": "Forbidden", "status": 403, "detail": message},
        media_type="application/problem+json",
    )


def invalid_request(message: str, *, status: int = 400, headers: Mapping[str, str] | None = None) -> Refused:
    return Refused(status, "invalid_request", message, is_oauth=True, headers=headers or {})


def invalid_client(message: str) -> Refused:
    """401 with a challenge, which every 401 needs: RFC 6749 §5.2, RFC 9110 §15.5.2."""
    return Refused(401, "invalid_client", message, is_oauth=True, headers=BASIC_CHALLENGE)


def invalid_client_metadata(message: str) -> Refused:
    """RFC 7591 §3.2.2."""
    return Refused(400, "invalid_client_metadata", message, is_oauth=True)


def refused_by_protocol(error: ServiceError) -> Refused:
    """Map an error of the service to the response of a protocol endpoint."""
    if isinstance(error, OAuthError):
        status = _STATUSES.get(error.error, 400)
        challenge = BASIC_CHALLENGE if error.error == "invalid_client" else {}
        return Refused(
            status, error.error, error.detail, is_oauth=True, headers={**challenge, **dpop_nonce(error)}
        )
    if isinstance(error, InvalidArgument) and not error.metadata.get("cause", "").startswith(_PASSWORD):
        return invalid_request(error.detail, status=error.problem.status)
    if error.problem.status < _SERVER_ERROR or isinstance(error, ResourceExhausted):
        return refused(error)
    return _out_of_order(error)


def refused(error: ServiceError) -> Refused:
    """Map an error of the service to the response of any other endpoint."""
    if isinstance(error, OAuthError):
        return refused_by_protocol(error)
    if isinstance(error, ResourceExhausted):
        return _too_many_requests(error)
    if error.metadata.get("cause") in _CAUSES:
        return _by_cause(error)
    status = error.problem.status
    if status == _TEMPORARILY_UNAVAILABLE:
        return Refused(status, "Unavailable", error.detail)
    kind = _KINDS.get(status, "Internal")
    cause = error.metadata.get("cause", "")
    members: dict[str, object] = {"field": error.metadata["field"]} if "field" in error.metadata else {}
    if cause.startswith(_PASSWORD):
        members |= {"reason": cause, "count": _number(error.metadata.get("count", ""))}
    return Refused(
        status, kind, error.detail, headers=_challenge(status, cause), members=members, cause=cause
    )


def dpop_nonce(error: OAuthError) -> Mapping[str, str]:
    """RFC 9449 §8: the nonce for the next proof."""
    nonce = error.metadata.get("nonce", "")
    return {"DPoP-Nonce": nonce} if nonce else {}


def _too_many_requests(error: ServiceError) -> Refused:
    return Refused(
        TOO_MANY_REQUESTS,
        _KINDS[TOO_MANY_REQUESTS],
        error.detail,
        retry_at=_number(error.metadata.get("retry_at", "")),
        retry_after=_number(error.metadata.get("retry_after_secs", "")),
    )


def _number(text: str) -> int:
    return int(text) if text.isdecimal() else 0


def _by_cause(error: ServiceError) -> Refused:
    """Return the specific error for a user who has authenticated, or whose address has a provider."""
    if error.metadata["cause"] == _COMPANY_SIGN_IN:
        return _company_sign_in(error.metadata)
    status, kind = _CAUSES[error.metadata["cause"]]
    resend = {"resend": True} if error.metadata.get("resend") == "true" else {}
    return Refused(status, kind, error.detail, members=resend, headers=_challenge(status))


def _company_sign_in(told: Mapping[str, str]) -> Refused:
    # An identity service of the version before gives the name of the provider and a location alone.
    location = own_sign_in(told["issuer"], login_hint=told["email"]) if "issuer" in told else told["location"]
    return use_company_sign_in(
        provider_id=told.get("provider_id", ""), provider_name=told["provider"], location=location
    )


def _challenge(status: int, cause: str = "") -> Mapping[str, str]:
    """RFC 9110 §11.6.1: a 401 needs a challenge; here it is the provider's own sign-in.

    The `error` parameter distinguishes an ended session from a wrong password.
    """
    if status != _UNAUTHORIZED:
        return {}
    error = ' error="session_ended"' if cause == SESSION_ENDED else ""
    return {"WWW-Authenticate": f"OAuth{error}"}


def _out_of_order(error: ServiceError) -> Refused:
    status = error.problem.status
    code = "temporarily_unavailable" if status == _TEMPORARILY_UNAVAILABLE else "server_error"
    return Refused(status, code, error.detail, is_oauth=True)
