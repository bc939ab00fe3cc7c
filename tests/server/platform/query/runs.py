"""An entity of the tests' own, searched with the contract's process instance messages."""

from dataclasses import dataclass
from datetime import datetime

from server.platform.query import Searchable, contains_every


@dataclass(frozen=True, slots=True)
class Run:
    process_instance_key: int
    state: str = "ACTIVE"
    business_id: str | None = None
    start_date: datetime | None = None
    has_incident: bool = False
    tags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Note:
    """Belongs to a run."""

    note_key: int
    process_instance_key: int
    text: str


RUNS = Searchable.of(Run, "process_instance_key", derived={"tags": contains_every("tags")})
