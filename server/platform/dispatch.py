"""Dispatch from a gRPC path through the interceptors to a servicer's method, the same for every channel.

A servicer is any object with one coroutine method per RPC, named in snake case: `async def fail_job(self,
request: FailJobRequest, call: Call) -> FailJobResponse`. The method of a streaming RPC writes its responses:
`async def stream_jobs(self, request: …, call: Call, stream: ResponseStream[…]) -> None`.
"""

import logging
import re
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from time import perf_counter
from typing import Any, Generic, Protocol, TypeVar

from google.protobuf.descriptor import ServiceDescriptor
from google.protobuf.message import Message
from opentelemetry.trace import SpanKind

from server.platform.call import ANONYMOUS, Call, Principal, RowReceiver
from server.platform.call_metrics import CallMetrics
from server.platform.errors import Internal, ServiceError, TenantMismatch
from server.platform.metrics import Metrics
from server.platform.open_calls import OpenCalls
from server.platform.peer import UNKNOWN, Peer
from server.platform.policy import Policy, policies_of
from server.platform.search_places import SearchPlaces
from server.platform.tracing import Tracer

logger = logging.getLogger(__name__)

R = TypeVar("R")
Answer = TypeVar("Answer", bound=Message)

Servicer = Callable[[Message, Call], Awaitable[Message]]
StreamServicer = Callable[..., Awaitable[None]]
Serving = Coroutine[None, None, Message]
# Receives each call of an authenticated caller that was refused before a partition had its command.
Refused = Callable[[Call, ServiceError], None]


class Interceptor(Protocol):
    """A check before the servicer: raises to refuse the call, or completes the call.

    It returns an awaitable only if it has to wait.
    """

    def __call__(self, call: Call, /) -> Awaitable[None] | None: ...


@dataclass(frozen=True, slots=True)
class Operation:
    """A unary RPC with the method that serves it, None when the current mode does not offer the RPC."""

    policy: Policy
    serve: Servicer | None
    is_search: bool = False


@dataclass(frozen=True, slots=True)
class StreamOperation:
    """A server-streaming RPC with the method that serves it, None when the current mode does not offer it."""

    policy: Policy
    serve: StreamServicer | None


@dataclass(frozen=True, slots=True)
class ResponseStream(Generic[Answer]):
    """The response stream of a call.

    `write` returns when the peer's flow control has accepted the message. `admit` repeats the checks of the
    interceptors and raises ServiceError when the caller has lost its access.
    """

    write: Callable[[Answer], Awaitable[None]]
    admit: Callable[[], Awaitable[None]]


def unnoticed(_: Call, __: ServiceError) -> None:
    pass


class Dispatcher:
    """Dispatches calls of all RPCs of a process."""

    def __init__(
        self,
        servicers: Mapping[ServiceDescriptor, object | None],
        interceptors: Sequence[Interceptor],
        *,
        refused: Refused = unnoticed,
        open_calls: OpenCalls | None = None,
        searches: SearchPlaces | None = None,
        metrics: Metrics | None = None,
        tracer: Tracer | None = None,
    ) -> None:
        served = [
            (policy, _method(policy, servicer))
            for service, servicer in servicers.items()
            for policy in policies_of(service).values()
        ]
        self.operations: Mapping[str, Operation] = {
            policy.path: Operation(policy, serve, policy.is_search)
            for policy, serve in served
            if not policy.is_stream
        }
        self.streams: Mapping[str, StreamOperation] = {
            policy.path: StreamOperation(policy, serve) for policy, serve in served if policy.is_stream
        }
        self.services = tuple(servicers)
        self._interceptors = tuple(interceptors)
        self._refused = refused
        self._open_calls = open_calls
        self._searches = searches
        self._metrics = CallMetrics(metrics) if metrics is not None else None
        self._tracer = tracer

    def dispatch(
        self,
        path: str,
        request: Message,
        metadata: Mapping[str, str],
        *,
        time_remaining: float | None = None,
        principal: Principal = ANONYMOUS,
        peer: Peer = UNKNOWN,
        rows: RowReceiver | None = None,
    ) -> Serving:
        """Serve one unary call; awaiting it raises only ServiceError."""
        operation = self.operations[path]
        call = Call(
            operation.policy,
            request,
            metadata,
            time_remaining,
            principal,
            peer,
            rows=rows,
            open_calls=self._open_calls,
        )
        serve = operation.serve
        if operation.is_search and serve is not None and self._searches is not None:
            serve = partial(_in_place, serve, self._searches)
        serving = self._served(path, serve, call)
        if self._metrics is not None:
            serving = _measured(serving, path, self._metrics)
        if self._tracer is not None:
            serving = _traced(serving, call, self._tracer)
        return serving

    async def stream(
        self,
        path: str,
        request: Message,
        metadata: Mapping[str, str],
        write: Callable[[Message], Awaitable[None]],
        *,
        time_remaining: float | None = None,
        peer: Peer = UNKNOWN,
    ) -> None:
        """Serve one streaming call, whose responses go to `write`; raises only ServiceError.

        Streaming calls are not traced, because their spans would last as long as the client stays connected.
        """
        operation = self.streams[path]
        call = Call(
            operation.policy, request, metadata, time_remaining, peer=peer, open_calls=self._open_calls
        )

        async def admit() -> None:
            again = Call(operation.policy, request, metadata, peer=peer)
            await self._admit(again)
            if again.tenant_id != call.tenant_id:
                raise TenantMismatch(f"the caller may not act in tenant '{call.tenant_id}' any more")

        serve = operation.serve and partial(operation.serve, stream=ResponseStream(write, admit))
        serving = self._served(path, serve, call)
        await (serving if self._metrics is None else _measured(serving, path, self._metrics))

    async def _admit(self, call: Call) -> None:
        for intercept in self._interceptors:
            waiting = intercept(call)
            if waiting is not None:
                await waiting

    async def _served(
        self, path: str, serve: Callable[[Message, Call], Awaitable[R]] | None, call: Call
    ) -> R:
        try:
            await self._admit(call)
            if serve is None:
                raise LookupError(f"no servicer serves {path}")  # noqa: TRY301  # a fault of the wiring
            stays_open = call.policy.is_long_polling or call.policy.is_stream
            if stays_open and call.open_calls is not None and call.principal.depends_on:
                async with call.open_calls.watched(call):
                    return await serve(call.request, call)
            return await serve(call.request, call)
        except ServiceError as refusal:
            if call.policy.is_audited and call.principal is not ANONYMOUS and not call.is_submitted:
                self._refused(call, refusal)
            raise
        except Exception as error:
            logger.exception("call failed", extra={"rpc": path, "request_id": call.request_id})
            raise Internal from error


async def _in_place(serve: Servicer, searches: SearchPlaces, request: Message, call: Call) -> Message:
    async with searches.place(call):
        return await serve(request, call)


async def _measured(serving: Coroutine[None, None, R], path: str, metrics: CallMetrics) -> R:
    began, failure = perf_counter(), None
    try:
        return await serving
    except ServiceError as error:
        failure = error
        raise
    finally:
        metrics.observe(path, perf_counter() - began, failure)


async def _traced(serving: Serving, call: Call, tracer: Tracer) -> Message:
    with tracer.span(call.policy.path.removeprefix("/"), SpanKind.SERVER, carrier=call.metadata) as span:
        try:
            return await serving
        finally:
            span.set_attribute("gnomon.request_id", call.request_id)


def _method(policy: Policy, servicer: object | None) -> Callable[..., Awaitable[Any]] | None:
    return getattr(servicer, snake_case(policy.name), None)


@cache
def snake_case(name: str) -> str:
    return re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower()
