"""Records: small documents of a tenant, found by id and by some fields, with optimistic locking.

A record is a frozen dataclass; a `Kind` describes how its type is stored. There is no transaction over
several records: data that must change together is one record, and an action that may happen once is one
`take` or one `replace`. A `Guard` puts changes of several records in sequence. The exception is the removal of a record
that owns others: the same statement stores that the others are to be removed.
"""

from server.platform.records.pages import every
from server.platform.records.port import (
    REMOVALS,
    AlreadyThere,
    AuditLog,
    Changed,
    Condition,
    Guard,
    Kind,
    Owner,
    Record,
    Records,
    RecordStore,
    Removal,
    reservation_of,
)

__all__ = [
    "REMOVALS",
    "AlreadyThere",
    "AuditLog",
    "Changed",
    "Condition",
    "Guard",
    "Kind",
    "Owner",
    "Record",
    "RecordStore",
    "Records",
    "Removal",
    "every",
    "reservation_of",
]
