"""Creates the jobs of elements and listeners."""

from server.bpmn.executable import JobDefinition, Static
from server.engine import events
from server.engine.expressions import integer_of, string_of
from server.engine.job_kinds import JobKind, ListenerEventType
from server.engine.resource_binding import resource_headers
from server.engine.scopes import VariableScope
from server.engine.step import Step, Visit


def evaluated(step: Step, visit: Visit, job: JobDefinition) -> JobDefinition:
    """The job definition with its expressions evaluated; raises Incident."""
    scope = VariableScope(step, visit.process_instance, scope_key=visit.instance.key)
    job_type, retries = string_of(job.type, scope), integer_of(job.retries, scope)
    return JobDefinition(Static(job_type), Static(str(retries)), job.headers, job.linked_resources)


def create_job(
    step: Step,
    visit: Visit,
    job: JobDefinition,
    kind: JobKind = JobKind.BPMN_ELEMENT,
    listener_event_type: ListenerEventType = ListenerEventType.UNSPECIFIED,
    *,
    is_global: bool = False,
) -> None:
    """Create a job; raises Incident for a failed expression or a missing linked resource."""
    instance = visit.process_instance
    scope = VariableScope(step, instance, scope_key=visit.instance.key)
    job_type, retries = string_of(job.type, scope), integer_of(job.retries, scope)
    headers = dict(job.headers)
    if job.linked_resources:
        headers.update(resource_headers(step, instance, job.linked_resources))
    step.emit(
        events.JobCreated(
            instance.head,
            step.next_key(),
            visit.instance.key,
            visit.element.id,
            job_type,
            retries,
            headers,
            kind,
            listener_event_type,
            is_global,
        )
    )
