"""Records by id, kept in memory."""

from collections.abc import Hashable, Mapping
from typing import Generic, TypeVar

Id = TypeVar("Id", bound=Hashable)
Record = TypeVar("Record")


class MemoryRecords(Generic[Id, Record]):
    """What exists from the start, as long as the process lives."""

    def __init__(self, records: Mapping[Id, Record]) -> None:
        self._records = dict(records)

    async def find(self, record_id: Id, /) -> Record | None:
        return self._records.get(record_id)
