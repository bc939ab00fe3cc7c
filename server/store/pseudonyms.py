"""Rows of processes that name an erased person: a pseudonym takes the place of the names.

The partitions are the only writers of active user tasks and of unfinished batch operations, so these are found here and
change by commands. All other rows are written once, and any process rewrites them in bounded steps.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Protocol

from server.engine.keys import Key

SLICE: Final = 500
ENTRIES: Final = 2000

_SHORTEST_NAME: Final = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class ErasedPerson:
    """`names` are the texts by which rows name the person, the id first; the pseudonym takes their place."""

    tenant_id: str
    names: Sequence[str]
    pseudonym: str

    @property
    def pattern(self) -> str:
        """The pattern of names that are no parts of longer words, in the common syntax of Python and PostgreSQL."""
        by_length = sorted(self.names, key=len, reverse=True)
        found = [re.escape(name) for name in by_length if len(name) >= _SHORTEST_NAME]
        return rf"(?<![\w.+-])({'|'.join(found)})(?![\w+-]|\.\w)"

    def naming_task(
        self, key: Key, assignee: str | None, candidate_users: Sequence[str]
    ) -> "NamingTask | None":
        """Return what has to change in a user task, None if it does not name the person."""
        is_assigned, is_candidate = assignee in self.names, not set(self.names).isdisjoint(candidate_users)
        if not is_assigned and not is_candidate:
            return None
        return NamingTask(key, is_assigned, self.replaced(candidate_users) if is_candidate else ())

    def replaced(self, names: Sequence[str]) -> Sequence[str]:
        return [self.pseudonym if each in self.names else each for each in names]


@dataclass(frozen=True, slots=True)
class NamingTask:
    """An active user task that names the person; without candidates of the person, `candidate_users` is empty."""

    key: Key
    is_assigned: bool
    candidate_users: Sequence[str]


@dataclass(frozen=True, slots=True)
class RewrittenEntries:
    """The number of changed entries, and the position after the last one read; None after the last entry of all."""

    count: int
    position: str | None


class Pseudonyms(Protocol):
    """The port for the rows; every call raises Unavailable."""

    async def tasks(self, person: ErasedPerson, *, after: Key) -> Sequence[NamingTask]:
        """Return the next active user tasks, at most SLICE."""
        ...

    async def rewrite_tasks(self, person: ErasedPerson) -> int:
        """Rewrite some ended user tasks, fewer than SLICE only at the end."""
        ...

    async def has_unfinished_batch_operation(self, person: ErasedPerson) -> bool:
        """Whether the person started a batch operation that has not ended."""
        ...

    async def rewrite_batch_operations(self, person: ErasedPerson) -> int:
        """Rewrite some ended batch operations, fewer than SLICE only at the end."""
        ...

    async def rewrite_entries(self, person: ErasedPerson, position: str) -> RewrittenEntries:
        """Rewrite audit entries among the next ENTRIES."""
        ...
