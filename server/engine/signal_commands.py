"""Commands about signals and conditions."""

from dataclasses import dataclass, field

from server.engine.addresses import ANYWHERE, HERE, Address, OwnersOf
from server.engine.keys import Key
from server.engine.variables import Variables


@dataclass(frozen=True, slots=True)
class EvaluateConditionals:
    """Create process instances at the conditional start events whose conditions these variables meet.

    The start events are those of one version, or of the latest version of each process.
    """

    tenant_id: str
    variables: Variables
    process_definition_key: Key | None = None

    @property
    def address(self) -> Address:
        return ANYWHERE


@dataclass(frozen=True, slots=True)
class BroadcastSignal:
    """Broadcast a signal: trigger everything that waits for its name, in all partitions."""

    tenant_id: str
    signal_name: str
    variables: Variables = field(default_factory=dict)

    @property
    def address(self) -> Address:
        return ANYWHERE


@dataclass(frozen=True, slots=True)
class ReceiveSignal:
    """A signal of another partition, which sends it to every other partition."""

    tenant_id: str
    signal_name: str
    variables: Variables

    @property
    def address(self) -> Address:
        return HERE


@dataclass(frozen=True, slots=True)
class ContinueBroadcast:
    """Sent by time: continue a broadcast that an earlier command postponed."""

    tenant_id: str
    broadcast_key: Key

    @property
    def address(self) -> OwnersOf:
        return OwnersOf((self.broadcast_key,))
