"""Transitions of native user tasks, and the answers of their task listeners.

| transition | ends with | a listener may deny |
|---|---|---|
| CREATING | the first assignment | |
| ASSIGNING | another assignee, or none | yes |
| UPDATING | other values or variables | yes |
| COMPLETING | the completion of its element | yes |
| CANCELING | the termination of its element | |
"""

from collections.abc import Callable, Mapping
from typing import Final

from server.bpmn.executable import ElementType
from server.engine import events, execution, task_listeners
from server.engine.job_kinds import ListenerEventType
from server.engine.job_results import UserTaskResult
from server.engine.process_instance import Job, UserTask
from server.engine.rejection import Rejected, RejectionType
from server.engine.requesters import Requester
from server.engine.scopes import propagate, set_all_local
from server.engine.step import Step, Visit
from server.engine.user_task_changes import UserTaskTransition, UserTaskValues
from server.engine.variables import Variables

DENIABLE: Final = frozenset(
    {ListenerEventType.ASSIGNING, ListenerEventType.UPDATING, ListenerEventType.COMPLETING}
)
# The requester of a transition without a known caller.
NOBODY: Final = Requester()


def pending(visit: Visit) -> UserTask | None:
    """The user task of an element instance, if it is in a transition."""
    key = visit.instance.user_task_key
    user_task = visit.process_instance.user_tasks[key] if key is not None else None
    return user_task if user_task is not None and user_task.transition is not None else None


def retry(step: Step, visit: Visit, user_task: UserTask) -> None:
    """Run all listeners again after the job of one could not be created."""
    if user_task.transition is not None:
        task_listeners.begin_again(step, visit, user_task, user_task.transition)


# Answers of listeners


def answer(step: Step, visit: Visit, job: Job, result: UserTaskResult) -> None:
    """Complete the job of a listener with its decision. Raises Rejected."""
    user_task = _expected(visit)
    transition = user_task.begun
    _expect_fit(visit, job, result)
    head, denied = visit.process_instance.head, result.is_denied
    if result.corrections is not None:
        values = transition.values.corrected(result.corrections)
        corrected = {*transition.corrected, *values.differences(transition.values)}
        step.emit(
            events.UserTaskCorrected(
                head, user_task.key, visit.instance.key, values, tuple(sorted(corrected))
            )
        )
    step.emit(events.JobCompleted(head, job.key, denied, result.denied_reason if denied else None))
    if denied:
        reason = result.denied_reason or "no reason was given"
        task_listeners.end(step, visit, user_task, refusal=f"a task listener denied it: {reason}")
    elif not task_listeners.ask_next(step, visit, user_task.begun):
        _end(step, visit, user_task)


def _expected(visit: Visit) -> UserTask:
    user_task = pending(visit)
    assert user_task is not None, "jobs of task listeners belong to transitions"  # noqa: S101  # narrows the type
    return user_task


def _expect_fit(visit: Visit, job: Job, result: UserTaskResult) -> None:
    event_type, corrections = job.listener_event_type, result.corrections
    if result.is_denied and event_type not in DENIABLE:
        raise _unfit(
            f"result.denied: the job {job.key} is of a listener for {event_type}, which denies nothing"
        )
    if corrections is None:
        return
    if result.is_denied:
        raise _unfit("result.corrections: expected none together with a denial")
    definition = visit.element.user_task
    is_assigned = definition is not None and definition.assignee is not None
    if corrections.assignee is not None and event_type is ListenerEventType.CREATING and is_assigned:
        raise _unfit(
            f"result.corrections.assignee: user task '{visit.element.id}' has an assignee in its model,"
            " which a listener for CREATING does not correct"
        )


def _unfit(reason: str) -> Rejected:
    return Rejected(RejectionType.INVALID_ARGUMENT, reason)


# Ends


def _end(step: Step, visit: Visit, user_task: UserTask) -> None:
    """Let the transition take effect after the last listener."""
    transition = user_task.begun
    if transition.corrected:
        _correct(step, visit, user_task, transition)
    if transition.event_type is not ListenerEventType.CANCELING:
        task_listeners.end(step, visit, user_task)
    _ENDS[transition.event_type](step, visit, user_task, transition)


def _correct(step: Step, visit: Visit, user_task: UserTask, transition: UserTaskTransition) -> None:
    """Apply the corrections of listeners; the first assignee is set later, by the assignment after the creation."""
    wanted = transition.values
    changes = {name: getattr(wanted, name) for name in transition.corrected}
    if transition.event_type is ListenerEventType.CREATING:
        changes.pop("assignee", None)
    if changes:
        corrected = {
            name: changes.get(name, getattr(user_task, name)) for name in UserTaskValues.__struct_fields__
        }
        _update(step, visit, user_task, UserTaskValues(**corrected), with_assignee="assignee" in changes)


def _update(
    step: Step,
    visit: Visit,
    user_task: UserTask,
    values: UserTaskValues,
    *,
    with_assignee: bool = False,
    requester: Requester | None = None,
) -> None:
    step.emit(
        events.UserTaskUpdated(
            visit.process_instance.head,
            user_task.key,
            visit.instance.key,
            values.candidate_groups,
            values.candidate_users,
            values.due_date,
            values.follow_up_date,
            values.priority,
            values.assignee if with_assignee else None,
            requester,
            user_task.form_key,
        )
    )


def _created(step: Step, visit: Visit, user_task: UserTask, transition: UserTaskTransition) -> None:
    task_listeners.assign_first(step, visit, user_task, transition.values.assignee, NOBODY)


def _assigned(step: Step, visit: Visit, user_task: UserTask, transition: UserTaskTransition) -> None:
    assign_now(step, visit, user_task, transition.values.assignee, transition.requester)


def _updated(step: Step, visit: Visit, user_task: UserTask, transition: UserTaskTransition) -> None:
    if transition.variables is None:
        update_now(step, visit, user_task, transition.values, transition.requester)
    else:
        set_variables(step, visit, transition.variables, is_local=transition.is_local)


def _completed(step: Step, visit: Visit, user_task: UserTask, transition: UserTaskTransition) -> None:
    complete_now(step, visit, user_task, transition.variables or {}, transition.requester)


def _canceled(step: Step, visit: Visit, user_task: UserTask, _: UserTaskTransition) -> None:
    process_instance, instance = visit.process_instance, visit.instance
    step.emit(
        events.UserTaskCanceled(
            process_instance.head, user_task.key, instance.key, NOBODY, user_task.form_key
        )
    )
    execution.end_termination(step, process_instance, instance)


_ENDS: Mapping[ListenerEventType, Callable[[Step, Visit, UserTask, UserTaskTransition], None]] = {
    ListenerEventType.CREATING: _created,
    ListenerEventType.ASSIGNING: _assigned,
    ListenerEventType.UPDATING: _updated,
    ListenerEventType.COMPLETING: _completed,
    ListenerEventType.CANCELING: _canceled,
}


# Effects of transitions, and of commands without listeners


def assign_now(
    step: Step, visit: Visit, user_task: UserTask, assignee: str, requester: Requester | None = None
) -> None:
    head = visit.process_instance.head
    step.emit(
        events.UserTaskAssigned(
            head, user_task.key, visit.instance.key, assignee, requester, user_task.form_key
        )
    )


def update_now(
    step: Step,
    visit: Visit,
    user_task: UserTask,
    values: UserTaskValues,
    requester: Requester | None = None,
) -> None:
    _update(step, visit, user_task, values, requester=requester)


def complete_now(
    step: Step,
    visit: Visit,
    user_task: UserTask,
    variables: Variables,
    requester: Requester | None = None,
) -> None:
    process_instance, key = visit.process_instance, visit.instance.key
    step.emit(
        events.UserTaskCompleted(process_instance.head, user_task.key, key, requester, user_task.form_key)
    )
    merge = set_all_local if visit.element.output_mappings else propagate
    merge(step, process_instance, key, variables)
    execution.complete(step, visit)


def set_variables(step: Step, visit: Visit, variables: Variables, *, is_local: bool) -> None:
    merge = set_all_local if is_local else propagate
    merge(step, visit.process_instance, visit.instance.key, variables)


def is_native(visit: Visit) -> bool:
    """Whether the element instance waits for a native user task."""
    return visit.element.type is ElementType.USER_TASK and visit.instance.user_task_key is not None
