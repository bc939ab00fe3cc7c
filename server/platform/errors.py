"""Errors that callers see, and the one table that gives each its gRPC status and problem document.

ServiceError                 reason (ErrorReason)
├─ InvalidArgument           INVALID_ARGUMENT
├─ Unauthenticated           UNAUTHENTICATED
├─ PermissionDenied          PERMISSION_DENIED
│  └─ TenantMismatch
├─ NotFound                  NOT_FOUND
├─ InvalidState              INVALID_STATE
├─ AlreadyExists             ALREADY_EXISTS
├─ IdempotencyConflict       IDEMPOTENCY_CONFLICT
├─ PayloadTooLarge           PAYLOAD_TOO_LARGE
├─ QuotaExhausted            QUOTA_EXHAUSTED
├─ Internal                  INTERNAL (never carries a detail of ours)
├─ ModeNotSupported          MODE_NOT_SUPPORTED (metadata: mode)
├─ ResourceExhausted         RESOURCE_EXHAUSTED (a bounded queue is full)
├─ Unavailable               UNAVAILABLE
└─ DeadlineExceeded          DEADLINE_EXCEEDED

A reason's status code, problem type, HTTP status and title stand beside it in gnomon/errors/v1/reason.proto.
An OAuth error is an `OAuthError`: its reason is the protocol's own code, its domain is "oauth" (RFC 6749 §5.2).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Self

from google.protobuf.any_pb2 import Any as AnyMessage
from google.protobuf.duration_pb2 import Duration
from google.rpc.error_details_pb2 import ErrorInfo, RetryInfo
from google.rpc.status_pb2 import Status

from gnomon.errors.v1 import reason_pb2
from gnomon.rest.v1 import options_pb2

DOMAIN = "gnomon"
OAUTH_DOMAIN = "oauth"
# Metadata: seconds after which the same call may succeed.
RETRY_AFTER = "retry_after_secs"
_PREFIX = "ERROR_REASON_"


@dataclass(frozen=True, slots=True)
class Problem:
    """The problem of an error reason: problem details (RFC 9457) over HTTP, a status code over gRPC."""

    reason: str
    type: str
    status: int
    title: str
    code: int


def _problems() -> dict[str, Problem]:
    values = [value for value in reason_pb2.ErrorReason.DESCRIPTOR.values if value.number]
    rules = {
        value.name.removeprefix(_PREFIX): value.GetOptions().Extensions[options_pb2.problem]
        for value in values
    }
    return {
        reason: Problem(reason, f"urn:bpm:error:{rule.type}", rule.status, rule.title, rule.code)
        for reason, rule in rules.items()
    }


PROBLEMS: Mapping[str, Problem] = _problems()


class ServiceError(Exception):
    """An error that is reported to the caller; subclasses set the reason."""

    reason: ClassVar[str] = "INTERNAL"
    domain: ClassVar[str] = DOMAIN

    def __init__(self, detail: str, **metadata: str) -> None:
        super().__init__(detail)
        self.detail = detail
        self.metadata = metadata

    @property
    def problem(self) -> Problem:
        return PROBLEMS[self.reason]

    @property
    def code(self) -> int:
        return self.problem.code

    def status(self) -> Status:
        """Return the google.rpc.Status that gRPC callers receive: with an ErrorInfo, and a RetryInfo if a repeat may succeed."""
        status = Status(code=self.code, message=self.detail)
        status.details.add().Pack(ErrorInfo(reason=self.reason, domain=self.domain, metadata=self.metadata))
        seconds = self.metadata.get(RETRY_AFTER, "")
        if seconds.isdecimal():
            status.details.add().Pack(RetryInfo(retry_delay=Duration(seconds=int(seconds))))
        return status


class InvalidArgument(ServiceError):
    reason = "INVALID_ARGUMENT"


class Unauthenticated(ServiceError):
    reason = "UNAUTHENTICATED"


class PermissionDenied(ServiceError):
    reason = "PERMISSION_DENIED"


class TenantMismatch(PermissionDenied):
    """The caller may not act in the named tenant."""


class NotFound(ServiceError):
    reason = "NOT_FOUND"


class InvalidState(ServiceError):
    reason = "INVALID_STATE"


class AlreadyExists(ServiceError):
    reason = "ALREADY_EXISTS"


class IdempotencyConflict(ServiceError):
    reason = "IDEMPOTENCY_CONFLICT"


class PayloadTooLarge(ServiceError):
    reason = "PAYLOAD_TOO_LARGE"


class QuotaExhausted(ServiceError):
    reason = "QUOTA_EXHAUSTED"


class Internal(ServiceError):
    """An unexpected error in the server; the caller receives no detail, the log has it."""

    def __init__(self) -> None:
        super().__init__("an internal error occurred")


class ModeNotSupported(ServiceError):
    reason = "MODE_NOT_SUPPORTED"


class ResourceExhausted(ServiceError):
    reason = "RESOURCE_EXHAUSTED"


class Unavailable(ServiceError):
    """A temporary failure; the metadata `executed` is "no" if the call certainly had no effect."""

    reason = "UNAVAILABLE"

    @classmethod
    def untouched(cls, detail: str) -> Self:
        """Return an error for a call that had no effect, so that the caller can repeat it."""
        return cls(detail, executed="no")

    @property
    def is_untouched(self) -> bool:
        return self.metadata.get("executed") == "no"


class DeadlineExceeded(ServiceError):
    reason = "DEADLINE_EXCEEDED"


class OAuthError(ServiceError):
    """An OAuth error response: `error` is an error code of RFC 6749 or of a later specification."""

    domain = OAUTH_DOMAIN

    def __init__(self, error: str, description: str, **metadata: str) -> None:
        super().__init__(description, **metadata)
        self.error = error

    @property
    def code(self) -> int:
        return PROBLEMS["UNAUTHENTICATED" if self.error == "invalid_client" else "INVALID_ARGUMENT"].code

    def status(self) -> Status:
        packed = AnyMessage()
        packed.Pack(ErrorInfo(reason=self.error, domain=self.domain, metadata=self.metadata))
        return Status(code=self.code, message=self.detail, details=[packed])


ERRORS: Mapping[str, type[ServiceError]] = {
    kind.reason: kind
    for kind in (
        *(InvalidArgument, Unauthenticated, PermissionDenied, NotFound, InvalidState, AlreadyExists),
        *(IdempotencyConflict, PayloadTooLarge, QuotaExhausted, ModeNotSupported, ResourceExhausted),
        *(Unavailable, DeadlineExceeded),
    )
}
