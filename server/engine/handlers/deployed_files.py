"""Forms and generic resources of a deployment: each changed file becomes a new version."""

from collections.abc import Iterator
from typing import Protocol

from server.engine.answers import DeployedForm, DeployedResource
from server.engine.deployment_commands import DeployResources, FormFile, GenericFile
from server.engine.form_events import FormDeployed
from server.engine.formats import Feature
from server.engine.generic_resource_events import GenericResourceDeployed
from server.engine.keys import Key
from server.engine.rejection import Rejected, RejectionType
from server.engine.step import Step


class _Version(Protocol):
    """The latest version of a form or generic resource."""

    @property
    def checksum(self) -> str: ...
    @property
    def resource_name(self) -> str: ...


class _File(Protocol):
    @property
    def checksum(self) -> str: ...
    @property
    def name(self) -> str: ...


def is_unchanged(latest: _Version, file: _File) -> bool:
    return (latest.checksum, latest.resource_name) == (file.checksum, file.name)


def expect_features(command: DeployResources, step: Step) -> None:
    """Raises Rejected for kinds of files that a node of the deployment does not support."""
    for feature, subject in _needed(command):
        reason = step.state.format.shortfall(feature, subject)
        if reason:
            raise Rejected(RejectionType.INVALID_STATE, reason)


def _needed(command: DeployResources) -> Iterator[tuple[Feature, str]]:
    for form in command.forms:
        yield Feature.FORMS, f"form {form.form_id}"
    for file in command.generic:
        yield Feature.GENERIC_RESOURCES, f"resource {file.resource_id}"


def has_changes(command: DeployResources, step: Step) -> bool:
    """Whether a form or generic resource of the deployment becomes a new version."""
    tenant_id = command.tenant_id
    return any(_unchanged_form(tenant_id, form, step) is None for form in command.forms) or any(
        _unchanged_resource(tenant_id, file, step) is None for file in command.generic
    )


# Forms


def form(
    tenant_id: str, file: FormFile, step: Step, *, deployment_key: Key, is_renewed: bool
) -> DeployedForm:
    unchanged = _unchanged_form(tenant_id, file, step)
    current = _form(tenant_id, file, step, deployment_key) if is_renewed or unchanged is None else unchanged
    return DeployedForm(current.key, current.form_id, current.version, current.resource_name)


def _unchanged_form(tenant_id: str, file: FormFile, step: Step) -> FormDeployed | None:
    """The latest version, if it is identical to this file."""
    latest = step.state.forms.latest(tenant_id, file.form_id)
    return latest if latest is not None and is_unchanged(latest, file) else None


def _form(tenant_id: str, file: FormFile, step: Step, deployment_key: Key) -> FormDeployed:
    latest = step.state.forms.latest(tenant_id, file.form_id)
    deployed = FormDeployed(
        key=step.next_key(),
        deployment_key=deployment_key,
        tenant_id=tenant_id,
        form_id=file.form_id,
        version=step.state.forms.next_version(tenant_id, file.form_id),
        previous_key=latest.key if latest is not None else None,
        resource_name=file.name,
        checksum=file.checksum,
        schema=file.schema,
        version_tag=file.version_tag,
    )
    step.emit(deployed)
    return deployed


# Generic resources


def generic_resource(
    tenant_id: str, file: GenericFile, step: Step, *, deployment_key: Key, is_renewed: bool
) -> DeployedResource:
    unchanged = _unchanged_resource(tenant_id, file, step)
    current = (
        _resource(tenant_id, file, step, deployment_key) if is_renewed or unchanged is None else unchanged
    )
    return DeployedResource(current.key, current.resource_id, current.version, current.resource_name)


def _unchanged_resource(tenant_id: str, file: GenericFile, step: Step) -> GenericResourceDeployed | None:
    """The latest version, if it is identical to this file."""
    latest = step.state.generic_resources.latest(tenant_id, file.resource_id)
    return latest if latest is not None and is_unchanged(latest, file) else None


def _resource(tenant_id: str, file: GenericFile, step: Step, deployment_key: Key) -> GenericResourceDeployed:
    known = step.state.generic_resources
    latest = known.latest(tenant_id, file.resource_id)
    deployed = GenericResourceDeployed(
        key=step.next_key(),
        deployment_key=deployment_key,
        tenant_id=tenant_id,
        resource_id=file.resource_id,
        version=known.next_version(tenant_id, file.resource_id),
        previous_key=latest.key if latest is not None else None,
        resource_name=file.name,
        checksum=file.checksum,
        content=file.content,
        version_tag=file.version_tag,
    )
    step.emit(deployed)
    return deployed
