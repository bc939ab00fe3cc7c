"""Method, metadata and deadline in the headers of a request."""

from collections.abc import Mapping
from dataclasses import dataclass

from server.platform.http2.handlers import Handlers, Method
from server.platform.http2.wire import Header, expect_encoding, metadata_of, seconds_of

_CONTENT_TYPE = "application/grpc"


class NotGrpc(Exception):
    """A request of something else than gRPC, with the status of HTTP that it gets."""

    def __init__(self, status: bytes) -> None:
        super().__init__(status)
        self.status = status


@dataclass(frozen=True, slots=True)
class Opening:
    """The beginning of a call; `seconds` is what its client gives it."""

    method: Method
    metadata: Mapping[str, str]
    seconds: float | None

    @property
    def encoding(self) -> str:
        return self.metadata.get("grpc-encoding", "identity")


def opening(headers: tuple[Header, ...], handlers: Handlers) -> Opening:
    """Read the headers; raises Refusal and NotGrpc."""
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
