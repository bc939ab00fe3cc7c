"""Changes a record under optimistic locking."""

from collections.abc import Awaitable, Callable
from typing import TypeVar

from server.platform.audit import AuditNote
from server.platform.errors import Unavailable
from server.platform.records import Changed, Guard, Record, Records

_ATTEMPTS = 20

R = TypeVar("R", bound=Record)


async def _unguarded(_before: object, _after: object) -> None:
    """Return no guard."""


async def rewritten(
    records: Records[R],
    find: Callable[[], Awaitable[R]],
    change: Callable[[R], R],
    *,
    note: AuditNote | None = None,
    guard: Callable[[R, R], Awaitable[Guard | None]] = _unguarded,
) -> R:
    """Replace the record by the result of `change`; raises the errors of `find` and `guard`, and Unavailable.

    `guard` returns the guard of the change from one record to the other.
    """
    for _ in range(_ATTEMPTS):
        try:
            before = await find()
            after = change(before)
            return await records.replace(after, note=note, guard=await guard(before, after))
        except Changed:
            continue
    raise Unavailable.untouched("too many requests change the record at the same time")
