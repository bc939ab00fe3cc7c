"""Passes the request id and the client certificate to the services.

With the request id their logs and the error page have the same id.
"""

from collections.abc import Callable
from contextvars import ContextVar

from google.protobuf.message import Message

from server.platform.call import REQUEST_ID
from server.platform.channels import Channel, UnaryCall
from server.platform.channels.port import Metadata, UnaryChannel

_current: ContextVar[str] = ContextVar("request id", default="")
_certificate: ContextVar[Metadata] = ContextVar("client certificate", default=())


def keep_request_id(request_id: str) -> None:
    """Set the request id for all further calls of the current task."""
    _current.set(request_id)


def keep_certificate(metadata: Metadata) -> None:
    """Set the metadata with the client's certificate for all further calls of the current task."""
    _certificate.set(metadata)


class IdentifiedChannel(UnaryChannel):
    """Channel that adds the request id and the client certificate of the calling task to each call."""

    def __init__(self, channel: Channel) -> None:
        self._channel = channel

    def unary_unary(
        self,
        method: str,
        request_serializer: Callable[[Message], bytes] | None = None,
        response_deserializer: Callable[[bytes], Message] | None = None,
        _registered_method: bool | None = False,  # noqa: FBT001, FBT002  # as generated code calls it
    ) -> UnaryCall[Message, Message]:
        call = self._channel.unary_unary(method, request_serializer, response_deserializer)

        async def identified(
            request: Message,
            *,
            timeout: float | None = None,  # noqa: ASYNC109  # as stubs call it
            metadata: Metadata | None = None,
        ) -> Message:
            own = ((REQUEST_ID, _current.get()),) if _current.get() else ()
            return await call(
                request, timeout=timeout, metadata=(*own, *_certificate.get(), *(metadata or ()))
            )

        return identified
