"""Selects the versions of generic resources for a job at its creation."""

from collections.abc import Mapping, Sequence
from typing import assert_never

import msgspec

from server.bpmn.executable import BindingType, LinkedResource
from server.engine.generic_resource_events import GenericResourceDeployed
from server.engine.incidents import ErrorType, Incident
from server.engine.process_instance import ProcessInstance
from server.engine.step import Step

# The job header that workers for Camunda expect: a JSON array of objects with the members below.
HEADER = "linkedResources"


class _Linked(msgspec.Struct, rename="camel"):
    resource_key: str
    resource_type: str
    link_name: str | None


def resource_headers(
    step: Step, instance: ProcessInstance, linked: Sequence[LinkedResource]
) -> Mapping[str, str]:
    """The header for linked resources, or nothing without any; raises Incident for a missing resource."""
    if not linked:
        return {}
    found = [
        _Linked(str(_bound(step, instance, each).key), each.resource_type, each.link_name) for each in linked
    ]
    return {HEADER: msgspec.json.encode(found).decode()}


def _bound(step: Step, instance: ProcessInstance, linked: LinkedResource) -> GenericResourceDeployed:
    known, tenant_id = step.state.generic_resources, instance.head.tenant_id
    resource_id, binding = linked.resource_id, linked.binding
    match binding.type:
        case BindingType.DEPLOYMENT:
            deployment_key = step.state.definition_of(instance).deployment_key
            resource = known.deployed_with(tenant_id, resource_id, deployment_key)
            missing = (
                f"Expected to link a resource with id '{resource_id}' and binding type 'deployment', but no such"
                f" resource found in the deployment with key {deployment_key} which contained the current process."
                " To resolve this incident, migrate the process instance to a process definition that is deployed"
                " together with the intended resource to use."
            )
        case BindingType.VERSION_TAG:
            resource = known.tagged(tenant_id, resource_id, binding.version_tag)
            missing = (
                f"Expected to link a resource with id '{resource_id}' and version tag '{binding.version_tag}', but"
                " no such resource found. To resolve this incident, deploy a resource with the given id and version"
                " tag."
            )
        case BindingType.LATEST:
            resource = known.latest(tenant_id, resource_id)
            missing = (
                f"Expected to link a resource with id '{resource_id}' and binding type 'latest', but no resource"
                " with this id is found. To resolve this incident, deploy a resource with the same id."
            )
        case _:
            assert_never(binding.type)
    if resource is None:
        raise Incident(ErrorType.RESOURCE_NOT_FOUND, missing)
    return resource
