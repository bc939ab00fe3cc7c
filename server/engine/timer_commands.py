"""Commands about timers, those of start events included."""

from dataclasses import dataclass
from datetime import datetime

from server.engine.addresses import HERE, Address, OwnersOf
from server.engine.keys import Key
from server.engine.start_timers import StartTimer


@dataclass(frozen=True, slots=True)
class TriggerTimer:
    """Sent by time: the timer of a subscription is due."""

    tenant_id: str
    subscription_key: Key
    due: datetime

    @property
    def address(self) -> OwnersOf:
        return OwnersOf((self.subscription_key,))


@dataclass(frozen=True, slots=True)
class FireTimer:
    """The timer of a test run fires before it is due; other process instances keep their time."""

    tenant_id: str
    process_instance_key: Key
    timer_key: Key

    @property
    def address(self) -> OwnersOf:
        return OwnersOf((self.process_instance_key,))


@dataclass(frozen=True, slots=True)
class SetStartTimers:
    """Set the start timers of a version in its home partition, which assigns their keys; sent by the deploying partition."""

    tenant_id: str
    timers: tuple[StartTimer, ...]

    @property
    def address(self) -> Address:
        return HERE


@dataclass(frozen=True, slots=True)
class TriggerStartTimer:
    """Sent by time: the timer of a start event is due."""

    tenant_id: str
    timer_key: Key
    due: datetime

    @property
    def address(self) -> OwnersOf:
        return OwnersOf((self.timer_key,))
