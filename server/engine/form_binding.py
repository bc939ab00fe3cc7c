"""Selects the version of a form for a user task at its activation."""

from typing import assert_never

from server.bpmn.executable import BindingType, LinkedForm
from server.engine.expressions import string_of
from server.engine.form_events import FormDeployed
from server.engine.incidents import ErrorType, Incident
from server.engine.process_instance import ProcessInstance
from server.engine.scopes import VariableScope
from server.engine.step import Step


def bound_form(
    step: Step, instance: ProcessInstance, linked: LinkedForm, scope: VariableScope
) -> FormDeployed:
    """The version of the form that the binding selects; raises Incident."""
    form_id, binding = string_of(linked.form_id, scope), linked.binding
    known, tenant_id = step.state.forms, instance.head.tenant_id
    match binding.type:
        case BindingType.DEPLOYMENT:
            deployment_key = step.state.definition_of(instance).deployment_key
            form = known.deployed_with(tenant_id, form_id, deployment_key)
            missing = (
                f"Expected to use a form with id '{form_id}' with binding type 'deployment', but no such form found"
                f" in the deployment with key {deployment_key} which contained the current process. To resolve this"
                " incident, migrate the process instance to a process definition that is deployed together with the"
                " intended form to use."
            )
        case BindingType.VERSION_TAG:
            form = known.tagged(tenant_id, form_id, binding.version_tag)
            missing = (
                f"Expected to use a form with id '{form_id}' and version tag '{binding.version_tag}', but no such"
                " form found. To resolve this incident, deploy a form with the given id and version tag."
            )
        case BindingType.LATEST:
            form = known.latest(tenant_id, form_id)
            missing = (
                f"Expected to find a form with id '{form_id}', but no form with this id is found. To resolve this"
                " incident, deploy a form with the same id."
            )
        case _:
            assert_never(binding.type)
    if form is None:
        raise Incident(ErrorType.FORM_NOT_FOUND, missing)
    return form
