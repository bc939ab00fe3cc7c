"""Tasks that a job worker does: service tasks, and send, script and business rule tasks that define a job."""

from server.engine import events
from server.engine.behaviour import Behaviour
from server.engine.expressions import integer_of, string_of
from server.engine.scopes import VariableScope
from server.engine.step import Step, Visit


class JobWorkerTask(Behaviour):
    """Creates a job and waits for its completion."""

    completes_at_once = False

    def activate(self, step: Step, visit: Visit) -> None:
        job = visit.element.job
        assert job is not None, "lint demands a job definition"  # noqa: S101  # narrows the type
        instance = visit.process_instance
        scope = VariableScope(step, instance, scope_key=visit.instance.key)
        job_type, retries = string_of(job.type, scope), integer_of(job.retries, scope)
        step.emit(
            events.JobCreated(
                instance.head,
                step.next_key(),
                visit.instance.key,
                visit.element.id,
                job_type,
                retries,
                dict(job.headers),
            )
        )

    def terminate(self, step: Step, visit: Visit) -> None:
        if visit.instance.job_key is not None:
            step.emit(events.JobCanceled(visit.process_instance.head, visit.instance.job_key))
