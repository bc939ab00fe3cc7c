"""Begins broadcasts of signals, in this partition and in all others."""

from server.engine import signal_events as happened
from server.engine.commands import ContinueBroadcast, ReceiveSignal
from server.engine.keys import Key
from server.engine.sent import EVERY_OTHER
from server.engine.step import Step
from server.engine.variables import Variables


def broadcast(step: Step, tenant_id: str, signal_name: str, variables: Variables) -> Key:
    """Trigger the subscriptions of this partition before any other pending work, and send the signal to the others by the outbox.

    Processes begin here.
    """
    step.send(EVERY_OTHER, ReceiveSignal(tenant_id, signal_name, variables))
    return _begin(step, tenant_id, signal_name, variables, begins_processes=True)


def receive(step: Step, tenant_id: str, signal_name: str, variables: Variables) -> None:
    """Another partition broadcast the signal, and begins its processes."""
    _begin(step, tenant_id, signal_name, variables, begins_processes=False)


def _begin(
    step: Step, tenant_id: str, signal_name: str, variables: Variables, *, begins_processes: bool
) -> Key:
    """The key of the broadcast in this partition."""
    key = step.next_key()
    began = happened.BroadcastBegan(key, tenant_id, signal_name, dict(variables), begins_processes)
    step.emit(began)
    step.following.append(ContinueBroadcast(tenant_id, key))
    return key
