"""Commands about deployed resources: processes, decisions, forms and generic resources."""

from dataclasses import dataclass

from server.engine.addresses import FIRST, HERE, Address
from server.engine.decision_events import DecisionRequirementsDeployed
from server.engine.events import ProcessDefinitionDeployed
from server.engine.form_events import FormDeployed
from server.engine.generic_resource_events import GenericResourceDeployed
from server.engine.keys import Key
from server.feel import DialectName


@dataclass(frozen=True, slots=True)
class Resource:
    """A BPMN file that was read and validated; `process_ids` are its executable processes."""

    name: str
    content: bytes
    checksum: str
    process_ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class NamedDecision:
    """A decision with the id, name and version tag of its model."""

    id: str
    name: str
    version_tag: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DecisionModel:
    """A DMN file that was read and validated: a requirements graph with its decisions.

    `imports` are the contents of the imported models; the checksum covers them, too.
    """

    name: str
    content: bytes
    checksum: str
    imports: tuple[bytes, ...]
    dialect: DialectName
    decision_requirements_id: str
    decision_requirements_name: str
    decisions: tuple[NamedDecision, ...]


@dataclass(frozen=True, slots=True)
class FormFile:
    """A form file that was read and validated."""

    name: str
    schema: str
    checksum: str
    form_id: str
    version_tag: str | None


@dataclass(frozen=True, slots=True)
class GenericFile:
    """A generic resource that was read and validated."""

    name: str
    content: str
    checksum: str
    resource_id: str
    version_tag: str | None


@dataclass(frozen=True, slots=True)
class DeployResources:
    """Deploy files of any kind; `generic` are the generic resources among them."""

    tenant_id: str
    resources: tuple[Resource, ...]
    decision_models: tuple[DecisionModel, ...] = ()
    forms: tuple[FormFile, ...] = ()
    generic: tuple[GenericFile, ...] = ()

    @property
    def address(self) -> Address:
        return FIRST


@dataclass(frozen=True, slots=True)
class AdoptDefinition:
    """Make a definition known that another partition deployed."""

    definition: (
        ProcessDefinitionDeployed | DecisionRequirementsDeployed | FormDeployed | GenericResourceDeployed
    )

    @property
    def address(self) -> Address:
        return HERE


@dataclass(frozen=True, slots=True)
class DeleteResource:
    """Delete a process definition, a requirements graph with all of its decisions, a form or a generic resource."""

    tenant_id: str
    resource_key: Key

    @property
    def address(self) -> Address:
        return FIRST


@dataclass(frozen=True, slots=True)
class AdoptDeletion:
    """Delete a definition that another partition deleted."""

    tenant_id: str
    resource_key: Key

    @property
    def address(self) -> Address:
        return HERE
