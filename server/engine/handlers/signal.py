"""Signals: broadcast to all subscriptions, in slices."""

from itertools import islice
from typing import Final

from server.engine import broadcasts, conditions, triggers
from server.engine import signal_events as happened
from server.engine.answers import DONE, Done, SignalBroadcast
from server.engine.instantiation import begin_at
from server.engine.keys import Key
from server.engine.rejection import Rejected, RejectionType
from server.engine.signal_commands import BroadcastSignal, ContinueBroadcast, ReceiveSignal
from server.engine.signals import Broadcast
from server.engine.step import BEGUN_ANEW, Step

TRIGGERED_AT_ONCE: Final = 100
"""Most subscriptions that a broadcast triggers in one turn, and process instances that it loads for them."""


def broadcast(command: BroadcastSignal, step: Step) -> SignalBroadcast:
    most = step.state.limits.tenant_broadcasts
    if step.state.signals.counts[command.tenant_id] >= most:
        raise Rejected(RejectionType.BUSY, f"{most} broadcasts of the tenant are not finished")
    return SignalBroadcast(
        broadcasts.broadcast(step, command.tenant_id, command.signal_name, command.variables)
    )


def receive(command: ReceiveSignal, step: Step) -> Done:
    broadcasts.receive(step, command.tenant_id, command.signal_name, command.variables)
    return DONE


def go_on(command: ContinueBroadcast, step: Step) -> Done:
    """Continue a postponed broadcast; does nothing when it has ended."""
    found = step.state.signals.broadcasts.get(command.broadcast_key)
    if found is not None:
        _go_on(found, step)
    return DONE


def _go_on(broadcast: Broadcast, step: Step) -> None:
    """Trigger the next subscriptions, then start processes; the rest is postponed to a later turn."""
    last_key, left = _trigger(broadcast, step)
    last_process_id = broadcast.last_process_id
    if left and last_process_id is not None:
        last_process_id, left = _begin(broadcast, step, last_process_id, left)
    if left:
        step.emit(happened.BroadcastEnded(broadcast.key))
        return
    step.emit(
        happened.BroadcastPostponed(broadcast.key, broadcast.tenant_id, last_key, last_process_id, step.now)
    )


def _trigger(broadcast: Broadcast, step: Step) -> tuple[Key, int]:
    """The last triggered subscription, and the capacity left in the turn; 0 when there is more to trigger."""
    state, last_key = step.state, broadcast.last_key
    line = state.signals.line_of(broadcast)
    found = list(islice(state.signals.left_for(broadcast), TRIGGERED_AT_ONCE))
    owners = [line[key] for key in found] if line is not None else []
    if len(step.events) > BEGUN_ANEW and not state.evicted.isdisjoint(owners):
        # The next turn loads them, without repeating anything.
        return last_key, 0
    if not step.has_done_enough:
        state.expect_loaded(owners)
    for key in found:
        if step.has_done_enough:
            return last_key, 0
        step.begin_element()
        instance = state.owner_of(key)
        # None when a subscription that was triggered earlier has interrupted its scope.
        # A change of a cluster variable of all tenants reaches no tenant that is being removed.
        if instance is not None and instance.head.tenant_id in state.removed_tenants:
            last_key = key
            continue
        if instance is not None and broadcast.change is not None:
            conditions.check_cluster_variables(step, instance, instance.subscriptions[key], broadcast.change)
        elif instance is not None:
            step.charge_copies(broadcast.variables)
            triggers.take(step, instance, instance.subscriptions[key], broadcast.variables)
        last_key = key
    return last_key, TRIGGERED_AT_ONCE - len(found)


def _begin(broadcast: Broadcast, step: Step, last_process_id: str, room: int) -> tuple[str, int]:
    """The last started process, and the capacity left in the turn; 0 when there are more to start."""
    line = step.state.starts.signals.get(broadcast.place)
    found = list(islice(line.after(last_process_id), room)) if line is not None else []
    for process_id in found:
        if line is None or step.has_done_enough:
            return last_process_id, 0
        step.charge_copies(broadcast.variables)
        begin_at(step, line[process_id], broadcast.variables)
        last_process_id = process_id
    return last_process_id, room - len(found)
