"""Script task: an expression that the engine evaluates, or a job for a worker."""

from server.engine.elements.service_task import JobWorkerTask
from server.engine.expressions import value_of
from server.engine.mappings import merge_result
from server.engine.scopes import VariableScope
from server.engine.sizes import text_of
from server.engine.step import Step, Visit


class ScriptTask(JobWorkerTask):
    """Evaluates the script and completes at once; without a script it is a job worker task."""

    def activate(self, step: Step, visit: Visit) -> None:
        script = visit.element.script
        if script is None:
            super().activate(step, visit)
            return
        scope = VariableScope(step, visit.process_instance, scope_key=visit.instance.key)
        result = text_of(step, value_of(script.expression, scope), "the result of the script")
        merge_result(step, visit, {script.result_variable: result})

    def waits(self, visit: Visit) -> bool:
        return visit.element.script is None
