"""Changes a record under optimistic locking."""

from collections.abc import Awaitable, Callable
from typing import TypeVar

from server.platform.audit import AuditNote
from server.platform.errors import Unavailable
from server.platform.records import Changed, Record, Records

_ATTEMPTS = 20

R = TypeVar("R", bound=Record)


async def rewritten(
    records: Records[R],
    find: Callable[[], Awaitable[R]],
    change: Callable[[R], R],
    *,
    note: AuditNote | None = None,
) -> R:
    """Replace the record by the result of `change`; raises the errors of `find`, and Unavailable."""
    for _ in range(_ATTEMPTS):
        try:
            return await records.replace(change(await find()), note=note)
        except Changed:
            continue
    raise Unavailable.untouched("too many requests change the record at the same time")
