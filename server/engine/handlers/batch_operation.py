"""Batch operations: their items are processed in windows, each by the partition that has the process instances."""

from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from functools import partial
from itertools import takewhile
from typing import Final

from server.engine import batch_events as happened
from server.engine.answers import DONE, BatchOperationCreated, Done
from server.engine.batch_commands import (
    AddBatchItems,
    CancelBatchOperation,
    ContinueBatchOperation,
    CreateBatchOperation,
    ProcessBatchItems,
    ResumeBatchOperation,
    SettleBatchItems,
    StartBatchOperation,
    SuspendBatchOperation,
)
from server.engine.batch_operations import BatchItem, BatchOperation, BatchOperationType, BatchPage, Phase
from server.engine.decision_commands import DeleteDecisionInstance
from server.engine.handlers import (
    decision,
    incident,
    job,
    migration,
    modification,
    process_instance,
    variable,
)
from server.engine.job_commands import UpdateJob
from server.engine.keys import Key, partition_of
from server.engine.limits import ENTERING_STEPS
from server.engine.migration_commands import MappingInstruction, MigrateProcessInstance
from server.engine.modification_commands import AncestorScopeType, ModifyProcessInstance, MoveInstruction
from server.engine.process_instance_commands import (
    CancelProcessInstance,
    DeleteProcessInstance,
    ResolveIncident,
)
from server.engine.rejection import Rejected, RejectionType
from server.engine.requesters import Requester
from server.engine.state import State
from server.engine.step import Step

PAGE_ITEMS: Final = 500
"""Most items that one command adds or drops."""

ITEMS_AT_ONCE: Final = 50
"""Most items in hand, and therefore process instances that the turn of another partition loads for them."""

COLLECTING_TIME: Final = timedelta(minutes=10)
"""How long a batch operation waits for its next items before it starts."""

FAULT: Final = "internal failure; the log of the server has the details"
"""The error of an item that failed with a fault of the program."""

LONGEST_ERROR: Final = 2_000


def create(command: CreateBatchOperation, step: Step) -> BatchOperationCreated:
    most = step.state.limits.tenant_batch_operations
    if step.state.batches.counts[command.tenant_id] >= most:
        raise Rejected(RejectionType.BUSY, f"{most} batch operations of the tenant are not finished")
    key = step.next_key()
    due = step.after(COLLECTING_TIME)
    requester = step.requester or Requester()
    step.emit(happened.BatchOperationCreated(key, command.tenant_id, due, command.action, requester))
    return BatchOperationCreated(key)


def add_items(command: AddBatchItems, step: Step) -> Done:
    """Add a page of items; items that the operation already has are skipped.

    After the start all items are skipped. A repeated call therefore changes nothing.
    """
    operation = _known(command.batch_operation_key, command.tenant_id, step.state)
    if operation is None or operation.phase is not Phase.CREATED:
        return DONE
    batches, last = step.state.batches, step.state.batches.last_place(operation)
    items = tuple(item for item in command.items[:PAGE_ITEMS] if item.place > last)
    if not items:
        return DONE
    most = step.state.limits.tenant_batch_items
    if batches.items[command.tenant_id] + len(items) > most:
        raise Rejected(
            RejectionType.BUSY, f"{most} items of batch operations of the tenant are not processed"
        )
    page = BatchPage(step.next_key(), command.tenant_id, operation.key, items)
    total, due = operation.total + len(items), step.after(COLLECTING_TIME)
    step.emit(
        happened.BatchItemsAdded(operation.key, operation.tenant_id, due, operation.action, page, total)
    )
    return DONE


def start(command: StartBatchOperation, step: Step) -> Done:
    """Start processing; does nothing when the operation has started already."""
    operation = _known(command.batch_operation_key, command.tenant_id, step.state)
    if operation is not None and operation.phase is Phase.CREATED:
        step.emit(happened.BatchOperationStarted(operation.key, operation.tenant_id, step.now))
        _end_when_empty(operation, step)
    return DONE


def go_on(command: ContinueBatchOperation, step: Step) -> Done:
    """Continue a batch operation that is due; does nothing when another command has moved its due time."""
    operation = step.state.batches.operations.get(command.batch_operation_key)
    if operation is None or operation.due is None or operation.due > step.now:
        return DONE
    match operation.phase:
        case Phase.CREATED:
            reason = f"the items were not collected within {COLLECTING_TIME.seconds} s after the last ones"
            step.emit(happened.BatchOperationAbandoned(operation.key, operation.tenant_id, step.now, reason))
            _end_when_empty(operation, step)
        case Phase.ACTIVE:
            _take(operation, step)
        case Phase.CANCELED | Phase.FAILED:
            _drop(operation, step)
        case Phase.SUSPENDED:
            pass
    return DONE


def _take(operation: BatchOperation, step: Step) -> None:
    """Send the next items of one partition to it for processing."""
    page = step.state.batches.pages[operation.pages[0]]
    some = page.items[operation.position : operation.position + ITEMS_AT_ONCE]
    partition_id = partition_of(some[0].key)
    items = tuple(takewhile(lambda item: partition_of(item.key) == partition_id, some))
    step.emit(happened.BatchItemsTaken(operation.key, operation.tenant_id, None, len(items)))
    step.send(
        partition_id,
        ProcessBatchItems(operation.tenant_id, operation.key, operation.action, operation.requester, items),
    )


def _drop(operation: BatchOperation, step: Step) -> None:
    page = step.state.batches.pages[operation.pages[0]]
    first_key = Key(page.key + operation.position)
    count = len(page.items) - operation.position
    step.emit(happened.BatchItemsDropped(operation.key, operation.tenant_id, step.now, first_key, count))
    _end_when_empty(operation, step)


def _end_when_empty(operation: BatchOperation, step: Step) -> None:
    if not operation.pages:
        is_completed = operation.phase in {Phase.ACTIVE, Phase.SUSPENDED}
        step.emit(happened.BatchOperationEnded(operation.key, operation.tenant_id, None, is_completed))


# In the partition of the items


def process(command: ProcessBatchItems, step: Step) -> Done:
    """Process at least one item, and as many as fit into the command; the leading partition sends the others again."""
    step.state.expect_loaded(step.state.owners_of(command.process_instance_keys))
    step.requester = command.requester
    outcomes: list[happened.BatchOutcome] = []
    for item in command.items:
        if outcomes and (step.has_done_enough or len(outcomes) >= step.most_items):
            break
        step.begin_element()
        outcomes.append(_outcome(command, item, step))
    step.emit(
        happened.BatchItemsProcessed(
            command.batch_operation_key,
            command.tenant_id,
            command.action,
            command.requester,
            tuple(outcomes),
        )
    )
    errors = tuple(outcome.error for outcome in outcomes)
    step.send(
        partition_of(command.batch_operation_key),
        SettleBatchItems(command.tenant_id, command.batch_operation_key, errors),
    )
    return DONE


def _outcome(command: ProcessBatchItems, item: BatchItem, step: Step) -> happened.BatchOutcome:
    key = item.process_instance_key
    instance = step.state.instances.get(key) if key is not None else None
    definition_key = instance.head.process_definition_key if instance is not None else None
    if not step.most_items:
        return happened.BatchOutcome(item, definition_key, FAULT)
    rejected = step.attempt(partial(_ACTIONS[command.action.type], command, item, step))
    reason = None if rejected is None else rejected.reason[:LONGEST_ERROR]
    return happened.BatchOutcome(item, definition_key, reason)


def _cancel_process_instance(command: ProcessBatchItems, item: BatchItem, step: Step) -> None:
    process_instance.cancel(CancelProcessInstance(command.tenant_id, item.key), step)


def _delete_process_instance(command: ProcessBatchItems, item: BatchItem, step: Step) -> None:
    """Delete the history of a process instance; an item whose history is already deleted succeeds as well."""
    process_instance.delete(DeleteProcessInstance(command.tenant_id, item.key, is_stored=True), step)


def _delete_decision_instance(command: ProcessBatchItems, item: BatchItem, step: Step) -> None:
    """Delete the rows of an evaluation; an item that is already deleted succeeds as well."""
    step.charge(item.last_place)
    decision.delete(DeleteDecisionInstance(command.tenant_id, item.key, item.last_place), step)


def _migrate_process_instance(command: ProcessBatchItems, item: BatchItem, step: Step) -> None:
    _charge(item, step)
    pairs = command.action.element_pairs
    migration.migrate(
        MigrateProcessInstance(
            tenant_id=command.tenant_id,
            process_instance_key=item.key,
            target_process_definition_key=command.action.target_process_definition_key,
            mapping_instructions=tuple(
                MappingInstruction(each.source_element_id, each.target_element_id) for each in pairs
            ),
        ),
        step,
    )


def _modify_process_instance(command: ProcessBatchItems, item: BatchItem, step: Step) -> None:
    _charge(item, step)
    moves = tuple(
        MoveInstruction(
            source_element_id=each.source_element_id,
            target_element_id=each.target_element_id,
            ancestor_scope_type=AncestorScopeType.INFERRED,
        )
        for each in command.action.element_pairs
    )
    modification.modify(
        ModifyProcessInstance(
            tenant_id=command.tenant_id, process_instance_key=item.key, move_instructions=moves
        ),
        step,
    )


def _charge(item: BatchItem, step: Step) -> None:
    """Charge for a visit to every element instance of the process instance."""
    instance = step.state.instances.get(item.key)
    if instance is not None:
        step.charge(len(instance.elements) * ENTERING_STEPS)


def _resolve_incident(command: ProcessBatchItems, item: BatchItem, step: Step) -> None:
    """Resolve an incident. A job without retries gets one, because a caller cannot update each job of a batch."""
    owner = step.state.owner_of(item.key)
    open_incident = owner.incidents.get(item.key) if owner is not None else None
    job_key = open_incident.job_key if open_incident is not None else None
    if owner is not None and job_key is not None and owner.jobs[job_key].retries <= 0:
        job.update(UpdateJob(tenant_id=command.tenant_id, job_key=job_key, retries=1), step)
    incident.resolve(ResolveIncident(command.tenant_id, item.key), step)


def _erase_variables(command: ProcessBatchItems, item: BatchItem, step: Step) -> None:
    variable.erase(command.tenant_id, item.key, command.action.variable_names, step)


_ACTIONS: Mapping[BatchOperationType, Callable[[ProcessBatchItems, BatchItem, Step], None]] = {
    BatchOperationType.CANCEL_PROCESS_INSTANCE: _cancel_process_instance,
    BatchOperationType.MIGRATE_PROCESS_INSTANCE: _migrate_process_instance,
    BatchOperationType.MODIFY_PROCESS_INSTANCE: _modify_process_instance,
    BatchOperationType.RESOLVE_INCIDENT: _resolve_incident,
    BatchOperationType.DELETE_PROCESS_INSTANCE: _delete_process_instance,
    BatchOperationType.DELETE_DECISION_INSTANCE: _delete_decision_instance,
    BatchOperationType.ERASE_VARIABLES: _erase_variables,
}


# In the leading partition


def settle(command: SettleBatchItems, step: Step) -> Done:
    operation = step.state.batches.operations[command.batch_operation_key]
    failed = sum(error is not None for error in command.errors)
    due = None if operation.phase is Phase.SUSPENDED else step.now
    step.emit(
        happened.BatchItemsSettled(
            operation.key,
            operation.tenant_id,
            due,
            Key(operation.pages[0] + operation.position),
            command.errors,
            operation.completed + len(command.errors) - failed,
            operation.failed + failed,
        )
    )
    _end_when_empty(operation, step)
    return DONE


def suspend(command: SuspendBatchOperation, step: Step) -> Done:
    operation = _expected(command.batch_operation_key, command.tenant_id, step.state)
    _expect_phase(operation, Phase.ACTIVE)
    step.emit(happened.BatchOperationSuspended(operation.key, operation.tenant_id, None))
    return DONE


def resume(command: ResumeBatchOperation, step: Step) -> Done:
    operation = _expected(command.batch_operation_key, command.tenant_id, step.state)
    _expect_phase(operation, Phase.SUSPENDED)
    step.emit(happened.BatchOperationResumed(operation.key, operation.tenant_id, _at_once(operation, step)))
    return DONE


def cancel(command: CancelBatchOperation, step: Step) -> Done:
    operation = _expected(command.batch_operation_key, command.tenant_id, step.state)
    step.emit(happened.BatchOperationCanceled(operation.key, operation.tenant_id, _at_once(operation, step)))
    _end_when_empty(operation, step)
    return DONE


def _at_once(operation: BatchOperation, step: Step) -> datetime | None:
    """When the operation continues: now, or None while items are in hand, until they are settled."""
    return None if operation.in_hand else step.now


def _known(key: Key, tenant_id: str, state: State) -> BatchOperation | None:
    operation = state.batches.operations.get(key)
    return operation if operation is not None and operation.tenant_id == tenant_id else None


def _expected(key: Key, tenant_id: str, state: State) -> BatchOperation:
    operation = _known(key, tenant_id, state)
    if operation is None or operation.phase in {Phase.CANCELED, Phase.FAILED}:
        raise Rejected(RejectionType.NOT_FOUND, f"no unfinished batch operation with key {key}")
    return operation


def _expect_phase(operation: BatchOperation, phase: Phase) -> None:
    if operation.phase is not phase:
        raise Rejected(
            RejectionType.INVALID_STATE, f"batch operation {operation.key} is {operation.phase}, not {phase}"
        )
