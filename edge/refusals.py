"""Reports commands to the audit log that this edge refuses while decoding them.

A report is a separate call that the client waits for, so a flood of malformed requests costs no more than one of
well-formed requests. Requests without a credential are not reported, because their caller is unknown.
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
from server.platform.call import AUTHORIZATION, SESSIONS
from server.platform.channels import Channel, error_of
from server.platform.errors import InvalidArgument, PermissionDenied, ServiceError, Unauthenticated

if TYPE_CHECKING:
    from gnomon.engine.v1.refusal_service_pb2_grpc import RefusalServiceAsyncStub

logger = logging.getLogger(__name__)

# The longest time that the client waits for a report.
SECONDS = 2.0
LONGEST_DETAIL = 2_000

_CREDENTIALS = {AUTHORIZATION, SESSIONS}


class RefusalReports:
    def __init__(self, channel: Channel) -> None:
        self._service: RefusalServiceAsyncStub = RefusalServiceStub(cast("grpc.aio.Channel", channel))
        self._is_failing = False

    async def report(
        self, route: Route, request: web.Request, refusal: ServiceError, credential: Metadata
    ) -> None:
        """Return when the service has the report, or the report failed.

        `credential` is metadata of a caller that has one without an Authorization header.
        """
        metadata = readable_metadata_of(request.headers, request[REQUEST_ID]) + credential
        if dict(metadata).keys().isdisjoint(_CREDENTIALS):
            return
        report = pb.ReportRefusalRequest(
            rpc=route.policy.path,
            request=_named(route, request.match_info).SerializeToString(),
            reason=refusal.reason,
            detail=printable(refusal.detail)[:LONGEST_DETAIL],
        )
        try:
            await self._service.ReportRefusal(report, timeout=SECONDS, metadata=metadata)
        except grpc.RpcError as failure:
            self._fail(error_of(failure))
        else:
            self._is_failing = False

    def _fail(self, error: ServiceError) -> None:
        """Log the first of several consecutive failures."""
        if isinstance(error, Unauthenticated | PermissionDenied | InvalidArgument):
            return
        if not self._is_failing:
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
