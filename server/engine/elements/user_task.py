"""User task: waits for a person, who completes it through the user task API or a job worker."""

from server.bpmn.executable import JobDefinition, Static
from server.engine import task_listeners
from server.engine.behaviour import Behaviour
from server.engine.jobs import create_job
from server.engine.scopes import VariableScope
from server.engine.step import Step, Visit
from server.engine.user_tasks import assignment_of, create_user_task, headers_of

JOB_TYPE = "io.camunda.zeebe:userTask"
RETRIES = "1"


class UserTask(Behaviour):
    """Creates a native user task or a job, and waits for its completion."""

    is_migratable = True

    def activate(self, step: Step, visit: Visit) -> None:
        definition = visit.element.user_task
        assert definition is not None, "the compiler gives every user task one"  # noqa: S101  # narrows the type
        scope = VariableScope(step, visit.process_instance, scope_key=visit.instance.key)
        assignment = assignment_of(step, visit.process_instance, definition, scope)
        if definition.is_native:
            user_task = create_user_task(step, visit, definition.headers, assignment)
            task_listeners.create(step, visit, user_task, assignment.assignee)
        else:
            headers = headers_of(definition, assignment)
            create_job(step, visit, JobDefinition(Static(JOB_TYPE), Static(RETRIES), headers))

    def terminate(self, step: Step, visit: Visit) -> bool:  # noqa: ARG002  # for elements that look at the state
        """A native user task may run its task listeners first."""
        return visit.instance.user_task_key is None

    def waits(self, visit: Visit) -> bool:  # noqa: ARG002  # for elements that look at themselves
        return True
