"""Business rule task: a decision that the engine evaluates, or a job for a worker."""

from typing import assert_never

from server import feel
from server.bpmn.executable import BindingType, CalledDecision
from server.engine.cluster_variables import CONTEXT_NAME
from server.engine.decision_evaluation import evaluation_of
from server.engine.decisions import Decision
from server.engine.elements.service_task import JobWorkerTask
from server.engine.expressions import string_of
from server.engine.incidents import ErrorType, Incident
from server.engine.mappings import merge_result
from server.engine.scopes import VariableScope, visible
from server.engine.sizes import expect_fits
from server.engine.step import Step, Visit
from server.engine.variables import decode, octets
from server.feel.limits import CHARACTERS_PER_STEP


class BusinessRuleTask(JobWorkerTask):
    """Evaluates the called decision and completes at once; without a called decision it is a job worker task."""

    def activate(self, step: Step, visit: Visit) -> None:
        called = visit.element.called_decision
        if called is None:
            super().activate(step, visit)
        else:
            _evaluate(step, visit, called)

    def waits(self, visit: Visit) -> bool:
        return visit.element.called_decision is None


def _evaluate(step: Step, visit: Visit, called: CalledDecision) -> None:
    """Evaluate the decision and set the result variable; raises Incident.

    A failed evaluation is recorded, too.
    """
    decision = _called(step, visit, called)
    key = step.next_key()
    ports = step.ports(visit.instance.key)
    event = evaluation_of(decision, _decoded(step, visit), ports, key=key, visit=visit)
    step.emit(event)
    if event.failure is not None:
        raise Incident(ErrorType.DECISION_EVALUATION_ERROR, event.failure)
    expect_fits(step, octets(event.output), "the output of the decision")
    merge_result(step, visit, {called.result_variable: event.output})


def _called(step: Step, visit: Visit, called: CalledDecision) -> Decision:
    instance = visit.process_instance
    decision_id = string_of(called.decision_id, VariableScope(step, instance, scope_key=visit.instance.key))
    known, tenant_id, binding = step.state.decisions, instance.head.tenant_id, called.binding
    match binding.type:
        case BindingType.DEPLOYMENT:
            deployment_key = step.state.definition_of(instance).deployment_key
            decision = known.deployed_with(tenant_id, decision_id, deployment_key)
            missing = (
                f"Expected to evaluate decision '{decision_id}' with binding type 'deployment', but no such decision"
                f" found in the deployment with key {deployment_key} which contained the current process. To resolve"
                " this incident, migrate the process instance to a process definition that is deployed together with"
                " the intended decision to evaluate."
            )
        case BindingType.VERSION_TAG:
            decision = known.tagged(tenant_id, decision_id, binding.version_tag)
            missing = (
                f"Expected to evaluate decision '{decision_id}' with version tag '{binding.version_tag}', but no such"
                " decision found. To resolve this incident, deploy a decision with the given id and version tag."
            )
        case BindingType.LATEST:
            decision = known.latest(tenant_id, decision_id)
            missing = (
                f"Expected to evaluate decision '{decision_id}', but no decision found for id '{decision_id}'"
            )
        case _:
            assert_never(binding.type)
    if decision is None:
        raise Incident(ErrorType.CALLED_DECISION_ERROR, missing)
    return decision


def _decoded(step: Step, visit: Visit) -> dict[str, feel.Value]:
    """All visible variables, decoded and charged by the size of their texts; raises Incident when they cost too much."""
    variables = visible(visit.process_instance, visit.instance.key)
    characters = sum(map(len, variables.values()))
    try:
        step.budget.spend(len(variables) + characters // CHARACTERS_PER_STEP)
    except feel.EvaluationError as error:
        raise Incident(
            ErrorType.DECISION_EVALUATION_ERROR, f"Failed to read the variables: {error}"
        ) from error
    return {
        CONTEXT_NAME: step.state.cluster_variables.context(visit.process_instance.head.tenant_id),
        **{name: decode(text) for name, text in variables.items()},
    }
