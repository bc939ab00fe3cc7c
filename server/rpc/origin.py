"""Who asked for a command: its caller, with the idempotency key of the call and a hash that tells its request."""

import hashlib

from google.protobuf.message import Message

from server.partition.idempotency import IdempotencyKey
from server.partition.origin import Origin
from server.platform.call import Call


def origin_of(request: Message, call: Call) -> Origin:
    return Origin(
        tenant_id=call.tenant_id,
        actor_id=call.principal.subject,
        request_id=call.request_id,
        idempotency=_idempotency_key(request, call),
        operation_reference=getattr(request, "operation_reference", None) or None,
    )


def _idempotency_key(request: Message, call: Call) -> IdempotencyKey | None:
    if call.idempotency_key is None:
        return None
    content = call.policy.path.encode() + b"\0" + request.SerializeToString(deterministic=True)
    return IdempotencyKey(call.tenant_id, call.idempotency_key, hashlib.sha256(content).digest())
