"""Call activities and called process instances: they begin and end together.

Both live in the same partition, as separate documents. Each acts on the other by deferred work, so that a
long chain of calls is handled in slices.
"""

from typing import cast

from server.engine import events, execution
from server.engine.lifecycle import ElementState
from server.engine.mappings import merge_result
from server.engine.process_instance import ElementInstance, ProcessInstance
from server.engine.step import Step, Visit
from server.engine.variables import Variables
from server.engine.work import Begin, EndCalled, Return


def begin(step: Step, called: ProcessInstance, root: ElementInstance, _: Begin) -> None:
    """Start the called process instance, unless it is already terminating."""
    if root.state is ElementState.ACTIVATING:
        step.activations += 1
        step.begin_element()
        execution.start(step, called)


def end_called(
    step: Step, process_instance: ProcessInstance, instance: ElementInstance, work: EndCalled
) -> None:
    """Terminate the process instance that a terminating call activity has called."""
    key = instance.called_key
    if key is None or instance.state is not ElementState.TERMINATING:
        return
    if not step.reaches(key):
        step.prefer(process_instance, work)
        return
    called = step.state.instances[key]
    root = called.elements[key]
    if root.state is not ElementState.TERMINATING:
        # It is called off, so no command of time continues the work that it postponed.
        if called.work:
            step.resume(called)
        execution.terminate(step, called, root)


def return_(step: Step, called: ProcessInstance, root: ElementInstance, work: Return) -> None:
    """End a called process instance, and continue its call activity."""
    caller = cast("events.Caller", called.head.caller)
    if not step.reaches(caller.process_instance_key):
        step.prefer(called, work)
        return
    calling = step.state.instances[caller.process_instance_key]
    visit = step.visit(calling, calling.elements[caller.element_instance_key])
    variables = {name: variable.value for name, variable in called.variables.get(root.key, {}).items()}
    is_complete = root.state is ElementState.COMPLETING
    ended = events.ElementCompleted if is_complete else events.ElementTerminated
    step.emit(ended(called.head, root.key))
    step.emit(events.CallEnded(calling.head, visit.instance.key))
    if visit.instance.state is ElementState.TERMINATING:
        execution.end_termination(step, calling, visit.instance)
    else:
        step.begin_element()
        _take_back(step, visit, variables)
        execution.complete(step, visit)


def _take_back(step: Step, visit: Visit, variables: Variables) -> None:
    """Merge the variables of the called process instance, if the call activity or its output mappings need them."""
    called = visit.element.called_element
    if visit.element.output_mappings or (called is not None and called.propagates_all_child_variables):
        step.charge_copies(variables)
        merge_result(step, visit, variables)
