"""Audit log entries of identity changes.

The contract states for each operation its entity type and operation type. The ids come from the request.
"""

from dataclasses import dataclass
from datetime import datetime

from server.platform.call import Call, TenantId

LONGEST_ID = 256


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditNote:
    """An audit log entry before it is stored.

    `entity_id` and `related_entity_id` are None when the request has no valid id for them.
    """

    tenant_id: TenantId
    timestamp: datetime
    operation_type: str
    actor_type: str
    actor_id: str
    entity_type: str
    entity_id: str | None
    related_entity_type: str | None
    related_entity_id: str | None
    request_id: str


def note_of(call: Call, now: datetime) -> AuditNote:
    """Describe the change that a call asks for; raises ValueError for an operation without an audit rule."""
    rule = call.policy.audit
    if rule is None:
        raise ValueError(f"{call.policy.path} has no rule for the audit log")
    return AuditNote(
        tenant_id=call.tenant_id,
        timestamp=now,
        operation_type=rule.operation_type,
        actor_type=call.principal.actor_type,
        actor_id=call.principal.actor_id,
        entity_type=rule.entity_type,
        entity_id=_id(call, rule.entity_field),
        related_entity_type=rule.related_entity_type or None,
        related_entity_id=_id(call, rule.related_entity_field),
        request_id=call.request_id,
    )


def _id(call: Call, field: str) -> str | None:
    text = str(getattr(call.request, field)) if field else ""
    return text if 1 <= len(text) <= LONGEST_ID else None
