"""The error of a failed call over a channel of this package."""

import grpc

from server.platform.errors import ServiceError


class CallError(grpc.RpcError):
    """A call was refused or did not reach its service; `error` is the reason."""

    def __init__(self, error: ServiceError) -> None:
        super().__init__(error.detail)
        self.error = error
