"""Refusals as the provider's endpoints write them.

Protocol endpoints speak OAuth: `error` is a registered code, `error_description` says more (RFC 6749 §5.2). All
others name a kind of their own. Both carry `message` and `timestamp`, in Unix seconds.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

import orjson

from server.platform.errors import InvalidArgument, OAuthError, ServiceError

BASIC_CHALLENGE = {"WWW-Authenticate": 'Basic realm="token endpoint", charset="UTF-8"'}

_KINDS = {400: "BadRequest", 401: "Unauthorized", 403: "Forbidden", 404: "NotFound", 429: "TooManyRequests"}
_TEMPORARILY_UNAVAILABLE = 503
_SERVER_ERROR = 500


@dataclass(eq=False, slots=True)
class Refused(Exception):
    """An answer that is no success; `is_oauth` when `error` is a code of OAuth."""

    status: int
    error: str
    message: str
    is_oauth: bool = False
    headers: Mapping[str, str] = field(default_factory=dict)

    def body(self, now: datetime) -> bytes:
        description = {"error_description": self.message} if self.is_oauth else {}
        timestamp = int(now.timestamp())
        return orjson.dumps(
            {"error": self.error, **description, "message": self.message, "timestamp": timestamp}
        )


def invalid_request(message: str, *, status: int = 400, headers: Mapping[str, str] | None = None) -> Refused:
    return Refused(status, "invalid_request", message, is_oauth=True, headers=headers or {})


def invalid_client(message: str, *, is_basic: bool) -> Refused:
    """401; a client that used the Authorization header is told of the scheme: RFC 6749 §5.2."""
    headers = BASIC_CHALLENGE if is_basic else {}
    return Refused(401, "invalid_client", message, is_oauth=True, headers=headers)


def refused_by_protocol(error: ServiceError) -> Refused:
    """Say what a protocol endpoint answers when its service refused."""
    if isinstance(error, OAuthError):
        status = 401 if error.error == "invalid_client" else 400
        return Refused(status, error.error, error.detail, is_oauth=True)
    if isinstance(error, InvalidArgument):
        return invalid_request(error.detail)
    if error.problem.status < _SERVER_ERROR:
        return refused(error)
    return _out_of_order(error)


def refused(error: ServiceError) -> Refused:
    """Say what any other endpoint answers when its service refused."""
    status = error.problem.status
    if status == _TEMPORARILY_UNAVAILABLE:
        return Refused(status, "Unavailable", error.detail)
    return Refused(status, _KINDS.get(status, "Internal"), error.detail)


def _out_of_order(error: ServiceError) -> Refused:
    status = error.problem.status
    code = "temporarily_unavailable" if status == _TEMPORARILY_UNAVAILABLE else "server_error"
    return Refused(status, code, error.detail, is_oauth=True)
