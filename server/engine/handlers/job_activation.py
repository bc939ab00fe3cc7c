"""Offers jobs to workers, and offers them again after time-outs and back-offs."""

from collections.abc import Mapping
from itertools import islice
from typing import Final, cast

from server.engine import events
from server.engine.answers import (
    DONE,
    MAX_ANSWER_OCTETS,
    ActivatedJob,
    ActivatedJobs,
    Done,
    UserTaskProperties,
)
from server.engine.job_commands import ActivateJobs, EndJobBackOff, TimeOutJob, YieldJobs
from server.engine.job_kinds import TASK_LISTENER, ListenerEventType
from server.engine.keys import Key
from server.engine.octets import MOST_CHANGED_OCTETS, instance_octets
from server.engine.process_instance import Job, JobState, ProcessInstance, UserTask
from server.engine.scopes import visible
from server.engine.sizes import exceeded
from server.engine.step import Step
from server.engine.variables import Variables
from server.feel.limits import CHARACTERS_PER_STEP

# The attribute names that task listeners use in models.
ATTRIBUTES: Final[Mapping[str, str]] = {
    "assignee": "assignee",
    "candidate_groups": "candidateGroupsList",
    "candidate_users": "candidateUsersList",
    "due_date": "dueDate",
    "follow_up_date": "followUpDate",
    "priority": "priority",
}


def activate(command: ActivateJobs, step: Step) -> ActivatedJobs:
    """Activate the oldest offers that fit into the answer; a job that is too large for a worker raises an incident.

    The activation ends early after enough large jobs, and before the job whose process instance is more than
    one commit should write.
    """
    offers = step.state.offers.get((command.tenant_id, command.type))
    wanted = list(islice(offers.items(), command.max_jobs)) if offers else []
    step.state.expect_loaded(offer.process_instance_key for _, offer in wanted)
    jobs: list[ActivatedJob] = []
    total = changed = 0
    instances: set[Key] = set()
    most = MAX_ANSWER_OCTETS if command.max_octets is None else command.max_octets
    for job_key, offer in wanted:
        instance = step.state.instances[offer.process_instance_key]
        if instance.head.key not in instances:
            instances.add(instance.head.key)
            changed += instance_octets(instance, (job_key,))
            if jobs and changed > MOST_CHANGED_OCTETS:
                break
        job = _activated(command, step, instance, instance.jobs[job_key])
        size = job.octets
        if size > step.state.limits.message_octets:
            _withhold(step, instance, instance.jobs[job_key], size)
            if step.has_done_enough:
                break
            continue
        total += size
        if total > most and (jobs or command.max_octets is not None):
            break
        step.emit(events.JobActivated(instance.head, job_key, command.worker, job.deadline))
        jobs.append(job)
    return ActivatedJobs(tuple(jobs))


def _withhold(step: Step, instance: ProcessInstance, job: Job, size: int) -> None:
    step.charge(size // CHARACTERS_PER_STEP)
    incident = exceeded(f"the variables of job {job.key}", step.state.limits.message_octets, size)
    step.emit(events.JobWithheld(instance.head, job.key, incident.message))
    visit = step.visit(instance, instance.elements[job.element_instance_key])
    step.raise_incident(visit, incident, job)


def _activated(command: ActivateJobs, step: Step, instance: ProcessInstance, job: Job) -> ActivatedJob:
    return ActivatedJob(
        job.key,
        instance.head,
        job.type,
        job.element_id,
        job.element_instance_key,
        job.headers,
        command.worker,
        job.retries,
        step.after(command.timeout),
        _variables(command, instance, job),
        job.kind,
        job.listener_event_type,
        _user_task(instance, job) if job.kind is TASK_LISTENER else None,
    )


def _user_task(instance: ProcessInstance, job: Job) -> UserTaskProperties:
    user_task = _asked_about(instance, job)
    transition = user_task.begun
    changed = [ATTRIBUTES[name] for name in transition.values.differences(user_task.values)]
    if transition.variables and transition.event_type is ListenerEventType.UPDATING:
        changed.append("variables")
    return UserTaskProperties(
        user_task.key, transition.action, transition.values, tuple(changed), user_task.form_key
    )


def _asked_about(instance: ProcessInstance, job: Job) -> UserTask:
    """The user task of a listener's job."""
    return instance.user_tasks[cast("Key", instance.elements[job.element_instance_key].user_task_key)]


def _variables(command: ActivateJobs, instance: ProcessInstance, job: Job) -> Variables:
    variables = visible(instance, job.element_instance_key)
    if job.kind is TASK_LISTENER:
        # The variables of the transition are not set yet.
        transition = _asked_about(instance, job).begun
        variables = {**variables, **(transition.variables or {})}
    if not command.fetch_variables:
        return variables
    return {name: variables[name] for name in command.fetch_variables if name in variables}


def yield_(command: YieldJobs, step: Step) -> Done:
    """Offer the jobs again, except jobs that were activated again or got another deadline in the meantime."""
    for job_key, deadline in command.jobs:
        found = _find(step, job_key, JobState.ACTIVATED)
        if found is not None and (found[0].head.tenant_id, found[1].due) == (command.tenant_id, deadline):
            step.emit(events.JobYielded(found[0].head, job_key))
    return DONE


def time_out(command: TimeOutJob, step: Step) -> Done:
    """Offer the job again; does nothing when it was completed or got a later deadline in the meantime."""
    found = _find(step, command.job_key, JobState.ACTIVATED)
    if found is not None and found[1].due == command.deadline:
        step.emit(events.JobTimedOut(found[0].head, command.job_key))
    return DONE


def end_back_off(command: EndJobBackOff, step: Step) -> Done:
    found = _find(step, command.job_key, JobState.BACKING_OFF)
    if found is not None and found[1].due == command.offered_at:
        step.emit(events.JobBackOffEnded(found[0].head, command.job_key))
    return DONE


def _find(step: Step, key: Key, state: JobState) -> tuple[ProcessInstance, Job] | None:
    instance = step.state.owner_of(key)
    job = instance.jobs.get(key) if instance is not None else None
    return (instance, job) if instance is not None and job is not None and job.state is state else None
