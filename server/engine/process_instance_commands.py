"""Commands about process instances and their scopes, variables and incidents."""

from dataclasses import dataclass, field

from server.engine.addresses import ANYWHERE, Address, Hashed, OwnersOf
from server.engine.keys import Key
from server.engine.variables import Variables
from server.engine.work import Activation


@dataclass(frozen=True, slots=True, kw_only=True)
class CreateProcessInstance:
    """Create an instance of a definition, named by key, or by id and version (None for the latest).

    The instance starts at the `start_element_ids`, or at the none start event if there are none. It is
    terminated when an element of `terminates_after` has ended.
    """

    tenant_id: str
    process_definition_key: Key | None = None
    process_definition_id: str = ""
    version: int | None = None
    variables: Variables = field(default_factory=dict)
    tags: tuple[str, ...] = ()
    business_id: str | None = None
    start_element_ids: tuple[str, ...] = ()
    terminates_after: tuple[str, ...] = ()

    @property
    def address(self) -> Address:
        """Process instances with the same business id live in one partition."""
        return ANYWHERE if self.business_id is None else Hashed((self.tenant_id, self.business_id))


@dataclass(frozen=True, slots=True)
class CancelProcessInstance:
    tenant_id: str
    process_instance_key: Key

    @property
    def address(self) -> Address:
        return OwnersOf((self.process_instance_key,))


@dataclass(frozen=True, slots=True)
class DeleteProcessInstance:
    """Delete the history of an ended process instance; `is_stored` is true when the store has rows of it."""

    tenant_id: str
    process_instance_key: Key
    is_stored: bool

    @property
    def address(self) -> Address:
        return OwnersOf((self.process_instance_key,))


@dataclass(frozen=True, slots=True)
class ContinueProcessInstance:
    """Sent by time: continue the work of a process instance that an earlier command postponed."""

    tenant_id: str
    process_instance_key: Key

    @property
    def address(self) -> OwnersOf:
        return OwnersOf((self.process_instance_key,))


@dataclass(frozen=True, slots=True)
class ResolveIncident:
    tenant_id: str
    incident_key: Key

    @property
    def address(self) -> Address:
        return OwnersOf((self.incident_key,))


@dataclass(frozen=True, slots=True, kw_only=True)
class SetVariables:
    """Set variables at an element instance, or at the process instance, whose element instance has the same key.

    Local variables are set in that scope. Others update the innermost variable with their name, or are
    created at the process instance.
    """

    tenant_id: str
    process_instance_key: Key
    element_instance_key: Key
    variables: Variables
    is_local: bool = False

    @property
    def address(self) -> Address:
        return OwnersOf((self.process_instance_key,))


@dataclass(frozen=True, slots=True, kw_only=True)
class ActivateAdHocSubProcessActivities:
    """Activate elements of an active ad-hoc sub-process; `cancels_remaining` terminates its earlier children."""

    tenant_id: str
    process_instance_key: Key
    ad_hoc_sub_process_instance_key: Key
    elements: tuple[Activation, ...]
    cancels_remaining: bool = False

    @property
    def address(self) -> Address:
        return OwnersOf((self.process_instance_key,))
