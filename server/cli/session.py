"""A connection to a server: every call of a generated stub gets a token, a tenant and a deadline."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TypeVar

import grpc
from google.protobuf.message import Message

from server.cli.options import ADDRESS, ClientOptions
from server.cli.tokens import Tokens
from server.platform.call import AUTHORIZATION, TENANT
from server.platform.channels import error_of
from server.platform.errors import Unauthenticated

CALL_SECONDS = 30.0
MAX_MESSAGE_BYTES = 64 * 1024 * 1024
_OPTIONS = (
    # An HTTP proxy from the environment does not support gRPC.
    ("grpc.enable_http_proxy", 0),
    ("grpc.max_receive_message_length", MAX_MESSAGE_BYTES),
)

Request = TypeVar("Request", bound=Message)
Response = TypeVar("Response", bound=Message)


class Session:
    """A connection to a server; stubs are created on its `channel` and called through `call`."""

    def __init__(self, channel: grpc.aio.Channel, options: ClientOptions) -> None:
        self.channel = channel
        self._tokens = Tokens(channel, options)
        self._tenant = options.tenant

    @property
    def tenant(self) -> str:
        """The tenant id, empty for the default tenant."""
        return self._tenant or ""

    async def call(
        self,
        method: grpc.aio.UnaryUnaryMultiCallable[Request, Response],
        request: Request,
        *,
        seconds: float = CALL_SECONDS,
    ) -> Response:
        """Call an RPC; raises the ServiceError with which the server refused it."""
        try:
            return await self._call(method, request, seconds)
        except Unauthenticated:
            # A restarted server has new keys, so the token is requested again.
            self._tokens.forget()
            return await self._call(method, request, seconds)

    async def _call(
        self, method: grpc.aio.UnaryUnaryMultiCallable[Request, Response], request: Request, seconds: float
    ) -> Response:
        metadata = [(AUTHORIZATION, await self._tokens.authorization())]
        if self._tenant is not None:
            metadata.append((TENANT, self._tenant))
        try:
            return await method(request, timeout=seconds, metadata=tuple(metadata))
        except grpc.RpcError as failure:
            raise error_of(failure) from failure


@asynccontextmanager
async def connected(options: ClientOptions) -> AsyncIterator[Session]:
    async with grpc.aio.insecure_channel(options.address or ADDRESS, options=_OPTIONS) as channel:
        yield Session(channel, options)
