"""Unary calls with token, tenant, idempotency key, deadline and retries.

A call is repeated after UNAVAILABLE, after CANCELLED (a server that stops ends its open calls so), and after
RESOURCE_EXHAUSTED that a service answered: gRPC itself answers RESOURCE_EXHAUSTED to messages that are too large, and a
repeat does not help them. All attempts of a command carry one idempotency key, so the command takes effect once.
"""

import asyncio
import uuid
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, TypeVar

import grpc

from gnomon.client.back_off import BackOff
from gnomon.client.credentials import AccessTokens
from gnomon.client.errors import DeadlineExceeded, RequestFailed, request_failed

if TYPE_CHECKING:
    from grpc.aio import UnaryUnaryMultiCallable

Request = TypeVar("Request")
Response = TypeVar("Response")
Metadata = tuple[tuple[str, str], ...]

_TRANSIENT = (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.CANCELLED)


class Calls:
    """Makes calls for one caller in one tenant. Deadlines are in seconds; every method raises RequestFailed."""

    def __init__(
        self, tokens: AccessTokens | None, *, tenant_id: str = "", back_off: BackOff | None = None
    ) -> None:
        self._tokens = tokens
        self._tenant: Metadata = (("x-tenant-id", tenant_id),) if tenant_id else ()
        self._back_off = back_off or BackOff()

    async def once(
        self, method: "UnaryUnaryMultiCallable[Request, Response]", request: Request, *, seconds: float
    ) -> Response:
        """Call a method without retries."""
        return await self._attempt(method, request, (), ends_at=_now() + seconds)

    async def query(
        self, method: "UnaryUnaryMultiCallable[Request, Response]", request: Request, *, seconds: float
    ) -> Response:
        """Call a method that changes nothing."""
        return await self._repeated(method, request, (), seconds=seconds)

    async def command(
        self,
        method: "UnaryUnaryMultiCallable[Request, Response]",
        request: Request,
        *,
        seconds: float,
        key: str | None = None,
    ) -> Response:
        """Call a command under one idempotency key, a new one by default."""
        metadata = (("idempotency-key", key or uuid.uuid4().hex),)
        return await self._repeated(method, request, metadata, seconds=seconds)

    async def commands(
        self,
        method: "UnaryUnaryMultiCallable[Request, Response]",
        request: Request,
        *,
        refusals_in: Callable[[Response], Sequence[RequestFailed | None]],
        seconds: float,
        key: str,
    ) -> Response:
        """Call a method that carries out several commands; repeat it while that may help the commands that failed."""
        ends_at, failures = _now() + seconds, 0
        while True:
            answer = await self.command(method, request, seconds=ends_at - _now(), key=key)
            failures += 1
            pause = self._back_off.seconds(failures)
            is_final = not any(refusal and is_transient(refusal) for refusal in refusals_in(answer))
            if is_final or _now() + pause >= ends_at:
                return answer
            await asyncio.sleep(pause)

    async def metadata(self) -> Metadata:
        """Credential and tenant, for calls through the generated stubs."""
        return self._identification(await self._token())

    async def _repeated(
        self,
        method: "UnaryUnaryMultiCallable[Request, Response]",
        request: Request,
        metadata: Metadata,
        *,
        seconds: float,
    ) -> Response:
        ends_at = _now() + seconds
        failures = 0
        while True:
            try:
                return await self._attempt(method, request, metadata, ends_at=ends_at)
            except RequestFailed as error:
                failures += 1
                pause = self._back_off.seconds(failures)
                if not is_transient(error) or _now() + pause >= ends_at:
                    raise
            await asyncio.sleep(pause)

    async def _attempt(
        self,
        method: "UnaryUnaryMultiCallable[Request, Response]",
        request: Request,
        metadata: Metadata,
        *,
        ends_at: float,
    ) -> Response:
        """One call, and a second one when the server refuses a token that can be renewed."""
        token = await self._token_before(ends_at)
        try:
            return await self._call(
                method, request, (*self._identification(token), *metadata), ends_at=ends_at
            )
        except RequestFailed as error:
            if error.code is not grpc.StatusCode.UNAUTHENTICATED or not self._is_renewed(token):
                raise
        token = await self._token_before(ends_at)
        return await self._call(method, request, (*self._identification(token), *metadata), ends_at=ends_at)

    async def _call(
        self,
        method: "UnaryUnaryMultiCallable[Request, Response]",
        request: Request,
        metadata: Metadata,
        *,
        ends_at: float,
    ) -> Response:
        try:
            return await method(request, timeout=max(ends_at - _now(), 0.0), metadata=metadata)
        except grpc.aio.AioRpcError as failure:
            raise request_failed(failure) from failure

    async def _token_before(self, ends_at: float) -> str:
        try:
            async with asyncio.timeout_at(ends_at):
                return await self._token()
        except TimeoutError as timeout:
            raise DeadlineExceeded(
                grpc.StatusCode.DEADLINE_EXCEEDED, "", "the issuer gave no token in time"
            ) from timeout

    async def _token(self) -> str:
        return await self._tokens.current() if self._tokens else ""

    def _is_renewed(self, token: str) -> bool:
        return self._tokens is not None and self._tokens.reject(token)

    def _identification(self, token: str) -> Metadata:
        credential = (("authorization", f"Bearer {token}"),) if token else ()
        return (*credential, *self._tenant)


def is_transient(error: RequestFailed) -> bool:
    """Whether a repeat of the request may succeed."""
    if error.code is grpc.StatusCode.RESOURCE_EXHAUSTED:
        return error.reason != ""
    return error.code in _TRANSIENT


def _now() -> float:
    return asyncio.get_running_loop().time()
