"""How a call fails over a channel of ours."""

import grpc

from server.platform.errors import ServiceError


class CallError(grpc.RpcError):
    """A call was refused, or did not get through; `error` says which."""

    def __init__(self, error: ServiceError) -> None:
        super().__init__(error.detail)
        self.error = error
