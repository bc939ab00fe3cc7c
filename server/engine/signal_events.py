"""Events of the broadcast of a signal, in one partition."""

from datetime import datetime

from server.engine.events import Event
from server.engine.keys import Key
from server.engine.signals import ClusterVariableChange


class BroadcastBegan(Event, frozen=True):
    """A broadcast began, for the subscriptions that are open now; `variables` are JSON texts.

    In one partition it also `begins_processes`. With a `change` it is for conditions that read cluster
    variables.
    """

    key: Key
    tenant_id: str
    signal_name: str
    variables: dict[str, str]
    begins_processes: bool
    change: ClusterVariableChange | None = None


class BroadcastPostponed(Event, frozen=True):
    """The command did enough; a later turn continues after this subscription and this process."""

    key: Key
    tenant_id: str
    last_key: Key
    last_process_id: str | None
    at: datetime


class BroadcastEnded(Event, frozen=True):
    """All subscriptions for the signal were triggered."""

    key: Key
