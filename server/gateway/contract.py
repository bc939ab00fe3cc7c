"""Calls the contract's RPCs through the same interceptors as every other call.

Zeebe's clients name the tenant in the request, the contract's clients in the metadata of a call. A tenant in
a request is put in both places.
"""

from collections.abc import Awaitable, Callable, Iterator, Mapping
from typing import TypeVar, cast

from google.protobuf.message import Message

from server.gateway.errors import translated
from server.platform.call import TENANT, Call
from server.platform.dispatch import Dispatcher
from server.platform.policy import Policy

R = TypeVar("R", bound=Message)


class Contract:
    """Calls the contract's RPC that the current call stands for; raises ServiceError."""

    def __init__(self, dispatcher: Dispatcher) -> None:
        self._dispatcher = dispatcher

    async def call(self, request: Message, response_type: type[R], call: Call) -> R:
        path = call.policy.stands_for
        metadata = _metadata(self._dispatcher.operations[path].policy, request, call)
        with translated():
            answer = await self._dispatcher.dispatch(
                path, request, metadata, time_remaining=call.time_remaining, peer=call.peer
            )
        assert isinstance(answer, response_type)  # noqa: S101  # narrows the type
        return answer

    async def stream(self, request: Message, write: Callable[[R], Awaitable[None]], call: Call) -> None:
        """Make a streaming call whose responses go to `write`."""
        path = call.policy.stands_for
        metadata = _metadata(self._dispatcher.streams[path].policy, request, call)
        with translated():
            await self._dispatcher.stream(
                path,
                request,
                metadata,
                cast("Callable[[Message], Awaitable[None]]", write),
                time_remaining=call.time_remaining,
                peer=call.peer,
            )


def _metadata(policy: Policy, request: Message, call: Call) -> Mapping[str, str]:
    named = set(_named_tenants(policy, request))
    if TENANT in call.metadata or len(named) != 1:
        return call.metadata
    return {**call.metadata, TENANT: named.pop()}


def _named_tenants(policy: Policy, request: Message) -> Iterator[str]:
    for field in policy.tenant_fields:
        if field.is_repeated:
            yield from getattr(request, field.name)
        elif request.HasField(field.name):
            yield getattr(request, field.name)
