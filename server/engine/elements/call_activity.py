"""Call activity: starts an instance of another process, and waits for its end."""

from typing import assert_never

from server.bpmn.executable import Binding, BindingType, CalledElement
from server.engine import events
from server.engine.behaviour import Behaviour
from server.engine.definitions import Definition
from server.engine.expressions import string_of
from server.engine.incidents import ErrorType, Incident
from server.engine.instance_heads import head_of
from server.engine.process_instance import ProcessInstance
from server.engine.scopes import VariableScope, set_all_local, visible
from server.engine.sizes import expect_fits
from server.engine.step import Step, Visit
from server.engine.variables import Variables, octets
from server.engine.work import Begin, EndCalled


class CallActivity(Behaviour):
    """The called process instance lives in the same partition, in its own document; `calls` ends both."""

    is_migratable = True

    def activate(self, step: Step, visit: Visit) -> None:
        """Start the called process; raises Incident."""
        called = visit.element.called_element
        assert called is not None, "lint demands a called element"  # noqa: S101  # narrows the type
        caller = _caller(step, visit)
        definition = _definition(step, visit, called)
        variables = _variables(visit, called)
        expect_fits(
            step, sum(map(octets, variables.values())), "the variables of the called process instance"
        )
        instance = step.create(
            head_of(step, definition, business_id=visit.process_instance.head.business_id, caller=caller)
        )
        step.emit(events.ProcessCalled(visit.process_instance.head, visit.instance.key, instance.head.key))
        step.charge_copies(variables)
        set_all_local(step, instance, instance.head.key, variables)
        step.defer(instance, Begin(instance.head.key))

    def waits(self, visit: Visit) -> bool:  # noqa: ARG002  # for elements that look at themselves
        return True

    def terminate(self, step: Step, visit: Visit) -> bool:
        if visit.instance.called_key is None:
            return True
        step.prefer(visit.process_instance, EndCalled(visit.instance.key))
        return False


def _caller(step: Step, visit: Visit) -> events.Caller:
    """The reference of the called process instance to its call activity.

    Raises Incident when calls are nested too deeply, the root process instance has too many called ones, or the
    quota of the tenant is exhausted.
    """
    head, limits = visit.process_instance.head, step.state.limits
    depth = 1 if head.caller is None else head.caller.depth + 1
    if depth > limits.call_depth:
        message = (
            f"The call activity has reached the maximum depth of {limits.call_depth}. This is likely due to a recursive call."
            " Cancel the root process instance if this was unintentional."
        )
        raise Incident(ErrorType.CALLED_ELEMENT_ERROR, message)
    most = limits.called_instances
    if most and step.state.calls.sizes.get(head.root_key, 0) >= most:
        message = (
            f"Expected at most {most} active called process instances below root process instance"
            f" {head.root_key}, which has as many. Cancel the root process instance if it calls itself"
            " unintentionally; otherwise retry when some of them have ended or the limit is higher."
        )
        raise Incident(ErrorType.CALLED_ELEMENT_ERROR, message)
    if not step.has_room(head.tenant_id):
        message = f"Expected to call a process, but the quota of tenant '{head.tenant_id}' is exhausted."
        raise Incident(ErrorType.CALLED_ELEMENT_ERROR, message)
    return events.Caller(head.key, visit.instance.key, head.root_key, depth)


def _definition(step: Step, visit: Visit, called: CalledElement) -> Definition:
    """The version of the called process; raises Incident."""
    instance = visit.process_instance
    process_id = string_of(called.process_id, VariableScope(step, instance, scope_key=visit.instance.key))
    definition = _bound(step, instance, process_id, called.binding)
    if definition.process.root.none_start is None:
        message = (
            f"Expected process with BPMN process id '{process_id}' to have a none start event, but not found."
        )
        raise Incident(ErrorType.CALLED_ELEMENT_ERROR, message)
    return definition


def _bound(step: Step, instance: ProcessInstance, process_id: str, binding: Binding) -> Definition:
    """The version that the binding selects; raises Incident."""
    state, tenant_id = step.state, instance.head.tenant_id
    match binding.type:
        case BindingType.DEPLOYMENT:
            deployment_key = state.definition_of(instance).deployment_key
            definition = state.deployed_with(tenant_id, process_id, deployment_key)
            missing = (
                f"Expected to call process with BPMN process id '{process_id}' with binding type 'deployment',"
                f" but no such process found in the deployment with key {deployment_key} which contained the current"
                " process. To resolve this incident, migrate the process instance to a process definition that is"
                " deployed together with the intended process to call."
            )
        case BindingType.VERSION_TAG:
            definition = state.tagged_version(tenant_id, process_id, binding.version_tag)
            missing = (
                f"Expected to call process with BPMN process id '{process_id}' and version tag"
                f" '{binding.version_tag}', but no such process found."
            )
        case BindingType.LATEST:
            definition = state.latest(tenant_id, process_id)
            missing = f"Expected process with BPMN process id '{process_id}' to be deployed, but not found."
        case _:
            assert_never(binding.type)
    if definition is None:
        raise Incident(ErrorType.CALLED_ELEMENT_ERROR, missing)
    return definition


def _variables(visit: Visit, called: CalledElement) -> Variables:
    """The variables for the called process instance: all visible ones, or those of the input mappings, or none."""
    calling, key = visit.process_instance, visit.instance.key
    if called.propagates_all_parent_variables:
        return visible(calling, key)
    if not visit.element.input_mappings:
        return {}
    return {name: variable.value for name, variable in calling.variables.get(key, {}).items()}
