"""The commands for user tasks: assign, unassign, update, complete.

If task listeners exist, a command begins a transition, and is answered when the transition ends.
"""

from datetime import datetime

from msgspec.structs import replace

from server.engine import task_listeners, user_task_transitions
from server.engine.answers import DONE, Done, TransitionBegun
from server.engine.job_kinds import ListenerEventType
from server.engine.keys import Key
from server.engine.process_instance import UserTask
from server.engine.rejection import Rejected, RejectionType
from server.engine.step import Step, Visit
from server.engine.user_task_changes import DateChange
from server.engine.user_task_commands import (
    AssignUserTask,
    CompleteUserTask,
    UnassignUserTask,
    UpdateUserTask,
)

UNASSIGN = "unassign"


def assign(command: AssignUserTask, step: Step) -> Done | TransitionBegun:
    visit, user_task = _user_task(step, command.tenant_id, command.user_task_key)
    begun = begun_before(step, user_task)
    if begun is not None:
        return begun
    if user_task.assignee and not command.allow_override:
        raise Rejected(
            RejectionType.INVALID_STATE,
            f"user task {user_task.key} is assigned already, and allowOverride is false",
        )
    return _assign(step, visit, user_task, command.assignee, command.action)


def unassign(command: UnassignUserTask, step: Step) -> Done | TransitionBegun:
    visit, user_task = _user_task(step, command.tenant_id, command.user_task_key)
    return begun_before(step, user_task) or _assign(step, visit, user_task, "", UNASSIGN)


def _assign(
    step: Step, visit: Visit, user_task: UserTask, assignee: str, action: str
) -> Done | TransitionBegun:
    transition = task_listeners.begin(
        step,
        visit,
        user_task,
        ListenerEventType.ASSIGNING,
        replace(user_task.values, assignee=assignee),
        action=action,
        requester=step.requester,
    )
    if transition is not None:
        return TransitionBegun(transition.key)
    user_task_transitions.assign_now(step, visit, user_task, assignee)
    return DONE


def update(command: UpdateUserTask, step: Step) -> Done | TransitionBegun:
    visit, user_task = _user_task(step, command.tenant_id, command.user_task_key)
    begun = begun_before(step, user_task)
    if begun is not None:
        return begun
    groups, users, priority = command.candidate_groups, command.candidate_users, command.priority
    values = replace(
        user_task.values,
        candidate_groups=user_task.candidate_groups if groups is None else groups,
        candidate_users=user_task.candidate_users if users is None else users,
        due_date=_changed(command.due_date, user_task.due_date),
        follow_up_date=_changed(command.follow_up_date, user_task.follow_up_date),
        priority=user_task.priority if priority is None else priority,
    )
    transition = task_listeners.begin(
        step,
        visit,
        user_task,
        ListenerEventType.UPDATING,
        values,
        action=command.action,
        requester=step.requester,
    )
    if transition is not None:
        return TransitionBegun(transition.key)
    user_task_transitions.update_now(step, visit, user_task, values)
    return DONE


def _changed(change: DateChange | None, current: datetime | None) -> datetime | None:
    return current if change is None else change.date


def complete(command: CompleteUserTask, step: Step) -> Done | TransitionBegun:
    visit, user_task = _user_task(step, command.tenant_id, command.user_task_key)
    begun = begun_before(step, user_task)
    if begun is not None:
        return begun
    transition = task_listeners.begin(
        step,
        visit,
        user_task,
        ListenerEventType.COMPLETING,
        user_task.values,
        action=command.action,
        variables=command.variables,
        requester=step.requester,
    )
    if transition is not None:
        return TransitionBegun(transition.key)
    user_task_transitions.complete_now(step, visit, user_task, command.variables)
    return DONE


def _user_task(step: Step, tenant_id: str, key: Key) -> tuple[Visit, UserTask]:
    instance = step.state.owner_of(key)
    if instance is None or instance.head.tenant_id != tenant_id or key not in instance.user_tasks:
        raise Rejected(RejectionType.NOT_FOUND, f"no user task with key {key}")
    user_task = instance.user_tasks[key]
    return step.visit(instance, instance.elements[user_task.element_instance_key]), user_task


def begun_before(step: Step, user_task: UserTask) -> TransitionBegun | None:
    """The transition that an earlier attempt of this request began; raises Rejected if another request began it."""
    transition = user_task.transition
    if transition is None:
        return None
    if step.requester is not None and step.requester.repeats(transition.requester):
        return TransitionBegun(transition.key)
    raise Rejected(
        RejectionType.INVALID_STATE, f"user task {user_task.key} is {user_task.state}, not CREATED"
    )
