"""User tasks: evaluation of their expressions, and creation of native ones."""

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import NamedTuple

import msgspec

from server.bpmn.executable import Attribute, UserTaskDefinition
from server.engine import events
from server.engine.expressions import integer_of, moment_of, string_of, strings_of
from server.engine.form_binding import bound_form
from server.engine.incidents import ErrorType, Incident
from server.engine.keys import Key
from server.engine.process_instance import ProcessInstance, UserTask
from server.engine.scopes import VariableScope
from server.engine.step import Step, Visit
from server.engine.variables import encode

DEFAULT_PRIORITY = 50
LOWEST_PRIORITY, HIGHEST_PRIORITY = 0, 100
# Names are in database indexes, which refuse long entries.
LONGEST_NAME = 256
MOST_CANDIDATES = 1_000

# Prefix of the reserved headers in the job of a user task.
HEADER_PREFIX = "io.camunda.zeebe:"


class Assignment(NamedTuple):
    """The evaluated assignment of a user task; an empty assignee means unassigned."""

    assignee: str
    candidate_groups: tuple[str, ...]
    candidate_users: tuple[str, ...]
    due_date: datetime | None
    follow_up_date: datetime | None
    priority: int
    form_key: Key | None
    external_form_reference: str | None


def create_user_task(
    step: Step, visit: Visit, headers: Mapping[str, str], assignment: Assignment
) -> UserTask:
    """Create a user task without an assignee."""
    head, instance, key = visit.process_instance.head, visit.instance, step.next_key()
    step.emit(
        events.UserTaskCreated(
            head,
            key,
            instance.key,
            visit.element.id,
            visit.element.name,
            dict(headers),
            assignment.external_form_reference,
            assignment.candidate_groups,
            assignment.candidate_users,
            assignment.due_date,
            assignment.follow_up_date,
            assignment.priority,
            assignment.form_key,
        )
    )
    return visit.process_instance.user_tasks[key]


def assignment_of(
    step: Step, instance: ProcessInstance, definition: UserTaskDefinition, scope: VariableScope
) -> Assignment:
    """Evaluate the assignment; raises Incident."""
    linked = definition.linked_form
    return Assignment(
        assignee_of(definition, scope),
        _candidates(definition.candidate_groups, scope),
        _candidates(definition.candidate_users, scope),
        None if definition.due_date is None else moment_of(definition.due_date, scope),
        None if definition.follow_up_date is None else moment_of(definition.follow_up_date, scope),
        _priority(definition, scope) if definition.is_native else DEFAULT_PRIORITY,
        None if linked is None else bound_form(step, instance, linked, scope).key,
        None if definition.form is None else string_of(definition.form, scope),
    )


def assignee_of(definition: UserTaskDefinition, scope: VariableScope) -> str:
    """Evaluate the assignee, empty if there is none; raises Incident."""
    if definition.assignee is None:
        return ""
    assignee = string_of(definition.assignee, scope)
    _expect_short(assignee)
    return assignee


def headers_of(definition: UserTaskDefinition, assignment: Assignment) -> dict[str, str]:
    """The headers of the job of a user task: those of the model, and the assignment under the reserved prefix."""
    return {**definition.headers, **dict(_reserved(definition, assignment))}


def _reserved(definition: UserTaskDefinition, assignment: Assignment) -> Iterator[tuple[str, str]]:
    if assignment.assignee:
        yield f"{HEADER_PREFIX}assignee", assignment.assignee
    if definition.candidate_groups is not None:
        yield f"{HEADER_PREFIX}candidateGroups", encode(list(assignment.candidate_groups))
    if definition.candidate_users is not None:
        yield f"{HEADER_PREFIX}candidateUsers", encode(list(assignment.candidate_users))
    if assignment.due_date is not None:
        yield f"{HEADER_PREFIX}dueDate", _written(assignment.due_date)
    if assignment.follow_up_date is not None:
        yield f"{HEADER_PREFIX}followUpDate", _written(assignment.follow_up_date)
    if assignment.form_key is not None:
        yield f"{HEADER_PREFIX}formKey", str(assignment.form_key)
    elif assignment.external_form_reference is not None:
        yield f"{HEADER_PREFIX}formKey", assignment.external_form_reference


def own_headers(job_headers: Mapping[str, str]) -> dict[str, str]:
    """The headers of a user task's job that come from the model."""
    return {name: text for name, text in job_headers.items() if not name.startswith(HEADER_PREFIX)}


def assignment_in(
    job_headers: Mapping[str, str],
    definition: UserTaskDefinition,
    scope: VariableScope,
    *,
    has_linked_form: bool,
) -> Assignment:
    """The assignment in the headers of a user task's job, with the assignee and priority of `definition`.

    The key of a linked form stays a form key, any other value becomes an external reference. Raises Incident.
    """
    told = {
        name.removeprefix(HEADER_PREFIX): text
        for name, text in job_headers.items()
        if name.startswith(HEADER_PREFIX)
    }
    form = told.get("formKey")
    is_linked = has_linked_form and form is not None and form.isdecimal()
    return Assignment(
        assignee_of(definition, scope),
        _listed(told.get("candidateGroups")),
        _listed(told.get("candidateUsers")),
        _moment(told.get("dueDate")),
        _moment(told.get("followUpDate")),
        _priority(definition, scope),
        Key(int(form)) if is_linked and form is not None else None,
        None if is_linked else form,
    )


def _listed(text: str | None) -> tuple[str, ...]:
    return () if text is None else msgspec.json.decode(text, type=tuple[str, ...])


def _moment(text: str | None) -> datetime | None:
    return None if text is None else datetime.fromisoformat(text)


def _written(moment: datetime) -> str:
    return moment.astimezone(UTC).isoformat().replace("+00:00", "Z")


def _candidates(attribute: Attribute | None, scope: VariableScope) -> tuple[str, ...]:
    if attribute is None:
        return ()
    names = strings_of(attribute, scope)
    if len(names) > MOST_CANDIDATES:
        raise _unfit(
            f"Expected '{attribute.text}' to name at most {MOST_CANDIDATES}, but it names {len(names)}"
        )
    for name in names:
        _expect_short(name)
    return names


def _expect_short(name: str) -> None:
    if len(name) > LONGEST_NAME:
        raise _unfit(f"Expected a name of at most {LONGEST_NAME} characters, but one has {len(name)}")


def _priority(definition: UserTaskDefinition, scope: VariableScope) -> int:
    if definition.priority is None:
        return DEFAULT_PRIORITY
    priority = integer_of(definition.priority, scope)
    if not LOWEST_PRIORITY <= priority <= HIGHEST_PRIORITY:
        raise _unfit(
            f"Expected priority to be in the range [{LOWEST_PRIORITY},{HIGHEST_PRIORITY}] but was '{priority}'"
        )
    return priority


def _unfit(message: str) -> Incident:
    return Incident(ErrorType.EXTRACT_VALUE_ERROR, message)
