"""Audit entries for the items of batch operations, in the name of the caller who created the operation."""

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime

from server.engine import (
    decision_commands,
    migration_commands,
    modification_commands,
    process_instance_commands,
)
from server.engine.batch_commands import ContinueBatchOperation, ProcessBatchItems
from server.engine.batch_events import BatchItemsProcessed, BatchOutcome
from server.engine.batch_operations import BatchOperationType
from server.engine.commands import Command
from server.engine.events import Event
from server.partition.audit import AUDITED, LONGEST_DETAIL, VARIABLE, Audited
from server.platform.errors import InvalidState
from server.store.entities import AuditEntry, AuditResult

_ITEMS: Mapping[BatchOperationType, Audited] = {
    BatchOperationType.CANCEL_PROCESS_INSTANCE: AUDITED[process_instance_commands.CancelProcessInstance],
    BatchOperationType.MIGRATE_PROCESS_INSTANCE: AUDITED[migration_commands.MigrateProcessInstance],
    BatchOperationType.MODIFY_PROCESS_INSTANCE: AUDITED[modification_commands.ModifyProcessInstance],
    BatchOperationType.RESOLVE_INCIDENT: AUDITED[process_instance_commands.ResolveIncident],
    BatchOperationType.DELETE_PROCESS_INSTANCE: AUDITED[process_instance_commands.DeleteProcessInstance],
    BatchOperationType.DELETE_DECISION_INSTANCE: AUDITED[decision_commands.DeleteDecisionInstance],
    # The entity is the process instance whose variables are erased.
    BatchOperationType.ERASE_VARIABLES: Audited(VARIABLE, "DELETE"),
}


def processes_batch_items(command: Command | None) -> bool:
    """Whether the command may process items; a leading partition may also have items itself."""
    return isinstance(command, ContinueBatchOperation | ProcessBatchItems)


def note_batch_operation(entries: Iterable[AuditEntry], happened: Iterable[Event]) -> None:
    """Assign entries of user tasks to the batch operation whose items the same command processed."""
    for event in happened:
        if isinstance(event, BatchItemsProcessed):
            for entry in entries:
                entry.actor_type, entry.actor_id = event.requester.actor_type, event.requester.actor_id
                entry.operation_reference = event.requester.operation_reference
                entry.request_id = event.requester.request_id
                entry.batch_operation_key = event.batch_operation_key
                entry.batch_operation_type = event.action.type


def batch_item_entries(happened: Iterable[Event], now: datetime) -> Iterator[AuditEntry]:
    for event in happened:
        if isinstance(event, BatchItemsProcessed):
            for outcome in event.outcomes:
                yield _entry(event, outcome, now)


def _entry(event: BatchItemsProcessed, outcome: BatchOutcome, now: datetime) -> AuditEntry:
    audited, requester = _ITEMS[event.action.type], event.requester
    entry = AuditEntry(
        tenant_id=event.tenant_id,
        timestamp=now,
        operation_type=audited.operation_type,
        result=AuditResult.SUCCESS,
        actor_type=requester.actor_type,
        actor_id=requester.actor_id,
        entity_type=audited.entity_type,
        entity_key=outcome.item.key,
        process_instance_key=outcome.item.process_instance_key,
        process_definition_key=outcome.process_definition_key,
        operation_reference=requester.operation_reference,
        request_id=requester.request_id,
        batch_operation_key=event.batch_operation_key,
        batch_operation_type=event.action.type,
    )
    if outcome.error is not None:
        entry.result = AuditResult.FAIL
        entry.reason, entry.detail = InvalidState.reason, outcome.error[:LONGEST_DETAIL]
    return entry
