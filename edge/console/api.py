"""The HTTP API in this process, called with the session of a browser.

An operation has the same routes, permissions, bounds and documents as for programs: a page shows what its user may see.
"""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, cast

import grpc
import orjson
from aiohttp import hdrs, web
from google.protobuf.message import Message
from multidict import CIMultiDict, MultiDict

from edge.config import EdgeConfig
from edge.contract import JSON, Route, routes
from edge.metadata import Metadata
from edge.problem import REQUEST_ID
from edge.transcode import decoder_of, encoder_of
from gnomon.identity.v1 import directory_service_pb2 as pb
from gnomon.identity.v1.directory_service_pb2_grpc import DirectoryServiceStub
from server.platform import call as metadata_names
from server.platform.channels import Channel, error_of

if TYPE_CHECKING:
    from gnomon.identity.v1.directory_service_pb2_grpc import DirectoryServiceAsyncStub

_WAIT_SECONDS = 15

# A JSON document of the API, read by templates.
Document = Any
CredentialOf = Callable[[web.Request], Awaitable[Metadata]]

# The function that builds the credential; a page has already checked where its request came from.
_CREDENTIAL_HEADERS = (hdrs.COOKIE, hdrs.X_FORWARDED_FOR, hdrs.X_FORWARDED_HOST, hdrs.HOST)


@dataclass(frozen=True, slots=True)
class _Operation:
    call: Callable[..., Awaitable[Message]]
    decode: Callable[..., Message]
    encode: Callable[[Message], bytes | None]
    is_json: bool


class Api:
    """`credential_of` returns the metadata of a request's session."""

    def __init__(self, channel: Channel, config: EdgeConfig, credential_of: CredentialOf) -> None:
        self._channel = channel
        self._directory: DirectoryServiceAsyncStub = DirectoryServiceStub(cast("grpc.aio.Channel", channel))
        self._config = config
        self._credential_of = credential_of
        self._operations: dict[str, _Operation] = {}

    def caller(self, request: web.Request, tenant: str, csrf_token: str = "") -> "Caller":
        """Return the API for the person of a request; a change needs the CSRF token of the session.

        Without a tenant, the call is for the user's only tenant.
        """
        headers = CIMultiDict(
            (name, request.headers[name]) for name in _CREDENTIAL_HEADERS if name in request.headers
        )
        if tenant:
            headers["x-tenant-id"] = tenant
        if csrf_token:
            headers["x-csrf-token"] = csrf_token
        return Caller(self, request.clone(headers=headers), request[REQUEST_ID], tenant)

    async def call(self, operation: _Operation, message: Message, metadata: Metadata) -> Message:
        try:
            return await operation.call(message, timeout=self._config.call_timeout_seconds, metadata=metadata)
        except grpc.RpcError as failure:
            raise error_of(failure) from failure

    async def credential(self, request: web.Request) -> Metadata:
        return await self._credential_of(request)

    async def await_change(self, request: web.Request, version: int) -> int:
        """Wait for a change that may affect the person of a request, and return its version; raises ServiceError."""
        credential = dict(await self.credential(request))
        sessions = (session.partition("=") for session in credential.get(metadata_names.SESSIONS, "").split())
        message = pb.AwaitSignedInChangeRequest(
            sessions=[pb.PresentedSession(tenant_id=tenant, cookie=cookie) for tenant, _, cookie in sessions],
            peer_address=credential.get(metadata_names.BROWSER_ADDRESS, ""),
            version=version,
            wait_secs=_WAIT_SECONDS,
        )
        seconds = _WAIT_SECONDS + self._config.call_timeout_seconds
        try:
            return (await self._directory.AwaitSignedInChange(message, timeout=seconds)).version
        except grpc.RpcError as failure:
            raise error_of(failure) from failure

    def operation(self, name: str) -> _Operation:
        if name not in self._operations:
            route = _routes_by_name()[name]
            policy = route.policy
            self._operations[name] = _Operation(
                self._channel.unary_unary(
                    policy.path, policy.request.SerializeToString, policy.response.FromString
                ),
                decoder_of(route),
                encoder_of(route),
                route.media_type == JSON,
            )
        return self._operations[name]


class Caller:
    """A person who calls the API in a tenant."""

    def __init__(self, api: Api, request: web.Request, request_id: str, tenant: str) -> None:
        self._api = api
        self._request = request
        self._own = [(metadata_names.REQUEST_ID, request_id)]
        if tenant:
            self._own.append((metadata_names.TENANT, tenant))

    async def __call__(self, name: str, body: Mapping[str, object] | None = None, /, **path: str) -> Document:
        """Call an operation by the name of its RPC; raises ServiceError.

        `path` are the variables of its path. Returns the document of the response, None for an empty one.
        """
        encoded = await self._encoded(name, body, path)
        if encoded is None:
            return None
        return orjson.loads(encoded) if self._api.operation(name).is_json else encoded.decode()

    async def await_change(self, version: int) -> int:
        """Wait for a change that may affect the person, at most some seconds, and return its version."""
        return await self._api.await_change(self._request, version)

    async def metadata(self) -> Metadata:
        """Return the metadata with which a call has the person's credential and the tenant."""
        return [*self._own, *await self._api.credential(self._request)]

    async def page(self, name: str, body: Mapping[str, object]) -> Document:
        """Call a search whose total is counted up to a bound only: `hasMoreTotalItems` says that there are more."""
        encoded = await self._encoded(name, body, {}, (metadata_names.BOUNDED_TOTAL, "yes"))
        return orjson.loads(encoded or b"")

    async def encoded(self, name: str, body: Mapping[str, object], /, **path: str) -> bytes:
        """Call an operation with a response, and return the response as text, with every digit of its numbers."""
        return await self._encoded(name, body, path) or b""

    async def _encoded(
        self,
        name: str,
        body: Mapping[str, object] | None,
        path: Mapping[str, str],
        *also: tuple[str, str],
    ) -> bytes | None:
        operation = self._api.operation(name)
        content = b"" if body is None else orjson.dumps(body)
        message = operation.decode(content, JSON if content else "", path=path, query=MultiDict[str]())
        metadata = [*also, *await self.metadata()]
        return operation.encode(await self._api.call(operation, message, metadata))


@cache
def _routes_by_name() -> Mapping[str, Route]:
    """Return the first route of each RPC."""
    return {route.policy.name: route for route in reversed(routes())}
