"""Health checks of a gRPC listener: `grpc.health.v1`.

See github.com/grpc/grpc/blob/master/doc/health-checking.md. The calls need no credential. A client that watches and does
not read delays nobody.
"""

import asyncio
from collections.abc import Iterable

import grpc
from grpc_health.v1 import health_pb2 as pb
from grpc_health.v1.health_pb2 import (  # type: ignore[attr-defined]  # the stubs lack them
    HealthListRequest,
    HealthListResponse,
)

SERVICE: str = pb.DESCRIPTOR.services_by_name["Health"].full_name
# Open watches of a process; each occupies a call.
MAX_WATCHES = 1024

_STATUS = pb.HealthCheckResponse.ServingStatus


class Health:
    """The status of a server, whose name is empty, and of its services; all have the same one."""

    def __init__(self, services: Iterable[str]) -> None:
        self._names = frozenset(["", *services])
        self._status: int = pb.HealthCheckResponse.NOT_SERVING
        self._changed = asyncio.Event()
        self._watches = 0

    def handler(self) -> grpc.GenericRpcHandler:
        """Return the handler of the three methods."""
        methods = {
            "Check": grpc.unary_unary_rpc_method_handler(
                self._check, pb.HealthCheckRequest.FromString, pb.HealthCheckResponse.SerializeToString
            ),
            "List": grpc.unary_unary_rpc_method_handler(
                self._list, HealthListRequest.FromString, HealthListResponse.SerializeToString
            ),
            "Watch": grpc.unary_stream_rpc_method_handler(
                self._watch, pb.HealthCheckRequest.FromString, pb.HealthCheckResponse.SerializeToString
            ),
        }
        return grpc.method_handlers_generic_handler(SERVICE, methods)

    def set(self, *, serving: bool) -> None:
        """Change the status, and send it to all watches."""
        self._status = pb.HealthCheckResponse.SERVING if serving else pb.HealthCheckResponse.NOT_SERVING
        changed, self._changed = self._changed, asyncio.Event()
        changed.set()

    async def _check(
        self,
        request: pb.HealthCheckRequest,
        context: grpc.aio.ServicerContext[pb.HealthCheckRequest, pb.HealthCheckResponse],
    ) -> pb.HealthCheckResponse:
        if request.service not in self._names:
            await context.abort(grpc.StatusCode.NOT_FOUND, "unknown service")
        return self._response(request.service)

    async def _list(
        self,
        _: HealthListRequest,
        __: grpc.aio.ServicerContext[HealthListRequest, HealthListResponse],
    ) -> HealthListResponse:
        return HealthListResponse(statuses={name: self._response(name) for name in self._names})

    async def _watch(
        self,
        request: pb.HealthCheckRequest,
        context: grpc.aio.ServicerContext[pb.HealthCheckRequest, pb.HealthCheckResponse],
    ) -> None:
        """Send the status and each later one; an unknown service is no error, because it may come."""
        if self._watches >= MAX_WATCHES:
            await context.abort(grpc.StatusCode.RESOURCE_EXHAUSTED, "too many health checks watch")
        self._watches += 1
        try:
            while True:
                changed = self._changed
                await context.write(self._response(request.service))
                await changed.wait()
        finally:
            self._watches -= 1

    def _response(self, service: str) -> pb.HealthCheckResponse:
        status = self._status if service in self._names else pb.HealthCheckResponse.SERVICE_UNKNOWN
        return pb.HealthCheckResponse(status=_STATUS.Name(status))
