"""Signals: broadcast to everything that waits for them, in slices."""

from itertools import islice
from typing import Final

from server.engine import broadcasts, triggers
from server.engine import signal_events as happened
from server.engine.answers import DONE, Done, SignalBroadcast
from server.engine.commands import BroadcastSignal, ContinueBroadcast, ReceiveSignal
from server.engine.rejection import Rejected, RejectionType
from server.engine.signals import Broadcast
from server.engine.step import Step

TRIGGERED_AT_ONCE: Final = 100
"""Subscriptions that a broadcast triggers in one turn, and process instances that the turn needs for them."""


def broadcast(command: BroadcastSignal, step: Step) -> SignalBroadcast:
    most = step.state.limits.tenant_broadcasts
    if step.state.signals.counts[command.tenant_id] >= most:
        raise Rejected(RejectionType.BUSY, f"{most} broadcasts of the tenant are not finished")
    return SignalBroadcast(
        broadcasts.broadcast(step, command.tenant_id, command.signal_name, command.variables)
    )


def receive(command: ReceiveSignal, step: Step) -> Done:
    broadcasts.begin(step, command.tenant_id, command.signal_name, command.variables)
    return DONE


def go_on(command: ContinueBroadcast, step: Step) -> Done:
    """Does nothing when the broadcast has ended."""
    found = step.state.signals.broadcasts.get(command.broadcast_key)
    if found is not None:
        _go_on(found, step)
    return DONE


def _go_on(broadcast: Broadcast, step: Step) -> None:
    """Trigger the subscriptions that are next; those beyond have a turn of their own."""
    state, last_key = step.state, broadcast.last_key
    line = state.signals.waiting.get(broadcast.place)
    found = list(islice(state.signals.left_for(broadcast), TRIGGERED_AT_ONCE))
    if line is not None and not step.has_done_enough:
        state.expect_loaded(line[key] for key in found)
    for key in found:
        if step.has_done_enough:
            break
        step.begin_element()
        instance = state.owner_of(key)
        # Closed, when what was triggered before it interrupts its scope.
        if instance is not None:
            triggers.take(step, instance, instance.subscriptions[key], broadcast.variables)
        last_key = key
    if found and (last_key != found[-1] or len(found) == TRIGGERED_AT_ONCE):
        step.emit(happened.BroadcastPostponed(broadcast.key, broadcast.tenant_id, last_key, step.now))
    else:
        step.emit(happened.BroadcastEnded(broadcast.key))
