"""Records: small documents of a tenant, found by id and by a few fields, each changed by one writer at a time.

A record is a frozen dataclass; a `Kind` says how records of a type are kept. There is no transaction over several
records: what has to change together is one record, and what may happen once is one `take` or one `replace`.
"""

from server.platform.records.pages import every
from server.platform.records.port import AlreadyThere, AuditLog, Changed, Kind, Record, Records, RecordStore

__all__ = ["AlreadyThere", "AuditLog", "Changed", "Kind", "Record", "RecordStore", "Records", "every"]
