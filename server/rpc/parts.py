"""Calls with several commands: each command is served like a separate call."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import replace
from typing import TypeVar

from google.protobuf.message import Message
from google.rpc.status_pb2 import Status

from server.platform.call import IDEMPOTENCY_KEY, Call
from server.platform.dispatch import Refused
from server.platform.errors import ServiceError
from server.platform.interceptors import select_tenant
from server.platform.policy import Policy

Request = TypeVar("Request", bound=Message)
Response = TypeVar("Response", bound=Message)

# Metadata cannot hold this character, so the key of a part is never the key of another call.
_SEPARATOR = "\n"


async def outcomes_of(
    requests: Iterable[Request],
    call: Call,
    policy: Policy,
    *,
    serve: Callable[[Request, Call], Awaitable[Response]],
    refused: Refused,
) -> Sequence[Response | Status]:
    """Serve the parts of a call concurrently; returns the response or the refusal of each, in order.

    `policy` is the policy of the RPC for one command. With an idempotency key, each part gets its own derived
    key, which is the same in a repeat of the whole call. `refused` is called for parts that no partition
    received.
    """

    async def outcome(request: Request, part: Call) -> Response | Status:
        try:
            select_tenant(part)
            return await serve(request, part)
        except ServiceError as refusal:
            if not part.is_submitted:
                refused(part, refusal)
            return refusal.status()

    async with asyncio.TaskGroup() as tasks:
        outcomes = [
            tasks.create_task(outcome(request, _part(call, policy, request, number)))
            for number, request in enumerate(requests)
        ]
    return [each.result() for each in outcomes]


def _part(call: Call, policy: Policy, request: Message, number: int) -> Call:
    metadata, key = call.metadata, call.idempotency_key
    if key is not None:
        metadata = {**metadata, IDEMPOTENCY_KEY: f"{key}{_SEPARATOR}{number}"}
    return replace(call, policy=policy, request=request, metadata=metadata, is_submitted=False)
