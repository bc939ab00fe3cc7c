"""Reads method, metadata and deadline from request headers."""

from collections.abc import Mapping
from dataclasses import dataclass

from server.platform.http2.handlers import Handlers, Method
from server.platform.http2.wire import Header, expect_encoding, metadata_of, seconds_of

_CONTENT_TYPE = "application/grpc"


class NotGrpc(Exception):
    """The request is not gRPC; `status` is the HTTP status of the response."""

    def __init__(self, status: bytes) -> None:
        super().__init__(status)
        self.status = status


@dataclass(frozen=True, slots=True)
class Opening:
    """The start of a call; `seconds` is the client's timeout, or None."""

    method: Method
    metadata: Mapping[str, str]
    seconds: float | None

    @property
    def encoding(self) -> str:
        return self.metadata.get("grpc-encoding", "identity")


def opening(headers: tuple[Header, ...], handlers: Handlers) -> Opening:
    """Read the request headers; raises Refusal or NotGrpc."""
    metadata = metadata_of(headers)
    if metadata[":method"] != "POST":
        raise NotGrpc(b"405")
    if not metadata.get("content-type", "").startswith(_CONTENT_TYPE):
        raise NotGrpc(b"415")
    timeout = metadata.get("grpc-timeout")
    found = Opening(
        handlers.method(metadata[":path"]), metadata, None if timeout is None else seconds_of(timeout)
    )
    expect_encoding(found.encoding)
    return found
