"""The REST handler: decode, call, encode. One function per route, compiled at start-up."""

from collections.abc import Awaitable, Callable, Sequence
from http import HTTPStatus
from operator import attrgetter
from typing import Any

import grpc
from aiohttp import web
from google.protobuf.descriptor import Descriptor
from google.protobuf.message import Message
from multidict import CIMultiDict, istr

from edge.compression import json_answer, may_be_compressed, plain_answer
from edge.conditional import Respond, conditionally
from edge.config import EdgeConfig, Release
from edge.contract import JSON, Route
from edge.download import UNTRUSTED, download_of
from edge.metadata import Metadata, metadata_of
from edge.problem import REQUEST_ID, Handler, body_of
from edge.refusals import RefusalReports
from edge.transcode import Encode, ItemRows, decoder_of, encoder_of, item_of, page_encoder_of
from server.platform.channels import Channel, LocalChannel, error_of
from server.platform.errors import DeadlineExceeded, ServiceError, Unavailable
from server.platform.policy import Policy

_CONTENT_TYPE = istr("Content-Type")
_REQUEST_ID = istr("X-Request-Id")
_CACHE_CONTROL = istr("Cache-Control")

Asked = tuple[Message, Metadata]
Read = Callable[[web.Request], Awaitable[Asked]]
# Makes the call with its metadata.
Ask = Callable[[Message, Metadata], Awaitable[Any]]
# Credentials of a request beside its Authorization header.
MoreMetadata = Callable[[web.Request], Awaitable[Metadata]]


async def no_more(_: web.Request) -> Metadata:
    return []


def handler_of(
    route: Route,
    channel: Channel,
    config: EdgeConfig,
    reports: RefusalReports | None = None,
    *,
    release: Release = Release.CAMUNDA_8_9,
    more: MoreMetadata = no_more,
) -> Handler:
    """Compile the handler of a route; it raises ServiceError, which `problem.guarded` turns into a response.

    It reports requests that it cannot decode to `reports`, and answers with the refusal that comes back. Answers are
    those of `release`. Calls have the metadata of `more`, too.
    """
    policy = route.policy
    read, (ask, respond) = _reader(route, more), _exchange(route, channel, config, release)
    if reports is not None and policy.needs_principal:
        read = _settled(read, route, reports, more)

    async def handle(request: web.Request) -> web.StreamResponse:
        message, metadata = await read(request)
        try:
            answer = await ask(message, metadata)
        except grpc.RpcError as failure:
            raise _refusal(error_of(failure), policy) from failure
        return respond(answer, request)

    return handle


def _reader(route: Route, more: MoreMetadata) -> Read:
    decode, is_command = decoder_of(route), route.policy.is_command

    async def read(request: web.Request) -> Asked:
        headers = request.headers
        metadata = metadata_of(headers, request[REQUEST_ID], is_command=is_command)
        message = decode(
            await body_of(request),
            headers.get(_CONTENT_TYPE, ""),
            path=request.match_info,
            query=request.query,
        )
        return message, metadata + await more(request)

    return read


def _settled(read: Read, route: Route, reports: RefusalReports, more: MoreMetadata) -> Read:
    async def read_or_report(request: web.Request) -> Asked:
        try:
            return await read(request)
        except ServiceError as refusal:
            settled = await reports.settled(route, request, refusal, await more(request))
            raise settled from refusal

    return read_or_report


def _exchange(route: Route, channel: Channel, config: EdgeConfig, release: Release) -> tuple[Ask, Respond]:
    policy = route.policy
    timeout = config.long_call_timeout_seconds if route.may_wait else config.call_timeout_seconds
    item = item_of(route)
    if item is not None and isinstance(channel, LocalChannel):
        return _asking_for_rows(route, channel, item, timeout, release), _encoding_responder(route, _itself)
    call = channel.unary_unary(policy.path, policy.request.SerializeToString, policy.response.FromString)
    return lambda message, metadata: call(message, timeout=timeout, metadata=metadata), _responder(
        route, release
    )


def _asking_for_rows(
    route: Route, channel: LocalChannel, item: Descriptor, timeout: float, release: Release
) -> Ask:
    """Return the function that asks for a page and returns its body."""
    call, encode = channel.unary_rows(route.policy.path), page_encoder_of(route, release)

    async def ask(message: Message, metadata: Metadata) -> bytes:
        rows = ItemRows(item, release)
        return encode(await call(message, rows, timeout=timeout, metadata=metadata), rows)

    return ask


def _itself(body: bytes) -> bytes:
    return body


def _responder(route: Route, release: Release) -> Respond:
    content = route.download_field
    if content is not None:
        respond = download_of(route, content)
    else:
        respond = _encoding_responder(route, encoder_of(route, release))
    return conditionally(respond, route.etag_field) if route.etag_field else respond


def _encoding_responder(route: Route, encode: Encode) -> Respond:
    status_of = _status(route)
    empty = route.empty_status
    fixed_headers = _fixed_headers(route)
    item = item_of(route)
    answered = json_answer if item is not None and may_be_compressed(item) else plain_answer

    def respond(answer: Message, request: web.Request) -> web.Response:
        own = (_REQUEST_ID, request[REQUEST_ID])
        body = encode(answer)
        if body is None:
            return web.Response(status=empty, headers=CIMultiDict((own, (_CACHE_CONTROL, "no-store"))))
        headers = CIMultiDict((*fixed_headers, own))
        return answered(body, request, status=status_of(answer), headers=headers)

    return respond


def _status(route: Route) -> Callable[[Message], int]:
    success, field = route.status, route.failures_field
    if field is None:
        return lambda _: success
    failures_of: Callable[[Message], Sequence[Message]] = attrgetter(field.name)
    return lambda answer: HTTPStatus.MULTI_STATUS if failures_of(answer) else success


def _fixed_headers(route: Route) -> tuple[tuple[istr, str], ...]:
    if route.media_type == JSON:
        return ((_CONTENT_TYPE, JSON), (_CACHE_CONTROL, "no-store"))
    return (
        (_CONTENT_TYPE, f"{route.media_type}; charset=utf-8"),
        (_CACHE_CONTROL, "no-store"),
        # Text comes from deployed files.
        *UNTRUSTED,
    )


def _refusal(error: ServiceError, policy: Policy) -> ServiceError:
    """Follow the contract: only an operation that waits may answer DEADLINE_EXCEEDED."""
    if isinstance(error, DeadlineExceeded) and error.reason not in policy.rejections:
        return Unavailable(error.detail)
    return error
