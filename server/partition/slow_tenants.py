"""Tenants whose last command took longer than a turn should, or wrote more: their commands run alone, one at a time."""

from collections.abc import Iterable

from server.partition.turn import Entry


class SlowTenants:
    """A tenant is slow from a slow command until one that is not."""

    def __init__(self) -> None:
        self._tenant_ids: set[str] = set()

    def note(self, processed: Iterable[Entry], slow: Entry | None) -> None:
        """Take in the commands of a turn, and which of them was slow."""
        if slow is not None:
            self._tenant_ids.add(slow.tenant_id)
        elif self._tenant_ids:
            self._tenant_ids.difference_update(entry.tenant_id for entry in processed)

    def split(self, entries: list[Entry]) -> tuple[list[Entry], list[Entry]]:
        """Those that are likely quick, and those of slow tenants; commands of other partitions keep their order."""
        if not self._tenant_ids:
            return entries, []
        slow = [entry for entry in entries if self._is_slow(entry)]
        return [entry for entry in entries if not self._is_slow(entry)], slow

    def _is_slow(self, entry: Entry) -> bool:
        return entry.incoming is None and entry.tenant_id in self._tenant_ids
