"""Callers of commands that take effect in a later command, for the audit log and the detection of repeats."""

import msgspec


class Requester(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """A caller; without an id, the caller is unknown.

    `request_hash` distinguishes requests with the same idempotency key.
    """

    actor_type: str = "UNKNOWN"
    actor_id: str = ""
    operation_reference: int | None = None
    request_id: str | None = None
    idempotency_key: str = ""
    request_hash: bytes = b""

    def repeats(self, other: "Requester | None") -> bool:
        """Whether the other request is a repeat of the same request."""
        if other is None or not self.idempotency_key:
            return False
        return (self.idempotency_key, self.request_hash) == (other.idempotency_key, other.request_hash)
