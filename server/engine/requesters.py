"""Callers whose command comes to its end in a later one: they are in the audit log then, and their repeats are known."""

import msgspec


class Requester(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """Without a name it is nobody known. `request_hash` tells requests with one idempotency key apart."""

    actor_type: str = "UNKNOWN"
    actor_id: str = ""
    operation_reference: int | None = None
    request_id: str | None = None
    idempotency_key: str = ""
    request_hash: bytes = b""

    def repeats(self, other: "Requester | None") -> bool:
        """Whether it is the same request again."""
        if other is None or not self.idempotency_key:
            return False
        return (self.idempotency_key, self.request_hash) == (other.idempotency_key, other.request_hash)
