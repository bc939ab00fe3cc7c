"""Who asked for a command, and how: what the audit log keeps of it, and what tells a repeat."""

from dataclasses import dataclass

from server.partition.idempotency import IdempotencyKey


@dataclass(frozen=True, slots=True)
class Origin:
    """`operation_reference` is the caller's own number for what it does."""

    tenant_id: str
    actor_id: str
    request_id: str
    idempotency: IdempotencyKey | None = None
    operation_reference: int | None = None
