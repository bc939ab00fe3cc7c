"""Errors of the client, and the errors that a handler of jobs may raise.

GnomonError
├─ RequestFailed        the server refused the request, or could not be reached
│  └─ DeadlineExceeded  the request got no answer in time; its outcome is unknown
├─ BpmnError            a handler throws a BPMN error
└─ JobFailure           a handler fails its job with retries and a back-off of its own
"""

from datetime import timedelta

import grpc
from google.rpc.error_details_pb2 import ErrorInfo
from google.rpc.status_pb2 import Status

from gnomon.client.jobs import Variables, encoded

_DETAILS = "grpc-status-details-bin"
_MOST_RETRIES = 2**31 - 1


class GnomonError(Exception):
    """Any error of this package."""


class RequestFailed(GnomonError):
    """A request that the server refused.

    `code` is the status of gRPC. `reason` is the name in `gnomon.errors.v1.ErrorReason` without its prefix, such as
    INVALID_STATE, and empty where gRPC itself refused.
    """

    def __init__(self, code: grpc.StatusCode, reason: str, message: str) -> None:
        super().__init__(f"{code.name} {reason}: {message}" if reason else f"{code.name}: {message}")
        self.code = code
        self.reason = reason
        self.message = message


class DeadlineExceeded(RequestFailed):
    """The deadline passed without an answer. A command may have taken effect."""


class BpmnError(GnomonError):
    """Throws a BPMN error from a job; the process continues at the catch event with the same code.

    Raises ValueError for an empty code, and the errors of `encoded` for variables that JSON cannot express.
    """

    def __init__(self, code: str, message: str = "", *, variables: Variables | None = None) -> None:
        if not code:
            raise ValueError("code: expected at least one character")
        super().__init__(f"{code}: {message}" if message else code)
        self.code = code
        self.message = message
        self.variables = encoded(variables)


class JobFailure(GnomonError):
    """Fails a job. `retries` are those left afterwards (one less by default); 0 raises an incident.

    Raises ValueError for a negative or too large number of retries and for a negative back-off.
    """

    def __init__(
        self, message: str, *, retries: int | None = None, back_off: timedelta | None = None
    ) -> None:
        if not 0 <= (retries or 0) <= _MOST_RETRIES:
            raise ValueError(f"retries: expected 0 to {_MOST_RETRIES}, found {retries}")
        if back_off is not None and back_off < timedelta():
            raise ValueError(f"back_off: expected no negative duration, found {back_off}")
        super().__init__(message)
        self.message = message
        self.retries = retries
        self.back_off = back_off


_CODES = {code.value[0]: code for code in grpc.StatusCode}


def request_failed(failure: grpc.aio.AioRpcError) -> RequestFailed:
    """The error behind a failed call."""
    return _error(failure.code(), _reason(failure), failure.details() or "")


def refused(outcome: Status) -> RequestFailed | None:
    """The error behind the outcome of one command of several, None when the server carried it out."""
    if outcome.code == 0:
        return None
    return _error(_CODES.get(outcome.code, grpc.StatusCode.UNKNOWN), _reason_in(outcome), outcome.message)


def _error(code: grpc.StatusCode, reason: str, message: str) -> RequestFailed:
    kind = DeadlineExceeded if code is grpc.StatusCode.DEADLINE_EXCEEDED else RequestFailed
    return kind(code, reason, message)


def _reason(failure: grpc.aio.AioRpcError) -> str:
    for key, value in failure.trailing_metadata() or ():
        if key == _DETAILS and isinstance(value, bytes):
            return _reason_in(Status.FromString(value))
    return ""


def _reason_in(status: Status) -> str:
    info = ErrorInfo()
    return str(info.reason) if any(detail.Unpack(info) for detail in status.details) else ""
