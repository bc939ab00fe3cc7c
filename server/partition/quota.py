"""How many process instances of one tenant may be active at a time.

A partition knows its own and was told a moment ago of those in the others: with several partitions a tenant may start
more than its quota within that moment.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence

from server.engine import commands, events
from server.partition.config import QuotaConfig
from server.platform.errors import QuotaExhausted


class Quota:
    def __init__(self, config: QuotaConfig, active: Mapping[str, int] | None = None) -> None:
        self._most = config.max_active_instances
        self._own = Counter(active or {})
        self._elsewhere: Mapping[str, int] = {}

    @property
    def is_limited(self) -> bool:
        return bool(self._most)

    def tell_of_others(self, active: Mapping[str, int]) -> None:
        """How many are active in all other partitions, by tenant."""
        self._elsewhere = active

    def check(self, command: commands.Command) -> None:
        """Raises QuotaExhausted."""
        if not self._most or not isinstance(command, commands.CreateProcessInstance):
            return
        active = self._own[command.tenant_id] + self._elsewhere.get(command.tenant_id, 0)
        if active >= self._most:
            raise QuotaExhausted(
                f"tenant '{command.tenant_id}' has {active} active process instances, its quota is {self._most}"
            )

    def observe(self, happened: Sequence[events.Event], grown: Counter[str]) -> None:
        """Count what was started and what ended, here and in `grown`."""
        for event in happened:
            growth = _GROWTH.get(type(event))
            difference = growth(event) if growth is not None else 0
            if difference and isinstance(event, events.InstanceEvent):
                self._own[event.instance.tenant_id] += difference
                grown[event.instance.tenant_id] += difference


def _started(_: events.ProcessInstanceCreated) -> int:
    return 1


def _ended(event: events.ElementCompleted | events.ElementTerminated) -> int:
    return -1 if event.key == event.instance.key else 0


_GROWTH: Mapping[type[events.Event], Callable[..., int]] = {
    events.ProcessInstanceCreated: _started,
    events.ElementCompleted: _ended,
    events.ElementTerminated: _ended,
}
