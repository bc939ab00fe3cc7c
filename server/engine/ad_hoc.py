"""What an ad-hoc sub-process activates, what the paths in it give, and when it is complete.

Elements are activated by its collection of active elements, by callers, and by its job worker if it has one. One that
has a worker gets a new job after each path.
"""

from typing import Final, cast

from server import feel
from server.bpmn.executable import AdHoc, Element
from server.engine import events
from server.engine.expressions import is_true, some_strings_of, value_of
from server.engine.incidents import ErrorType, Incident
from server.engine.job_kinds import JobKind
from server.engine.job_results import AdHocSubProcessResult
from server.engine.jobs import create_job, evaluated
from server.engine.keys import Key
from server.engine.process_instance import ElementInstance, ProcessInstance
from server.engine.rejection import Rejected, RejectionType
from server.engine.scopes import VariableScope, propagate, set_all_local, set_local
from server.engine.step import Step, Visit
from server.engine.variables import Variables, decode, encode
from server.engine.work import ActivateElements, Activation, CompleteWhenEmpty, TerminateEarlier
from server.feel.limits import CHARACTERS_PER_STEP

ELEMENTS: Final = "adHocSubProcessElements"

TOLD: Final = 10
"""Unknown elements that an incident or a rejection names."""


def describe(step: Step, visit: Visit) -> None:
    """Make the variables that an ad-hoc sub-process begins with."""
    ad_hoc, instance = _ad_hoc(visit), visit.process_instance
    step.charge(len(ad_hoc.description) // CHARACTERS_PER_STEP)
    variables = {ELEMENTS: ad_hoc.description}
    if ad_hoc.output_collection is not None:
        variables[ad_hoc.output_collection] = "[]"
    made = instance.variables.get(visit.instance.key, {})
    missing = {name: text for name, text in variables.items() if name not in made}
    set_all_local(step, instance, visit.instance.key, missing)


def begin(step: Step, visit: Visit) -> None:
    """Activate its first elements, or leave that to its worker; raises Incident."""
    if visit.element.job is not None:
        create_job(step, visit, visit.element.job, JobKind.AD_HOC_SUB_PROCESS)
        return
    active = _ad_hoc(visit).active_elements
    if active is None:
        return
    scope = VariableScope(step, visit.process_instance, scope_key=visit.instance.key)
    element_ids, most = some_strings_of(active, scope), step.state.limits.loop_items
    unknown = unknown_elements(visit.element, element_ids)
    if unknown:
        raise Incident(ErrorType.EXTRACT_VALUE_ERROR, unknown_reason(visit.instance.key, unknown))
    if len(element_ids) > most:
        message = f"Expected a collection of at most {most} active elements, found {len(element_ids)}"
        raise Incident(ErrorType.EXTRACT_VALUE_ERROR, message)
    plan(step, visit, tuple(map(Activation, element_ids)))


def unknown_elements(element: Element, element_ids: tuple[str, ...]) -> list[str]:
    """Those that are no elements of the ad-hoc sub-process to which nothing leads, each once."""
    activities = cast("AdHoc", element.ad_hoc).activities
    return [each for each in dict.fromkeys(element_ids) if each not in activities]


def unknown_reason(key: Key, unknown: list[str]) -> str:
    listed = ", ".join(unknown[:TOLD])
    more = f" and {len(unknown) - TOLD} more" if len(unknown) > TOLD else ""
    return (
        f"Expected to activate activities for ad-hoc sub-process with key '{key}', but the given elements"
        f" [{listed}]{more} do not exist."
    )


def expect_elements(step: Step, visit: Visit, activations: tuple[Activation, ...]) -> None:
    """Raises Rejected for elements that the ad-hoc sub-process does not have, and for too many."""
    unknown = unknown_elements(visit.element, tuple(each.element_id for each in activations))
    if unknown:
        raise Rejected(RejectionType.NOT_FOUND, unknown_reason(visit.instance.key, unknown))
    most = step.state.limits.loop_items
    if len(activations) > most:
        reason = f"Expected at most {most} elements to activate, found {len(activations)}"
        raise Rejected(RejectionType.INVALID_ARGUMENT, reason)


def activate(
    step: Step, visit: Visit, activations: tuple[Activation, ...], *, cancels_remaining: bool
) -> None:
    """Activate elements of an active ad-hoc sub-process, and terminate what was active in it if it is so wanted."""
    last_key = step.state.last_key
    plan(step, visit, activations)
    if cancels_remaining:
        step.defer(visit.process_instance, TerminateEarlier(visit.instance.key, last_key))


def decide(step: Step, visit: Visit, result: AdHocSubProcessResult) -> None:
    """Do what the worker of an ad-hoc sub-process has decided."""
    if result.is_fulfilled:
        fulfil(step, visit, is_fulfilled=True, cancels_remaining=result.cancels_remaining)
        step.defer(visit.process_instance, CompleteWhenEmpty(visit.instance.key))
    else:
        activate(step, visit, result.activations, cancels_remaining=result.cancels_remaining)


def plan(step: Step, visit: Visit, activations: tuple[Activation, ...]) -> None:
    """Activate these elements later in the turn; until then the ad-hoc sub-process is not complete."""
    if activations:
        key = visit.instance.key
        step.emit(events.ElementsPlanned(visit.process_instance.head, key, len(activations)))
        step.defer(visit.process_instance, ActivateElements(key, activations))


def set_variables(step: Step, inner: Visit, element: Element, variables: Variables) -> None:
    """Give a new inner instance what is its own."""
    name = cast("AdHoc", element.ad_hoc).output_name
    made = {name: "null"} if name is not None else {}
    step.charge_copies(variables)
    set_all_local(step, inner.process_instance, inner.instance.key, {**made, **variables})


def is_complete(visit: Visit) -> bool:
    """Whether an ad-hoc sub-process in which nothing is active goes on."""
    instance, progress = visit.instance, visit.instance.ad_hoc
    if instance.ends_remaining or instance.interruption is not None:
        return True
    if progress.planned:
        return False
    is_asked = visit.element.job is not None or _ad_hoc(visit).completion_condition is not None
    return progress.is_done or not is_asked


def complete_inside(step: Step, visit: Visit) -> None:
    """Keep the output of a path inside, and see what that means for the ad-hoc sub-process; raises Incident.

    The path is an inner instance or an event sub-process, which has no output.
    """
    instance = visit.process_instance
    around = instance.elements[cast("Key", visit.instance.scope_key)]
    if around.interruption is not None:
        return
    holder = step.visit(instance, around)
    outputs = _outputs_with(step, holder, visit) if visit.instance.begins_at else None
    if holder.element.job is None:
        _evaluate_condition(step, holder, outputs)
    else:
        _ask_again(step, holder)
    if outputs is not None:
        set_local(step, instance, around.key, cast("str", _ad_hoc(holder).output_collection), outputs)


def _outputs_with(step: Step, holder: Visit, inner: Visit) -> str | None:
    """The output collection with the output of an inner instance behind the others; raises Incident."""
    ad_hoc, instance = _ad_hoc(holder), inner.process_instance
    if ad_hoc.output_element is None or ad_hoc.output_collection is None:
        return None
    scope = VariableScope(step, instance, scope_key=inner.instance.key)
    output = encode(value_of(ad_hoc.output_element, scope))
    outputs = _collected(holder, ad_hoc.output_collection)
    if not outputs.startswith("["):
        message = (
            f"Expected output collection '{ad_hoc.output_collection}' to be an 'ARRAY', found another value."
        )
        raise Incident(ErrorType.EXTRACT_VALUE_ERROR, message)
    return f"[{output}]" if outputs == "[]" else f"{outputs[:-1]},{output}]"


def _collected(holder: Visit, name: str) -> str:
    """The output collection, which one that was migrated may not have yet."""
    variable = holder.process_instance.variables.get(holder.instance.key, {}).get(name)
    return variable.value if variable is not None else "[]"


def _evaluate_condition(step: Step, holder: Visit, outputs: str | None) -> None:
    ad_hoc, progress = _ad_hoc(holder), holder.instance.ad_hoc
    if ad_hoc.completion_condition is None or holder.instance.ends_remaining:
        return
    scope = _ConditionScope(step, holder, outputs)
    is_fulfilled = is_true(ad_hoc.completion_condition, scope)
    if is_fulfilled is not progress.is_done:
        fulfil(step, holder, is_fulfilled=is_fulfilled, cancels_remaining=ad_hoc.cancels_remaining)


def fulfil(step: Step, holder: Visit, *, is_fulfilled: bool, cancels_remaining: bool) -> None:
    head, key = holder.process_instance.head, holder.instance.key
    step.emit(events.AdHocConditionEvaluated(head, key, is_fulfilled, cancels_remaining))


def _ask_again(step: Step, holder: Visit) -> None:
    """Give the worker a new job, in the place of the one that it may have; raises Incident."""
    definition = holder.element.job
    if definition is None or holder.instance.ad_hoc.is_done:
        return
    following = evaluated(step, holder, definition)
    cancel_job(step, holder.process_instance, holder.instance)
    create_job(step, holder, following, JobKind.AD_HOC_SUB_PROCESS)


def cancel_job(step: Step, process_instance: ProcessInstance, instance: ElementInstance) -> None:
    """Take the job back that an active element instance has, if it has one."""
    if instance.job_key is None:
        return
    incident_key = process_instance.jobs[instance.job_key].incident_key
    if incident_key is not None:
        step.resolve_incident(process_instance, incident_key)
    step.emit(events.JobCanceled(process_instance.head, instance.job_key))


def propagate_outputs(step: Step, visit: Visit) -> None:
    """Make the output collection a variable of the scope around the ad-hoc sub-process."""
    name, scope_key = _ad_hoc(visit).output_collection, visit.instance.scope_key
    if name is not None and scope_key is not None:
        propagate(step, visit.process_instance, scope_key, {name: _collected(visit, name)})


def _ad_hoc(visit: Visit) -> AdHoc:
    return cast("AdHoc", visit.element.ad_hoc)


class _ConditionScope(VariableScope):
    """What a completion condition sees after a path inside: the variables of the ad-hoc sub-process, with its output."""

    __slots__ = ("_name", "_outputs")

    def __init__(self, step: Step, holder: Visit, outputs: str | None) -> None:
        super().__init__(step, holder.process_instance, scope_key=holder.instance.key)
        self._name, self._outputs = _ad_hoc(holder).output_collection, outputs

    def get(self, name: str, default: feel.Missing, /) -> feel.Value | feel.Missing:
        if self._outputs is None or name != self._name:
            return super().get(name, default)
        self._step.budget.spend(len(self._outputs) // CHARACTERS_PER_STEP)
        return decode(self._outputs)
