"""A channel to a dispatcher in the same process: no socket and no serialization, but the same interceptors.

Messages are passed by reference, so a servicer must neither keep nor change its request.
"""

from collections.abc import Awaitable, Callable
from typing import Protocol

from google.protobuf.message import Message

from server.platform.call import ANONYMOUS, Principal, RowReceiver
from server.platform.channels.failure import CallError
from server.platform.channels.port import Metadata, UnaryCall, UnaryChannel
from server.platform.deadlines import Deadlines
from server.platform.dispatch import Dispatcher
from server.platform.errors import DeadlineExceeded, ServiceError
from server.platform.peer import UNKNOWN, Peer


class RowsCall(Protocol):
    """Calls one RPC like `UnaryCall`; the response may lack items whose rows the receiver got."""

    def __call__(
        self,
        request: Message,
        rows: RowReceiver | None = None,
        *,
        timeout: float | None = None,
        metadata: Metadata | None = None,
    ) -> Awaitable[Message]: ...


class LocalChannel(UnaryChannel):
    """Calls the dispatcher in this process.

    `principal` is set if the caller is a service of this process, `peer` if the caller is its edge.
    """

    def __init__(
        self, dispatcher: Dispatcher, principal: Principal = ANONYMOUS, *, peer: Peer = UNKNOWN
    ) -> None:
        self._dispatcher = dispatcher
        self._principal = principal
        self._peer = peer
        self._deadlines = Deadlines()

    def unary_unary(
        self,
        method: str,
        request_serializer: Callable[[Message], bytes] | None = None,  # noqa: ARG002  # nothing is serialized
        response_deserializer: Callable[[bytes], Message] | None = None,  # noqa: ARG002
        _registered_method: bool | None = False,  # noqa: FBT001, FBT002  # as generated code calls it
    ) -> UnaryCall[Message, Message]:
        return self.unary_rows(method)

    def unary_rows(self, method: str) -> RowsCall:
        async def call(
            request: Message,
            rows: RowReceiver | None = None,
            *,
            timeout: float | None = None,  # noqa: ASYNC109  # as stubs call it
            metadata: Metadata | None = None,
        ) -> Message:
            try:
                if timeout is None:
                    return await self._dispatch(method, request, rows, metadata, None)
                with self._deadlines.within(timeout):
                    return await self._dispatch(method, request, rows, metadata, timeout)
            except ServiceError as error:
                raise CallError(error) from error
            except TimeoutError as error:
                late = DeadlineExceeded(f"{method} took longer than {timeout} s")
                raise CallError(late) from error

        return call

    def _dispatch(
        self,
        method: str,
        request: Message,
        rows: RowReceiver | None,
        metadata: Metadata | None,
        seconds: float | None,
    ) -> Awaitable[Message]:
        return self._dispatcher.dispatch(
            method,
            request,
            dict(metadata or ()),
            time_remaining=seconds,
            principal=self._principal,
            peer=self._peer,
            rows=rows,
        )
