"""Access tokens of a client by the client credentials grant (RFC 6749 §4.4)."""

import asyncio

import grpc

from gnomon.identity.v1 import token_service_pb2 as pb
from gnomon.identity.v1.token_service_pb2_grpc import TokenServiceStub
from server.cli.failures import Unreachable
from server.cli.options import ADDRESS, ClientOptions
from server.platform.channels import error_of
from server.platform.errors import Unavailable

_CALL_SECONDS = 10.0
# A token is renewed after this share of its lifetime, so that it does not expire during a call.
_USED_SHARE = 0.8


class Tokens:
    """The current access token, requested on first use and renewed before it expires."""

    def __init__(self, channel: grpc.aio.Channel, options: ClientOptions) -> None:
        self._stub = TokenServiceStub(channel)
        self._options = options
        self._asking = asyncio.Lock()
        self._authorization = ""
        self._used_until = 0.0

    async def authorization(self) -> str:
        """Return the value of the authorization header; raises ServiceError."""
        async with self._asking:
            if not self._authorization or asyncio.get_running_loop().time() >= self._used_until:
                await self._ask()
            return self._authorization

    def forget(self) -> None:
        self._authorization = ""

    async def _ask(self) -> None:
        asked_at = asyncio.get_running_loop().time()
        try:
            answer = await self._stub.IssueToken(self._request(), timeout=_CALL_SECONDS)
        except grpc.RpcError as failure:
            error = error_of(failure)
            if isinstance(error, Unavailable):
                raise Unreachable(self._options.address or ADDRESS) from failure
            raise error from failure
        self._authorization = f"{answer.token_type} {answer.access_token}"
        self._used_until = asked_at + answer.expires_in * _USED_SHARE

    def _request(self) -> pb.IssueTokenRequest:
        return pb.IssueTokenRequest(
            grant_type="client_credentials",
            client_id=self._options.client_id,
            client_secret=self._options.client_secret,
            client_authentication=pb.CLIENT_AUTHENTICATION_SECRET_POST,
        )
