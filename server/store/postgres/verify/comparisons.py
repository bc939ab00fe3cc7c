"""Compares the rows of a live process instance with its document, table by table.

Facts are tuples by the key of their row. A document has only active entities, so rows of ended ones are left
out.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from server.engine.keys import Key
from server.engine.process_instance import JobState, ProcessInstance
from server.engine.subscriptions import MessageSubscription
from server.store.entities import JobState as Shown
from server.store.postgres.literals import storable

Fact = tuple[object, ...]
Facts = Mapping[Key, Fact]


def _is_same(documented: Fact, shown: Fact) -> bool:
    return documented == shown or _stored(documented) == shown


def _stored(fact: Fact) -> Fact:
    """The fact with its texts as PostgreSQL stores them."""
    return tuple(map(_stored_value, fact))


def _stored_value(value: object) -> object:
    if isinstance(value, list):
        return [_stored_value(item) for item in value]
    return storable(value) if isinstance(value, str) else value


@dataclass(frozen=True, slots=True)
class Comparison:
    """`text` selects rows of tenants $1 and process instances $2 to $3: process instance, key, then the columns of the fact."""

    name: str
    text: str
    documented: Callable[[ProcessInstance], Facts]
    agree: Callable[[Fact, Fact], bool] = _is_same


def _process_instance(instance: ProcessInstance) -> Facts:
    head, caller = instance.head, instance.head.caller
    return {
        head.key: (
            head.process_definition_key,
            head.process_definition_id,
            head.version,
            head.business_id,
            bool(instance.incidents),
            caller.process_instance_key if caller is not None else None,
            caller.element_instance_key if caller is not None else None,
        )
    }


def _element_instances(instance: ProcessInstance) -> Facts:
    return {
        element.key: (
            element.element_id,
            element.type,
            element.scope_key,
            element.incident_key is not None,
            element.incident_key,
        )
        for element in instance.elements.values()
        if element.scope_key is not None
    }


def _jobs(instance: ProcessInstance) -> Facts:
    return {
        job.key: (
            job.state,
            job.worker,
            job.due,
            job.element_instance_key,
            job.element_id,
            job.type,
            job.retries,
        )
        for job in instance.jobs.values()
    }


def _variables(instance: ProcessInstance) -> Facts:
    return {
        variable.key: (scope_key, name, variable.value)
        for scope_key, variables in instance.variables.items()
        for name, variable in variables.items()
    }


def _incidents(instance: ProcessInstance) -> Facts:
    return {
        incident.key: (incident.element_instance_key, incident.job_key, incident.error_type)
        for incident in instance.incidents.values()
    }


def _user_tasks(instance: ProcessInstance) -> Facts:
    return {
        task.key: (
            task.element_instance_key,
            task.element_id,
            task.assignee or None,
            list(task.candidate_groups),
            list(task.candidate_users),
            task.due_date,
            task.follow_up_date,
            task.priority,
            task.state,
            task.form_key,
        )
        for task in instance.user_tasks.values()
    }


def _message_subscriptions(instance: ProcessInstance) -> Facts:
    return {
        each.key: (each.element_instance_key, each.element_id, each.message_name, each.correlation_key)
        for each in instance.subscriptions.values()
        if isinstance(each, MessageSubscription)
    }


# A row shows the last event of its job; a job may be offered after several kinds of events.
_ALWAYS = {Shown.RETRIES_UPDATED, Shown.MIGRATED}
SHOWN_AS: Mapping[object, frozenset[object]] = {
    JobState.ACTIVATABLE: frozenset(
        {Shown.CREATED, Shown.FAILED, Shown.TIMED_OUT, Shown.ERROR_THROWN, *_ALWAYS}
    ),
    JobState.ACTIVATED: frozenset({Shown.CREATED, *_ALWAYS}),
    JobState.BACKING_OFF: frozenset({Shown.FAILED, *_ALWAYS}),
    JobState.FAILED: frozenset({Shown.FAILED, *_ALWAYS}),
    JobState.ERROR_THROWN: frozenset({Shown.ERROR_THROWN, *_ALWAYS}),
}


def _is_same_job(documented: Fact, shown: Fact) -> bool:
    state, worker, due, *facts = documented
    shown_state, shown_worker, shown_deadline, *shown_facts = shown
    if shown_state not in SHOWN_AS[state] or not _is_same(tuple(facts), tuple(shown_facts)):
        return False
    return state is not JobState.ACTIVATED or _is_same((worker, due), (shown_worker, shown_deadline))


COMPARISONS = (
    Comparison(
        "process-instances",
        """
        SELECT process_instance_key, process_instance_key, process_definition_key, process_definition_id,
            process_definition_version, business_id, has_incident, parent_process_instance_key,
            parent_element_instance_key
        FROM runtime.process_instance
        WHERE tenant_id = ANY($1) AND process_instance_key BETWEEN $2 AND $3 AND state = 'ACTIVE'
        """,
        _process_instance,
    ),
    Comparison(
        "element-instances",
        """
        SELECT process_instance_key, element_instance_key, element_id, type, element_instance_scope_key,
            has_incident, incident_key
        FROM runtime.element_instance
        WHERE tenant_id = ANY($1) AND process_instance_key BETWEEN $2 AND $3 AND state = 'ACTIVE'
        """,
        _element_instances,
    ),
    Comparison(
        "jobs",
        """
        SELECT process_instance_key, job_key, state, worker, deadline, element_instance_key, element_id, type, retries
        FROM runtime.job
        WHERE tenant_id = ANY($1) AND process_instance_key BETWEEN $2 AND $3
            AND state NOT IN ('COMPLETED', 'CANCELED')
        """,
        _jobs,
        _is_same_job,
    ),
    Comparison(
        "variables",
        """
        SELECT process_instance_key, variable_key, scope_key, name, value FROM runtime.variable AS v
        WHERE tenant_id = ANY($1) AND process_instance_key BETWEEN $2 AND $3
            AND (scope_key = process_instance_key OR EXISTS (
                SELECT FROM runtime.element_instance AS scope
                WHERE scope.partition_id = v.partition_id AND scope.element_instance_key = v.scope_key
                    AND scope.state = 'ACTIVE'
            ))
        """,
        _variables,
    ),
    Comparison(
        "incidents",
        """
        SELECT process_instance_key, incident_key, element_instance_key, job_key, error_type
        FROM runtime.incident
        WHERE tenant_id = ANY($1) AND process_instance_key BETWEEN $2 AND $3 AND state = 'ACTIVE'
        """,
        _incidents,
    ),
    Comparison(
        "user-tasks",
        """
        SELECT process_instance_key, user_task_key, element_instance_key, element_id, assignee, candidate_groups,
            candidate_users, due_date, follow_up_date, priority, state, form_key
        FROM runtime.user_task
        WHERE tenant_id = ANY($1) AND process_instance_key BETWEEN $2 AND $3
            AND state NOT IN ('COMPLETED', 'CANCELED')
        """,
        _user_tasks,
    ),
    Comparison(
        "message-subscriptions",
        """
        SELECT process_instance_key, message_subscription_key, element_instance_key, element_id, message_name,
            correlation_key
        FROM runtime.message_subscription
        WHERE tenant_id = ANY($1) AND process_instance_key BETWEEN $2 AND $3 AND is_open
        """,
        _message_subscriptions,
    ),
)
