"""Starts broadcasts: of signals in all partitions, and of changed cluster variables in this one."""

from server.engine import signal_events as happened
from server.engine.keys import Key
from server.engine.sent import EVERY_OTHER
from server.engine.signal_commands import ContinueBroadcast, ReceiveSignal
from server.engine.signals import ClusterVariableChange, PendingSignal
from server.engine.step import Step
from server.engine.variables import Variables


def throw(step: Step, signal: PendingSignal) -> None:
    """Broadcast the signal after the current pending work, so that it finds subscriptions that parallel paths open.

    The paths behind the throwing event continue after the broadcast.
    """
    step.pending.append(signal)


def broadcast(step: Step, tenant_id: str, signal_name: str, variables: Variables) -> Key:
    """Trigger the subscriptions of this partition before any pending work, and send the signal to the other partitions.

    Signal start events create their process instances in this partition.
    """
    step.send(EVERY_OTHER, ReceiveSignal(tenant_id, signal_name, variables))
    return _begin(step, tenant_id, signal_name, variables, begins_processes=True)


def receive(step: Step, tenant_id: str, signal_name: str, variables: Variables) -> None:
    """Trigger the subscriptions of this partition for a signal of another partition, which creates the process instances."""
    _begin(step, tenant_id, signal_name, variables, begins_processes=False)


def tell_conditions(step: Step, tenant_id: str, change: ClusterVariableChange) -> None:
    """Evaluate the conditions of this partition that read cluster variables; `tenant_id` is the caller's tenant."""
    if change.tenant_id in step.state.signals.conditions:
        _continue(
            step,
            happened.BroadcastBegan(
                step.next_key(), tenant_id, "", {}, begins_processes=False, change=change
            ),
        )


def _begin(
    step: Step, tenant_id: str, signal_name: str, variables: Variables, *, begins_processes: bool
) -> Key:
    """Begin a broadcast in this partition, and return its key."""
    key = step.next_key()
    _continue(step, happened.BroadcastBegan(key, tenant_id, signal_name, dict(variables), begins_processes))
    return key


def _continue(step: Step, began: happened.BroadcastBegan) -> None:
    step.emit(began)
    step.following.append(ContinueBroadcast(began.tenant_id, began.key))
