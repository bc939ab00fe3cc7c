"""The documents and definitions of a tenant in a partition, and the refusal of its commands during its removal."""

from collections.abc import Callable, Iterator, Mapping
from typing import Final

from server.engine import commands
from server.engine.cluster_variable_commands import AdoptClusterVariable, AdoptClusterVariableDeletion
from server.engine.deployment_commands import AdoptDefinition
from server.engine.documents import Record
from server.engine.keys import Key
from server.engine.pages import DocumentId, Kind
from server.engine.rejection import Rejected, RejectionType
from server.engine.signal_commands import ContinueBroadcast
from server.engine.signals import Broadcast
from server.engine.state import State
from server.engine.tenant_commands import MarkTenant, PurgeTenant, ReleaseTenant

_OF_REMOVAL: Final = (MarkTenant, PurgeTenant, ReleaseTenant)


def expect_present(state: State, command: commands.Command) -> None:
    """Raises Rejected for a command of a tenant that is being removed."""
    if not state.removed_tenants or isinstance(command, _OF_REMOVAL):
        return
    tenant_id = _owner_of(state, command)
    if tenant_id in state.removed_tenants:
        raise Rejected(RejectionType.NOT_FOUND, f"the tenant '{tenant_id}' is being removed")


def _owner_of(state: State, command: commands.Command) -> str | None:
    """The tenant that the command concerns; None for a change that concerns all tenants."""
    match command:
        case AdoptDefinition():
            return command.definition.tenant_id
        case AdoptClusterVariable() | AdoptClusterVariableDeletion():
            return command.variable.tenant_id
        case ContinueBroadcast():
            broadcast = state.signals.broadcasts.get(command.broadcast_key)
            return None if broadcast is not None and is_common(broadcast) else command.tenant_id
        case _:
            return command.tenant_id


def is_common(broadcast: Broadcast) -> bool:
    """Whether a broadcast concerns all tenants: the change of a cluster variable of all tenants."""
    return broadcast.change is not None and broadcast.change.tenant_id is None


def documents_of(state: State, tenant_id: str) -> Iterator[DocumentId]:
    """The documents of a tenant, except evicted process instances."""
    for key, instance in state.instances.items():
        if instance.head.tenant_id == tenant_id:
            yield DocumentId(Kind.PROCESS_INSTANCE, key)
    for kind, records in _RECORDS.items():
        for key, record in records(state).items():
            if record.tenant_id == tenant_id and not _is_kept(record):
                yield DocumentId(kind, key)


def owns(state: State, tenant_id: str, document: DocumentId) -> bool:
    """Whether the document is there and belongs to the tenant; raises NotLoaded."""
    if document.kind is Kind.PROCESS_INSTANCE:
        instance = state.instance(document.key)
        return instance is not None and instance.head.tenant_id == tenant_id
    record = _RECORDS[document.kind](state).get(document.key)
    return record is not None and record.tenant_id == tenant_id and not _is_kept(record)


def _is_kept(record: object) -> bool:
    return isinstance(record, Broadcast) and is_common(record)


def definitions_of(state: State, tenant_id: str) -> Iterator[Key]:
    """The keys of all definitions, files, cluster variables and global task listeners of a tenant."""
    for known in (
        state.definitions,
        state.decisions.graphs,
        state.forms.files,
        state.generic_resources.files,
    ):
        yield from (key for key, definition in known.items() if definition.tenant_id == tenant_id)
    for deleted in (state.decisions.deleted, state.forms.deleted, state.generic_resources.deleted):
        yield from (key for key, owner in deleted.items() if owner == tenant_id)
    yield from (variable.key for variable in state.cluster_variables.of(tenant_id))
    yield from (listener.key for listener in state.global_task_listeners.of(tenant_id))


_RECORDS: Mapping[Kind, Callable[[State], Mapping[Key, Record]]] = {
    Kind.MESSAGE: lambda state: state.messages.messages,
    Kind.MESSAGE_SUBSCRIPTION: lambda state: state.messages.subscriptions,
    Kind.BROADCAST: lambda state: state.signals.broadcasts,
    Kind.START_TIMER: lambda state: state.start_timers.timers,
    Kind.BATCH_OPERATION: lambda state: state.batches.operations,
    Kind.BATCH_PAGE: lambda state: state.batches.pages,
}
