"""Reports requests to the services that this edge refuses while reading them.

The services refuse a caller before its body counts, and keep the audit log. So a request that cannot be read is reported
before it is answered, and a refusal of its caller is the answer. A report is a separate call that the client waits for:
a flood of malformed requests costs no more than one of well-formed requests, and well-formed ones cost nothing more.
"""

import logging
from collections.abc import Mapping
from typing import TYPE_CHECKING, cast

import grpc
from aiohttp import web
from google.protobuf.message import Message

from edge.contract import Route
from edge.metadata import Metadata, readable_metadata_of
from edge.problem import REQUEST_ID, printable
from edge.transcode.malformed import Malformed
from edge.transcode.parameters import path_reader
from gnomon.engine.v1 import refusal_service_pb2 as pb
from gnomon.engine.v1.refusal_service_pb2_grpc import RefusalServiceStub
from server.platform.call import AUTHORIZATION
from server.platform.channels import Channel, error_of
from server.platform.errors import (
    InvalidArgument,
    ModeNotSupported,
    PermissionDenied,
    ServiceError,
    Unauthenticated,
)

if TYPE_CHECKING:
    from gnomon.engine.v1.refusal_service_pb2_grpc import RefusalServiceAsyncStub

logger = logging.getLogger(__name__)

# The longest time that the client waits for a report.
SECONDS = 2.0
LONGEST_DETAIL = 2_000

# Refusals that no other body would change.
_OF_CALLER = Unauthenticated | ModeNotSupported | PermissionDenied


class RefusalReports:
    def __init__(self, channel: Channel) -> None:
        self._service: RefusalServiceAsyncStub = RefusalServiceStub(cast("grpc.aio.Channel", channel))
        self._is_failing = False

    async def settled(
        self, route: Route, request: web.Request, refusal: ServiceError, credential: Metadata
    ) -> ServiceError:
        """Return the refusal to answer with: that of the caller, or else the one given, also when the report fails.

        `credential` is metadata of a caller that has one without an Authorization header.
        """
        metadata = readable_metadata_of(request.headers, request[REQUEST_ID]) + credential
        if AUTHORIZATION in request.headers and AUTHORIZATION not in dict(metadata):
            # RFC 6750 §3.1: a malformed header is an invalid request; it names no caller.
            return refusal
        report = pb.ReportRefusalRequest(
            rpc=route.policy.path,
            request=_named(route, request.match_info).SerializeToString(),
            reason=refusal.reason,
            detail=printable(refusal.detail)[:LONGEST_DETAIL],
        )
        try:
            await self._service.ReportRefusal(report, timeout=SECONDS, metadata=metadata)
        except grpc.RpcError as failure:
            error = error_of(failure)
            if isinstance(error, _OF_CALLER):
                return error
            self._fail(error)
        else:
            self._is_failing = False
        return refusal

    def _fail(self, error: ServiceError) -> None:
        """Log the first of several consecutive failures."""
        if not self._is_failing and not isinstance(error, InvalidArgument):
            logger.warning("refused requests are not reported", extra={"reason": error.detail})
        self._is_failing = True


def _named(route: Route, variables: Mapping[str, str]) -> Message:
    """Return the request with the valid variables of its path."""
    found: Message = route.policy.request()
    for field in route.path_fields:
        try:
            found.MergeFrom(route.policy.request(**path_reader((field,))(variables)))
        except (Malformed, ValueError):
            continue
    return found
