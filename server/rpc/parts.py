"""Calls that carry several commands: each command is served like a call of its own."""

from collections.abc import Callable
from dataclasses import replace

from google.protobuf.message import Message

from server.platform.call import IDEMPOTENCY_KEY, Call
from server.platform.policy import Policy

# Metadata cannot hold this character, so the key of a part is never the key of another call.
_SEPARATOR = "\n"


def parts_of(call: Call, policy: Policy) -> Callable[[int, Message], Call]:
    """Make the calls of the parts by their number and request; `policy` is that of the RPC for one command.

    With an idempotency key each part has its own, which a repeat of the whole call gives it again.
    """

    def part(number: int, request: Message) -> Call:
        metadata, key = call.metadata, call.idempotency_key
        if key is not None:
            metadata = {**metadata, IDEMPOTENCY_KEY: f"{key}{_SEPARATOR}{number}"}
        return replace(call, policy=policy, request=request, metadata=metadata, is_submitted=False)

    return part
