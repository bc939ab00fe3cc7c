"""Runs the task listeners of a native user task, one after the other, before a change takes effect.

Meanwhile the user task is in a transition, which `user_task_transitions` ends. Without listeners there is no
transition, and the change takes effect at once.
"""

from msgspec.structs import replace

from server.bpmn.executable import JobDefinition, Static
from server.engine import events
from server.engine.incidents import Incident
from server.engine.job_kinds import JobKind, ListenerEventType
from server.engine.jobs import create_job
from server.engine.process_instance import UserTask
from server.engine.requesters import Requester
from server.engine.step import Step, Visit
from server.engine.user_task_changes import GlobalListener, UserTaskTransition, UserTaskValues
from server.engine.variables import Variables


def begin(
    step: Step,
    visit: Visit,
    user_task: UserTask,
    event_type: ListenerEventType,
    values: UserTaskValues,
    *,
    action: str = "",
    variables: Variables | None = None,
    is_local: bool = False,
    requester: Requester | None = None,
) -> UserTaskTransition | None:
    """Begin a transition by creating the job of the first listener; None when there are no listeners.

    The transition keeps the global listeners that the tenant has now.
    """
    if not _has_listeners(step, visit, event_type):
        return None
    given = None if variables is None else dict(variables)
    transition = UserTaskTransition(
        step.next_key(),
        event_type,
        action,
        values,
        given,
        is_local,
        requester or Requester(),
        global_listeners=_global_listeners(step, visit, event_type),
    )
    _ask_first(step, visit, user_task, transition)
    return transition


def _has_listeners(step: Step, visit: Visit, event_type: ListenerEventType) -> bool:
    return event_type.lower() in visit.element.task_listeners or bool(
        _global_listeners(step, visit, event_type)
    )


def _global_listeners(step: Step, visit: Visit, event_type: ListenerEventType) -> tuple[GlobalListener, ...]:
    return step.state.global_task_listeners.asked(visit.process_instance.head.tenant_id, event_type)


def begin_again(step: Step, visit: Visit, user_task: UserTask, transition: UserTaskTransition) -> None:
    """Run all listeners again; their earlier corrections stay."""
    _ask_first(step, visit, user_task, replace(transition, listened=0, globally_listened=0))


def _ask_first(step: Step, visit: Visit, user_task: UserTask, transition: UserTaskTransition) -> None:
    step.emit(
        events.UserTaskTransitionBegan(
            visit.process_instance.head, user_task.key, visit.instance.key, transition
        )
    )
    ask_next(step, visit, transition)


def ask_next(step: Step, visit: Visit, transition: UserTaskTransition) -> bool:
    """Create the job of the next listener, and return whether there was one.

    A failed expression of the listener raises an incident.
    """
    found = _next(visit, transition)
    if found is None:
        return False
    job, is_global = found
    try:
        create_job(step, visit, job, JobKind.TASK_LISTENER, transition.event_type, is_global=is_global)
    except Incident as incident:
        step.raise_incident(visit, incident)
    return True


def _next(visit: Visit, transition: UserTaskTransition) -> tuple[JobDefinition, bool] | None:
    """The job definition of the next listener, and whether the listener is global.

    Global listeners without `after_non_global` run before those of the model, the others after them.
    """
    of_model = visit.element.task_listeners.get(transition.event_type.lower(), ())
    left = transition.global_listeners[transition.globally_listened :]
    is_model_done = transition.listened >= len(of_model)
    if left and (is_model_done or not left[0].after_non_global):
        return _job_of(left[0], visit), True
    return None if is_model_done else (of_model[transition.listened], False)


def _job_of(listener: GlobalListener, visit: Visit) -> JobDefinition:
    """The job definition of a global listener; like listeners of the model, it has the headers of the user task."""
    definition = visit.element.user_task
    headers = {} if definition is None else definition.headers
    return JobDefinition(Static(listener.type), Static(str(listener.retries)), headers)


def create(step: Step, visit: Visit, user_task: UserTask, assignee: str) -> None:
    """Continue with a new user task: run the listeners of its creation, then those of its first assignment."""
    if _has_listeners(step, visit, ListenerEventType.CREATING):
        values = replace(user_task.values, assignee=assignee)
        begin(step, visit, user_task, ListenerEventType.CREATING, values)
    else:
        assign_first(step, visit, user_task, assignee)


def assign_first(
    step: Step, visit: Visit, user_task: UserTask, assignee: str, requester: Requester | None = None
) -> None:
    if not assignee:
        return
    values = replace(user_task.values, assignee=assignee)
    event_type = ListenerEventType.ASSIGNING
    if begin(step, visit, user_task, event_type, values, requester=requester) is None:
        step.emit(
            events.UserTaskAssigned(
                visit.process_instance.head,
                user_task.key,
                visit.instance.key,
                assignee,
                requester,
                user_task.form_key,
            )
        )


def cancel(step: Step, visit: Visit, user_task: UserTask) -> None:
    """Cancel a user task whose element instance is being terminated, after its jobs were canceled."""
    process_instance, instance = visit.process_instance, visit.instance
    end(step, visit, user_task, refusal=f"user task {user_task.key} was canceled")
    if instance.incident_key is not None and _has_listeners(step, visit, ListenerEventType.CANCELING):
        # An incident of the canceling listeners may replace it.
        step.resolve_incident(process_instance, instance.incident_key)
    if begin(step, visit, user_task, ListenerEventType.CANCELING, user_task.values) is None:
        step.emit(
            events.UserTaskCanceled(
                process_instance.head, user_task.key, instance.key, None, user_task.form_key
            )
        )


def end(step: Step, visit: Visit, user_task: UserTask, refusal: str | None = None) -> None:
    """End the current transition, if there is one."""
    if user_task.transition is not None:
        step.emit(
            events.UserTaskTransitionEnded(
                visit.process_instance.head,
                user_task.key,
                visit.instance.key,
                user_task.transition,
                refusal,
                user_task.form_key,
            )
        )
