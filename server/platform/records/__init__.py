"""Records: small documents of a tenant, found by id and by some fields, with optimistic locking.

A record is a frozen dataclass; a `Kind` describes how its type is stored. There is no transaction over
several records: data that must change together is one record, and an action that may happen once is one
`take` or one `replace`.
"""

from server.platform.records.pages import every
from server.platform.records.port import (
    AlreadyThere,
    AuditLog,
    Changed,
    Condition,
    Kind,
    Record,
    Records,
    RecordStore,
)

__all__ = [
    "AlreadyThere",
    "AuditLog",
    "Changed",
    "Condition",
    "Kind",
    "Record",
    "RecordStore",
    "Records",
    "every",
]
