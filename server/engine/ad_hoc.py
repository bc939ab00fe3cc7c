"""Ad-hoc sub-processes: activation of elements, output of their paths, completion.

The collection of active elements, callers and the job worker of the sub-process activate its elements. A
sub-process with a worker gets a new job after each completed path.
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
from server.engine.process_instance import ElementInstance, ProcessInstance, Variable
from server.engine.rejection import Rejected, RejectionType
from server.engine.scopes import VariableScope, find, propagate, set_all_local, set_local
from server.engine.sizes import expect_fits, text_of
from server.engine.step import Step, Visit
from server.engine.variables import Variables, decode, octets
from server.engine.work import ActivateElements, Activation, CompleteWhenEmpty, TerminateEarlier
from server.feel.limits import CHARACTERS_PER_STEP

ELEMENTS: Final = "adHocSubProcessElements"

CHARACTERS_PER_OUTPUT: Final = 1_024
"""The collection variable is rewritten once the unmerged outputs exceed one per this many characters of it."""

TOLD: Final = 10
"""Most unknown elements that an incident or a rejection names."""


def describe(step: Step, visit: Visit) -> None:
    """Create the local variables of a new ad-hoc sub-process: its element list and its empty output collection."""
    ad_hoc, instance = _ad_hoc(visit), visit.process_instance
    step.charge(len(ad_hoc.description) // CHARACTERS_PER_STEP)
    variables = {ELEMENTS: ad_hoc.description}
    if ad_hoc.output_collection is not None:
        variables[ad_hoc.output_collection] = "[]"
    made = instance.variables.get(visit.instance.key, {})
    missing = {name: text for name, text in variables.items() if name not in made}
    set_all_local(step, instance, visit.instance.key, missing)


def begin(step: Step, visit: Visit) -> None:
    """Activate the elements of the `activeElements` collection, or create the job of the sub-process; raises Incident."""
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
    """The element ids that are not activities of the ad-hoc sub-process, without duplicates."""
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
    """Raises Rejected for element ids that the ad-hoc sub-process does not have, and for too many elements."""
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
    """Activate elements of an active ad-hoc sub-process; `cancels_remaining` terminates its earlier children."""
    last_key = step.state.last_key
    plan(step, visit, activations)
    if cancels_remaining:
        step.defer(visit.process_instance, TerminateEarlier(visit.instance.key, last_key))


def decide(step: Step, visit: Visit, result: AdHocSubProcessResult) -> None:
    """Apply the job result of an ad-hoc sub-process: complete it, or activate elements."""
    if result.is_fulfilled:
        fulfil(step, visit, is_fulfilled=True, cancels_remaining=result.cancels_remaining)
        step.defer(visit.process_instance, CompleteWhenEmpty(visit.instance.key))
    else:
        activate(step, visit, result.activations, cancels_remaining=result.cancels_remaining)


def plan(step: Step, visit: Visit, activations: tuple[Activation, ...]) -> None:
    """Activate these elements later in the turn; the ad-hoc sub-process does not complete before that."""
    if activations:
        key = visit.instance.key
        step.emit(events.ElementsPlanned(visit.process_instance.head, key, len(activations)))
        step.defer(visit.process_instance, ActivateElements(key, activations))


def set_variables(step: Step, inner: Visit, element: Element, variables: Variables) -> None:
    """Set the local variables of a new inner instance: the output element as null, and the given variables."""
    name = cast("AdHoc", element.ad_hoc).output_name
    made = {name: "null"} if name is not None else {}
    step.charge_copies(variables)
    set_all_local(step, inner.process_instance, inner.instance.key, {**made, **variables})


def is_complete(visit: Visit) -> bool:
    """Whether an ad-hoc sub-process without active elements may complete."""
    instance, progress = visit.instance, visit.instance.ad_hoc
    if instance.ends_remaining or instance.interruption is not None:
        return True
    if progress.planned:
        return False
    is_asked = visit.element.job is not None or _ad_hoc(visit).completion_condition is not None
    return progress.is_done or not is_asked


def complete_inside(step: Step, visit: Visit) -> None:
    """Collect the output of a completed path, then evaluate the completion condition or create a new job.

    The path is an inner instance, or an event sub-process, which has no output. Raises Incident.
    """
    instance = visit.process_instance
    around = instance.elements[cast("Key", visit.instance.scope_key)]
    if around.interruption is not None:
        return
    holder = step.visit(instance, around)
    output = _output(step, holder, visit) if visit.instance.begins_at else None
    if holder.element.job is None:
        _evaluate_condition(step, holder, output)
    else:
        _ask_again(step, holder)
    if output is not None:
        _collect(step, holder, output)


def _output(step: Step, holder: Visit, inner: Visit) -> str | None:
    """The item that an inner instance adds to the output collection; raises Incident."""
    ad_hoc, instance = _ad_hoc(holder), inner.process_instance
    if ad_hoc.output_element is None or ad_hoc.output_collection is None:
        return None
    value = value_of(ad_hoc.output_element, VariableScope(step, instance, scope_key=inner.instance.key))
    output = text_of(step, value, "the output element")
    variable = _stored(holder, ad_hoc.output_collection)
    if variable is not None and not variable.value.startswith("["):
        message = (
            f"Expected output collection '{ad_hoc.output_collection}' to be an 'ARRAY', found another value."
        )
        raise Incident(ErrorType.EXTRACT_VALUE_ERROR, message)
    # The number of characters is known, so the whole text need not be encoded.
    collected = 0 if variable is None else len(variable.value)
    expect_fits(step, collected + octets(output), "the output collection")
    return output


def _stored(holder: Visit, name: str) -> Variable | None:
    """The output collection variable of the sub-process; a migrated sub-process may not have it yet."""
    return holder.process_instance.variables.get(holder.instance.key, {}).get(name)


def _collect(step: Step, holder: Visit, output: str) -> None:
    """Keep an output, and merge kept outputs into the variable at times.

    The longer the collection, the more outputs are kept before a merge, so the cost per output stays
    constant.
    """
    instance, key = holder.process_instance, holder.instance.key
    name = cast("str", _ad_hoc(holder).output_collection)
    earlier = instance.collected.get(key)
    if earlier and instance.items[earlier[0]].input != name:
        # The kept outputs are for the collection name that the sub-process had before its migration.
        _merge(step, holder, instance.items[earlier[0]].input)
    variable = _stored(holder, name)
    if variable is None:
        set_local(step, instance, key, name, f"[{output}]")
        return
    step.emit(events.OutputCollected(instance.head, key, step.next_key(), name, output))
    is_watched = (key, name) in instance.conditions
    if is_watched or len(instance.collected[key]) > len(variable.value) // CHARACTERS_PER_OUTPUT:
        _merge(step, holder, name)


def _merge(step: Step, holder: Visit, name: str) -> str:
    """Merge the kept outputs into the collection variable, and return its JSON text."""
    instance, key = holder.process_instance, holder.instance.key
    found = find(instance, key, name)
    text = found[1].value if found is not None and found[0] == key else "[]"
    step.charge(len(text) // CHARACTERS_PER_STEP)
    set_local(step, instance, key, name, text)
    return text


def _evaluate_condition(step: Step, holder: Visit, output: str | None) -> None:
    ad_hoc, progress = _ad_hoc(holder), holder.instance.ad_hoc
    if ad_hoc.completion_condition is None or holder.instance.ends_remaining:
        return
    scope = _ConditionScope(step, holder, output)
    is_fulfilled = is_true(ad_hoc.completion_condition, scope)
    if is_fulfilled is not progress.is_done:
        fulfil(step, holder, is_fulfilled=is_fulfilled, cancels_remaining=ad_hoc.cancels_remaining)


def fulfil(step: Step, holder: Visit, *, is_fulfilled: bool, cancels_remaining: bool) -> None:
    head, key = holder.process_instance.head, holder.instance.key
    step.emit(events.AdHocConditionEvaluated(head, key, is_fulfilled, cancels_remaining))


def _ask_again(step: Step, holder: Visit) -> None:
    """Create a new job for the worker and cancel the previous one; raises Incident."""
    definition = holder.element.job
    if definition is None or holder.instance.ad_hoc.is_done:
        return
    following = evaluated(step, holder, definition)
    cancel_job(step, holder.process_instance, holder.instance)
    create_job(step, holder, following, JobKind.AD_HOC_SUB_PROCESS)


def cancel_job(step: Step, process_instance: ProcessInstance, instance: ElementInstance) -> None:
    """Cancel the job of an active element instance, if it has one, and resolve the incident of the job."""
    if instance.job_key is None:
        return
    incident_key = process_instance.jobs[instance.job_key].incident_key
    if incident_key is not None:
        step.resolve_incident(process_instance, incident_key)
    step.emit(events.JobCanceled(process_instance.head, instance.job_key))


def propagate_outputs(step: Step, visit: Visit) -> None:
    """Propagate the output collection to the scope around the ad-hoc sub-process."""
    name, scope_key = _ad_hoc(visit).output_collection, visit.instance.scope_key
    if name is not None and scope_key is not None:
        propagate(step, visit.process_instance, scope_key, {name: _merge(step, visit, name)})


def _ad_hoc(visit: Visit) -> AdHoc:
    return cast("AdHoc", visit.element.ad_hoc)


class _ConditionScope(VariableScope):
    """Variables of a completion condition: those of the sub-process, plus the output that was not merged yet."""

    __slots__ = ("_name", "_output")

    def __init__(self, step: Step, holder: Visit, output: str | None) -> None:
        super().__init__(step, holder.process_instance, scope_key=holder.instance.key)
        self._name, self._output = _ad_hoc(holder).output_collection, output

    def get(self, name: str, default: feel.Missing, /) -> feel.Value | feel.Missing:
        found = super().get(name, default)
        if self._output is None or name != self._name:
            return found
        outputs = found if isinstance(found, list) else []
        self._step.budget.spend(len(outputs))
        return [*outputs, decode(self._output)]
