"""Job worker tasks: service tasks, and send, script and business rule tasks with a job definition."""

from server.engine.behaviour import Behaviour
from server.engine.jobs import create_job
from server.engine.step import Step, Visit


class JobWorkerTask(Behaviour):
    """Creates a job and waits for its completion."""

    is_migratable = True

    def activate(self, step: Step, visit: Visit) -> None:
        job = visit.element.job
        assert job is not None, "lint demands a job definition"  # noqa: S101  # narrows the type
        create_job(step, visit, job)

    def waits(self, visit: Visit) -> bool:  # noqa: ARG002  # for elements that look at themselves
        return True
