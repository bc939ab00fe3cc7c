"""The erasure of one person's data, in the provider and in the engine."""

from dataclasses import dataclass
from datetime import UTC, datetime

from server.platform.records import Kind, Record

NEVER = datetime(9999, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True, kw_only=True)
class Erasure(Record):
    """`id` is the pseudonym that takes the place of the person.

    `user_id` and `names`, the texts by which records name the person, are empty once the erasure is completed.
    `asked_by` is the kind and the id of the caller. The provider rewrites events after the position `events_after`, the
    engine rows after `engine_after`, which is claimed until `engine_claimed_until`. The provider continues at `next_at`.
    """

    user_id: str
    names: tuple[str, ...]
    asked_by: str
    asked_at: datetime
    next_at: datetime
    completed_at: datetime | None = None
    events_after: str = ""
    is_done_here: bool = False
    engine_after: str = ""
    engine_claimed_until: datetime | None = None
    is_done_in_engine: bool = False
    removed_records: int = 0
    rewritten_events: int = 0
    user_tasks: int = 0
    rewritten_rows: int = 0

    @property
    def pseudonym(self) -> str:
        return self.id


ERASURES = Kind(
    Erasure,
    "erasure",
    unique=("user_id",),
    indexed=("asked_by",),
    scheduled="next_at",
    owners=(),
    outlives=("user_id", "asked_by"),
)
