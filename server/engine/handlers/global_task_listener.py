"""Global task listeners: the first partition changes them and sends each change to all others."""

from server.engine.answers import DONE, ChangedGlobalTaskListener, Done
from server.engine.global_task_listener_commands import (
    AdoptGlobalTaskListener,
    AdoptGlobalTaskListenerDeletion,
    CreateGlobalTaskListener,
    DeleteGlobalTaskListener,
    UpdateGlobalTaskListener,
)
from server.engine.global_task_listener_events import (
    GlobalTaskListenerAdopted,
    GlobalTaskListenerDeleted,
    GlobalTaskListenerDeletionAdopted,
    GlobalTaskListenerSet,
)
from server.engine.keys import Key
from server.engine.rejection import Rejected, RejectionType
from server.engine.sent import EVERY_OTHER, CommandSent
from server.engine.step import Step


def create(command: CreateGlobalTaskListener, step: Step) -> ChangedGlobalTaskListener:
    known = step.state.global_task_listeners
    if known.get(command.tenant_id, command.id) is not None:
        raise Rejected(
            RejectionType.ALREADY_EXISTS, f"there is a global task listener '{command.id}' already"
        )
    most = step.state.limits.global_task_listeners
    if known.count(command.tenant_id) >= most:
        raise Rejected(
            RejectionType.INVALID_STATE, f"expected at most {most} global task listeners of the tenant"
        )
    return _set(command, step.next_key(), 1, step)


def update(command: UpdateGlobalTaskListener, step: Step) -> ChangedGlobalTaskListener:
    before = _found(command, step)
    return _set(command, before.key, before.revision + 1, step)


def delete(command: DeleteGlobalTaskListener, step: Step) -> ChangedGlobalTaskListener:
    listener = _found(command, step)
    step.emit(GlobalTaskListenerDeleted(listener))
    step.emit(CommandSent(EVERY_OTHER, AdoptGlobalTaskListenerDeletion(command.tenant_id, listener)))
    return ChangedGlobalTaskListener(listener.key)


def adopt(command: AdoptGlobalTaskListener, step: Step) -> Done:
    """Set a listener; does nothing when this partition already has this version or a later one."""
    listener = command.listener
    known = step.state.global_task_listeners.get(listener.tenant_id, listener.id)
    if known is None or known.version < listener.version:
        step.emit(GlobalTaskListenerAdopted(listener))
    return DONE


def adopt_deletion(command: AdoptGlobalTaskListenerDeletion, step: Step) -> Done:
    """Delete a listener; does nothing when it is deleted already, even if a new listener has its id."""
    listener = command.listener
    known = step.state.global_task_listeners.get(listener.tenant_id, listener.id)
    if known is not None and known.key == listener.key:
        step.emit(GlobalTaskListenerDeletionAdopted(known))
    return DONE


def _found(command: UpdateGlobalTaskListener | DeleteGlobalTaskListener, step: Step) -> GlobalTaskListenerSet:
    listener = step.state.global_task_listeners.get(command.tenant_id, command.id)
    if listener is None:
        raise Rejected(RejectionType.NOT_FOUND, f"there is no global task listener '{command.id}'")
    return listener


def _set(
    command: CreateGlobalTaskListener | UpdateGlobalTaskListener, key: Key, revision: int, step: Step
) -> ChangedGlobalTaskListener:
    listener = GlobalTaskListenerSet(
        key,
        command.tenant_id,
        command.id,
        command.type,
        command.event_types,
        command.retries,
        command.after_non_global,
        command.priority,
        revision,
    )
    step.emit(listener)
    step.emit(CommandSent(EVERY_OTHER, AdoptGlobalTaskListener(command.tenant_id, listener)))
    return ChangedGlobalTaskListener(key)
