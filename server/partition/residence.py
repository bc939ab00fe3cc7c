"""Which process instances are in memory: those that were busy last, at most so many; the others are a document each.

Only what is committed leaves, so a document that comes back is the one that left.
"""

from collections import OrderedDict
from collections.abc import Collection, Iterable, Mapping
from itertools import islice

from server.engine import commands
from server.engine.documents import unpack
from server.engine.keys import Key
from server.engine.state import State


class Residence:
    """`most` process instances stay; more may while all that is beyond is not committed yet."""

    def __init__(self, state: State, most: int) -> None:
        self._state = state
        self._most = most
        self._busy: OrderedDict[Key, None] = OrderedDict.fromkeys(state.instances)
        self._named: Collection[Key] = ()

    def touch(self, keys: Iterable[Key]) -> None:
        """Remember that these were busy, or have ended: the turn is over."""
        self._named = ()
        self._note(keys)

    def missing(self, turn: Iterable[commands.Command]) -> Collection[Key]:
        """The process instances that a turn's commands name and that are not here; those that are stay for the turn."""
        if not self._state.evicted:
            return ()
        self._named = {key for command in turn for key in _named(command, self._state)}
        return self._state.evicted.intersection(self._named)

    def evict(self, uncommitted: Collection[Key]) -> None:
        """Let the idlest go, but none of these, nor of those that the next turn names."""
        excess = len(self._busy) - self._most
        if excess <= 0:
            return
        staying = {*uncommitted, *self._named}
        idlest = islice((key for key in self._busy if key not in staying), excess)
        for key in list(idlest):
            self._state.evict(key)
            del self._busy[key]

    def bring_back(self, documents: Mapping[Key, bytes]) -> None:
        for content in documents.values():
            self._state.bring_back(unpack(content))
        self._note(documents)

    def _note(self, keys: Iterable[Key]) -> None:
        for key in keys:
            if key in self._state.instances:
                self._busy[key] = None
                self._busy.move_to_end(key)
            else:
                self._busy.pop(key, None)


def _named(command: commands.Command, state: State) -> Iterable[Key]:
    """The process instances that have what the command names; which ones an activation needs shows when it is its turn."""
    match command:
        case commands.CancelProcessInstance() | commands.MigrateProcessInstance():
            return (command.process_instance_key,)
        case (
            commands.CompleteJob()
            | commands.FailJob()
            | commands.ThrowJobError()
            | commands.UpdateJob()
            | commands.TimeOutJob()
            | commands.EndJobBackOff()
        ):
            return _owners((command.job_key,), state.job_owners)
        case commands.YieldJobs():
            return _owners((key for key, _ in command.jobs), state.job_owners)
        case commands.ResolveIncident():
            return _owners((command.incident_key,), state.incident_owners)
        case _:
            return ()


def _owners(keys: Iterable[Key], owners: Mapping[Key, Key]) -> Iterable[Key]:
    return [owners[key] for key in keys if key in owners]
