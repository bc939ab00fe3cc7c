"""The commands on user tasks: assign, unassign, update, complete."""

from datetime import datetime

from server.engine import events, execution
from server.engine.answers import DONE, Done
from server.engine.commands import (
    AssignUserTask,
    CompleteUserTask,
    UnassignUserTask,
    UpdateUserTask,
)
from server.engine.keys import Key
from server.engine.process_instance import ProcessInstance, UserTask
from server.engine.rejection import Rejected, RejectionType
from server.engine.scopes import propagate, set_all_local
from server.engine.step import Step
from server.engine.user_task_changes import DateChange


def assign(command: AssignUserTask, step: Step) -> Done:
    instance, user_task = _user_task(step, command.tenant_id, command.user_task_key)
    if user_task.assignee and not command.allow_override:
        raise Rejected(
            RejectionType.INVALID_STATE,
            f"user task {user_task.key} is assigned already, and allowOverride is false",
        )
    _assign(step, instance, user_task, command.assignee)
    return DONE


def unassign(command: UnassignUserTask, step: Step) -> Done:
    instance, user_task = _user_task(step, command.tenant_id, command.user_task_key)
    _assign(step, instance, user_task, "")
    return DONE


def _assign(step: Step, instance: ProcessInstance, user_task: UserTask, assignee: str) -> None:
    step.emit(events.UserTaskAssigned(instance.head, user_task.key, user_task.element_instance_key, assignee))


def update(command: UpdateUserTask, step: Step) -> Done:
    instance, user_task = _user_task(step, command.tenant_id, command.user_task_key)
    groups, users, priority = command.candidate_groups, command.candidate_users, command.priority
    step.emit(
        events.UserTaskUpdated(
            instance.head,
            user_task.key,
            user_task.element_instance_key,
            user_task.candidate_groups if groups is None else groups,
            user_task.candidate_users if users is None else users,
            _changed(command.due_date, user_task.due_date),
            _changed(command.follow_up_date, user_task.follow_up_date),
            user_task.priority if priority is None else priority,
        )
    )
    return DONE


def _changed(change: DateChange | None, current: datetime | None) -> datetime | None:
    return current if change is None else change.date


def complete(command: CompleteUserTask, step: Step) -> Done:
    instance, user_task = _user_task(step, command.tenant_id, command.user_task_key)
    visit = step.visit(instance, instance.elements[user_task.element_instance_key])
    step.emit(events.UserTaskCompleted(instance.head, user_task.key, visit.instance.key))
    merge = set_all_local if visit.element.output_mappings else propagate
    merge(step, instance, visit.instance.key, command.variables)
    execution.complete(step, visit)
    return DONE


def _user_task(step: Step, tenant_id: str, key: Key) -> tuple[ProcessInstance, UserTask]:
    instance = step.state.owner_of(key)
    if instance is None or instance.head.tenant_id != tenant_id or key not in instance.user_tasks:
        raise Rejected(RejectionType.NOT_FOUND, f"no user task with key {key}")
    return instance, instance.user_tasks[key]
