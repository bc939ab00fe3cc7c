"""The origin of a command: its caller, the idempotency key of the call, and a hash of the request.

It is created when the command is submitted to its partition, which is responsible for the audit entry from
then on.
"""

import hashlib
from functools import cache

from google.protobuf.descriptor import Descriptor
from google.protobuf.message import Message

from server.partition.idempotency import IdempotencyKey
from server.partition.origin import Origin
from server.platform.call import Call

_REFERENCE = "operation_reference"


def origin_of(request: Message, call: Call) -> Origin:
    call.is_submitted = True
    return Origin(
        tenant_id=call.tenant_id,
        actor_id=call.principal.actor_id,
        request_id=call.request_id,
        idempotency=_idempotency_key(request, call),
        operation_reference=operation_reference_of(request),
        actor_type=call.principal.actor_type,
    )


def operation_reference_of(request: Message) -> int | None:
    """The caller's operation reference, if the request has a field for it."""
    return getattr(request, _REFERENCE) or None if _has_reference(request.DESCRIPTOR) else None


@cache
def _has_reference(message: Descriptor) -> bool:
    return _REFERENCE in message.fields_by_name


def _idempotency_key(request: Message, call: Call) -> IdempotencyKey | None:
    if call.idempotency_key is None:
        return None
    content = call.policy.path.encode() + b"\0" + request.SerializeToString(deterministic=True)
    return IdempotencyKey(call.tenant_id, call.idempotency_key, hashlib.sha256(content).digest())
