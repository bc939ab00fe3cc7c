"""The caller of a command: its identity for the audit log, and its idempotency key."""

import msgspec

from server.engine.requesters import Requester
from server.partition.idempotency import IdempotencyKey
from server.platform.call import CLIENT


class Origin(msgspec.Struct, frozen=True, gc=False):
    """The caller of a command; `operation_reference` is a number that it chose, `actor_type` its kind."""

    tenant_id: str
    actor_id: str
    request_id: str
    idempotency: IdempotencyKey | None = None
    operation_reference: int | None = None
    actor_type: str = CLIENT


def requester_of(origin: Origin) -> Requester:
    """The caller as the engine keeps it until the command takes effect."""
    key = origin.idempotency
    return Requester(
        origin.actor_type,
        origin.actor_id,
        origin.operation_reference,
        origin.request_id,
        "" if key is None else key.key,
        b"" if key is None else key.request_hash,
    )
