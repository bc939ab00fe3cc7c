"""The removal of a tenant from this partition: nothing of it fires, and everything of it goes."""

from server.engine.answers import DONE, Done
from server.engine.keys import Key
from server.engine.pages import Kind
from server.engine.rejection import Rejected, RejectionType
from server.engine.state import State
from server.engine.step import Step
from server.engine.tenant_commands import MarkTenant, PurgeTenant, ReleaseTenant
from server.engine.tenant_events import TenantMarked, TenantPurged, TenantReleased
from server.engine.tenants import owns


def mark(command: MarkTenant, step: Step) -> Done:
    """Mark the tenant; does nothing when this removal has marked it already."""
    if step.state.removed_tenants.get(command.tenant_id) != command.number:
        step.emit(TenantMarked(command.tenant_id, command.number))
    return DONE


def purge(command: PurgeTenant, step: Step) -> Done:
    """Remove those of the documents and definitions that are still there; the tenant must be marked."""
    state, tenant_id = step.state, command.tenant_id
    if tenant_id not in state.removed_tenants:
        raise Rejected(RejectionType.INVALID_STATE, f"the tenant '{tenant_id}' is not being removed")
    instances = [key for kind, key in command.documents if kind is Kind.PROCESS_INSTANCE]
    state.expect_loaded(instances)
    documents = tuple(each for each in command.documents if owns(state, tenant_id, each))
    gone = tuple(key for kind, key in documents if kind is Kind.PROCESS_INSTANCE)
    subjects = [each.key for each in documents] + [key for each in gone for key in _subjects(state, each)]
    step.emit(TenantPurged(tenant_id, documents, command.definitions, gone, tuple(subjects)))
    return DONE


def release(command: ReleaseTenant, step: Step) -> Done:
    """Release the tenant's id; does nothing when the tenant is not marked."""
    if command.tenant_id in step.state.removed_tenants:
        step.emit(TenantReleased(command.tenant_id))
    return DONE


def _subjects(state: State, process_instance_key: Key) -> tuple[Key, ...]:
    instance = state.instances[process_instance_key]
    return (*instance.jobs, *instance.subscriptions)
