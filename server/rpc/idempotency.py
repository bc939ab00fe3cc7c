"""The idempotency key of a call, with a hash that tells its request from others."""

import hashlib

from google.protobuf.message import Message

from server.partition.idempotency import IdempotencyKey
from server.platform.call import Call


def idempotency_key(request: Message, call: Call) -> IdempotencyKey | None:
    if call.idempotency_key is None:
        return None
    content = call.policy.path.encode() + b"\0" + request.SerializeToString(deterministic=True)
    return IdempotencyKey(call.tenant_id, call.idempotency_key, hashlib.sha256(content).digest())
