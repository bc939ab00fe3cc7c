"""A channel to no service, for a table of routes that is described and not served."""

from collections.abc import Callable

from google.protobuf.message import Message

from server.platform.channels import Channel
from server.platform.channels.port import Metadata, UnaryCall


class Unconnected(Channel):
    def unary_unary(
        self,
        method: str,
        request_serializer: Callable[[Message], bytes] | None = None,  # noqa: ARG002  # as generated code calls it
        response_deserializer: Callable[[bytes], Message] | None = None,  # noqa: ARG002
        _registered_method: bool | None = False,  # noqa: FBT001, FBT002
    ) -> UnaryCall[Message, Message]:
        async def call(
            request: Message,  # noqa: ARG001
            *,
            timeout: float | None = None,  # noqa: ASYNC109, ARG001
            metadata: Metadata | None = None,  # noqa: ARG001
        ) -> Message:
            raise TypeError(f"expected a service, and {method} has none here")

        return call
