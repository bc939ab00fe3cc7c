"""Converts a failed call back into the error that its servicer raised."""

import grpc
from google.rpc.error_details_pb2 import ErrorInfo
from google.rpc.status_pb2 import Status

from server.platform.channels.failure import CallError
from server.platform.errors import (
    ERRORS,
    OAUTH_DOMAIN,
    DeadlineExceeded,
    Internal,
    ModeNotSupported,
    OAuthError,
    PayloadTooLarge,
    ServiceError,
    Unauthenticated,
    Unavailable,
)

_UNIMPLEMENTED: int = grpc.StatusCode.UNIMPLEMENTED.value[0]
_DETAILS = "grpc-status-details-bin"

# A peer of an earlier version does not know newer operations.
_UNKNOWN_OPERATION = ModeNotSupported("the service does not know the operation")

# Statuses that gRPC itself sets, without an ErrorInfo: lost peer, deadline exceeded, message too large.
_BARE = {
    grpc.StatusCode.UNAVAILABLE: Unavailable("the service cannot be reached"),
    # A server cancels a call only when it stops.
    grpc.StatusCode.CANCELLED: Unavailable("the service cut the call off"),
    grpc.StatusCode.DEADLINE_EXCEEDED: DeadlineExceeded("the call took too long"),
    grpc.StatusCode.RESOURCE_EXHAUSTED: PayloadTooLarge("the message exceeds the configured size"),
    grpc.StatusCode.UNAUTHENTICATED: Unauthenticated("no valid credential"),
    grpc.StatusCode.UNIMPLEMENTED: _UNKNOWN_OPERATION,
}


def error_of(failure: grpc.RpcError) -> ServiceError:
    """Return the error behind a failed call over any channel."""
    if isinstance(failure, CallError):
        return failure.error
    if not isinstance(failure, grpc.aio.AioRpcError):
        return Internal()
    status = _status(failure)
    if status is None:
        return _BARE.get(failure.code(), Internal())
    return error_of_status(status)


def _status(failure: grpc.aio.AioRpcError) -> Status | None:
    for key, value in failure.trailing_metadata() or ():
        if key == _DETAILS and isinstance(value, bytes):
            return Status.FromString(value)
    return None


def error_of_status(status: Status) -> ServiceError:
    info = ErrorInfo()
    if not any(detail.Unpack(info) for detail in status.details):
        return _UNKNOWN_OPERATION if status.code == _UNIMPLEMENTED else Internal()
    if info.domain == OAUTH_DOMAIN:
        return OAuthError(info.reason, status.message, **info.metadata)
    kind = ERRORS.get(info.reason)
    return kind(status.message, **info.metadata) if kind else Internal()
