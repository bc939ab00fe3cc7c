"""Tenants whose last command was too slow or wrote too many rows: their commands run alone, one at a time."""

from collections.abc import Iterable

from server.partition.turn import Entry


class SlowTenants:
    """A set of slow tenants; a tenant stays slow until it has a command that is not."""

    def __init__(self) -> None:
        self._tenant_ids: set[str] = set()

    def note(self, processed: Iterable[Entry], slow: Entry | None) -> None:
        """Update the set after a turn with these commands, one of which may have been slow."""
        if slow is not None:
            self._tenant_ids.add(slow.tenant_id)
        elif self._tenant_ids:
            self._tenant_ids.difference_update(entry.tenant_id for entry in processed)

    def split(self, entries: list[Entry]) -> tuple[list[Entry], list[Entry]]:
        """The entries of other tenants, and those of slow tenants; commands of other partitions are never split off."""
        if not self._tenant_ids:
            return entries, []
        slow = [entry for entry in entries if self._is_slow(entry)]
        return [entry for entry in entries if not self._is_slow(entry)], slow

    def _is_slow(self, entry: Entry) -> bool:
        return entry.incoming is None and entry.tenant_id in self._tenant_ids
