"""Turns a user task of a job worker into a native one when the migration target has a native one.

Candidates, dates, form and headers come from the job. Assignee and priority are evaluated from the target.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from server.bpmn.executable import ElementType, UserTaskDefinition
from server.engine import events
from server.engine.handlers.migration_plan import MigrationPlan
from server.engine.incidents import Incident
from server.engine.keys import Key
from server.engine.lifecycle import ElementState
from server.engine.process_instance import ElementInstance, ProcessInstance
from server.engine.scopes import VariableScope
from server.engine.step import Step, Visit
from server.engine.user_tasks import Assignment, assignment_in, create_user_task, own_headers


@dataclass(frozen=True, slots=True)
class UserTaskMigration:
    """A user task that becomes native; `visit` has its element in the target."""

    visit: Visit
    job_key: Key
    headers: dict[str, str]
    assignment: Assignment


def user_task_migrations(
    plan: MigrationPlan, step: Step, instance: ProcessInstance
) -> tuple[UserTaskMigration, ...]:
    """The user tasks that become native, not changed yet; raises Rejected."""
    return tuple(_migrations(plan, step, instance))


def _migrations(plan: MigrationPlan, step: Step, instance: ProcessInstance) -> Iterator[UserTaskMigration]:
    for element in instance.elements.values():
        if element.type is not ElementType.USER_TASK:
            continue
        source = plan.source.elements[element.element_id]
        target = plan.counterpart(source)
        assert source.user_task is not None, "the compiler gives every user task one"  # noqa: S101  # narrows the type
        assert target.user_task is not None, "the compiler gives every user task one"  # noqa: S101  # narrows the type
        if source.user_task.is_native and not target.user_task.is_native:
            raise plan.invalid_state(
                f"active user task '{source.id}' is a native one, target user task '{target.id}' is done by job workers"
            )
        if not source.user_task.is_native and target.user_task.is_native and _has_job(element):
            yield _migration(plan, step, Visit(instance, target, element), source.user_task)


def _has_job(element: ElementInstance) -> bool:
    """Whether the job is that of the user task; in other states it belongs to a listener."""
    return element.state is ElementState.ACTIVATED and element.job_key is not None


def _migration(
    plan: MigrationPlan, step: Step, visit: Visit, source: UserTaskDefinition
) -> UserTaskMigration:
    instance, element, definition = visit.process_instance, visit.instance, visit.element.user_task
    assert definition is not None, "the compiler gives every user task one"  # noqa: S101  # narrows the type
    job = instance.jobs[Key(element.job_key or 0)]
    scope = VariableScope(step, instance, scope_key=element.key)
    try:
        assignment = assignment_in(
            job.headers, definition, scope, has_linked_form=source.linked_form is not None
        )
    except Incident as incident:
        raise plan.invalid_state(
            f"user task '{visit.element.id}' cannot be assigned: {incident.message}"
        ) from incident
    return UserTaskMigration(visit, job.key, own_headers(job.headers), assignment)


def emit_job_gone(step: Step, migration: UserTaskMigration) -> None:
    instance = migration.visit.process_instance
    incident_key = instance.jobs[migration.job_key].incident_key
    if incident_key is not None:
        step.resolve_incident(instance, incident_key)
    step.emit(events.JobCanceled(instance.head, migration.job_key))


def emit_created(step: Step, migration: UserTaskMigration) -> None:
    """Create the user task without running task listeners, because the task existed before."""
    visit, assignee = migration.visit, migration.assignment.assignee
    user_task = create_user_task(step, visit, migration.headers, migration.assignment)
    if assignee:
        step.emit(
            events.UserTaskAssigned(
                visit.process_instance.head,
                user_task.key,
                visit.instance.key,
                assignee,
                None,
                user_task.form_key,
            )
        )
