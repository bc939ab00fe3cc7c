"""A connection that knows the types of PostgreSQL itself.

The driver asks each new connection's catalogue for the types of arrays, which takes PostgreSQL 20 ms of processor time.
They have the same numbers in every database, so a process asks once (decision 189).
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

import asyncpg

# Types that a database adds begin here.
_FIRST_OF_DATABASE = 16_384

_known: dict[frozenset[int], Sequence[asyncpg.Record]] = {}


@dataclass(frozen=True, slots=True)
class _NoStatement:
    """Takes the place of a query that did not run: with a name, it has replaced no prepared statement."""

    name: str = "none"


class Connection(asyncpg.Connection):  # type: ignore[misc]  # the driver has no types
    async def _introspect_types(
        self,
        typeoids: Collection[int],
        timeout: float | None,  # noqa: ASYNC109  # as the driver calls it
    ) -> tuple[Sequence[asyncpg.Record], Any]:
        wanted = frozenset(typeoids)
        if wanted in _known:
            return _known[wanted], _NoStatement()
        types, statement = await super()._introspect_types(typeoids, timeout)
        if max(wanted) < _FIRST_OF_DATABASE:
            _known[wanted] = types
        return types, statement
