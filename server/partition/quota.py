"""Quota of active process instances of one tenant, in all partitions together.

A partition counts its own instances. Before a turn, it reserves in the ledger what the turn's commands may
start, so that all partitions together neither exceed a quota nor refuse starts below it. Starts in progress
count like active instances. Process instances that messages, signals and timers start count, too; but no
event is refused, so they may exceed the quota. An evaluation of conditions needs room for one process
instance, and may start more.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence

from server.engine import commands, events, process_instance_commands, signal_commands
from server.engine.tenant_events import TenantPurged
from server.partition.config import QuotaConfig
from server.platform.errors import QuotaExhausted
from server.store.ports import Reservation

# A process instance may end at any time.
RETRY_SECONDS = 1
# Commands of callers that need room for one more process instance.
_STARTING = (process_instance_commands.CreateProcessInstance, signal_commands.EvaluateConditionals)


class Quota:
    def __init__(self, config: QuotaConfig, active: Mapping[str, int] | None = None) -> None:
        self.most = config.max_active_instances
        self.most_called = config.max_called_instances
        self._own = Counter(active or {})
        self._granted: Counter[str] = Counter()
        self._numbers: list[int] = []
        # Tenants that are being removed, which start nothing; set by the turns.
        self.removed: Mapping[str, int] = {}

    def wanted(self, turn: Iterable[commands.Command | None]) -> Mapping[str, int]:
        """The number of process instances by tenant that these commands may start; empty without a quota."""
        if not self.most:
            return {}
        starting = (command.tenant_id for command in turn if isinstance(command, _STARTING))
        return Counter(tenant_id for tenant_id in starting if tenant_id not in self.removed)

    def room(self, tenant_id: str) -> int | None:
        """The number of process instances of a tenant that call activities may start now; None without a quota.

        Instances in other partitions are not counted, because they are not known during a command.
        """
        return max(self.most - self._own[tenant_id], 0) if self.most else None

    def grant(self, reservation: Reservation) -> None:
        """Allow the next turn to start the reserved process instances."""
        self._granted = Counter(reservation.granted)
        self._numbers += reservation.numbers

    def settled(self) -> Sequence[int]:
        """The numbers of the reservations that end with the commit of this turn; unused reservations become void."""
        numbers, self._numbers = self._numbers, []
        self._granted.clear()
        return numbers

    def check(self, command: commands.Command) -> None:
        """Raises QuotaExhausted when the command would exceed the quota."""
        if not self.most or not isinstance(command, _STARTING) or command.tenant_id in self.removed:
            return
        active = self._own[command.tenant_id]
        if active >= self.most or self._granted[command.tenant_id] <= 0:
            raise QuotaExhausted(
                f"tenant '{command.tenant_id}' has {max(active, self.most)} active process instances,"
                f" its quota is {self.most}",
                retry_after_secs=str(RETRY_SECONDS),
            )

    def observe(self, happened: Sequence[events.Event], grown: dict[str, int]) -> None:
        """Count started and ended process instances, here and in `grown`."""
        for event in happened:
            if isinstance(event, TenantPurged):
                self._end(event.tenant_id, len(event.process_instances), grown)
                continue
            growth = _GROWTH.get(type(event))
            if growth is None or not isinstance(event, events.InstanceEvent):
                continue
            difference = growth(event)
            if difference:
                self._own[event.instance.tenant_id] += difference
                grown[event.instance.tenant_id] = grown.get(event.instance.tenant_id, 0) + difference
            if difference > 0:
                self._granted[event.instance.tenant_id] -= difference

    def _end(self, tenant_id: str, ended: int, grown: dict[str, int]) -> None:
        self._own[tenant_id] -= ended
        grown[tenant_id] = grown.get(tenant_id, 0) - ended


def _started(_: events.ProcessInstanceCreated) -> int:
    return 1


def _ended(event: events.ElementCompleted | events.ElementTerminated) -> int:
    return -1 if event.key == event.instance.key else 0


_GROWTH: Mapping[type[events.Event], Callable[..., int]] = {
    events.ProcessInstanceCreated: _started,
    events.ElementCompleted: _ended,
    events.ElementTerminated: _ended,
}
