"""Batch operations within one partition; `tests.server.partition.test_batch_operations` has those with items elsewhere."""

from collections.abc import Callable, Sequence
from datetime import timedelta
from itertools import starmap
from typing import TYPE_CHECKING, cast

import msgspec
import pytest

from server.bpmn.builder import ProcessBuilder, process, sub_process
from server.engine import batch_commands, process_instance_commands
from server.engine import process as handle
from server.engine.batch_events import BatchItemsDropped, BatchItemsProcessed, BatchItemsSettled
from server.engine.batch_operations import BatchAction, BatchItem, BatchOperationType, ElementPair
from server.engine.commands import Command
from server.engine.handlers.batch_operation import COLLECTING_TIME, FAULT, ITEMS_AT_ONCE, PAGE_ITEMS
from server.engine.keys import Key, first_key
from server.engine.lifecycle import ElementState
from server.engine.limits import EngineLimits
from server.engine.rejection import RejectionType
from server.engine.sent import CommandSent
from server.store.entities import (
    BatchOperation,
    BatchOperationItem,
    BatchOperationItemState,
    BatchOperationState,
    ElementInstance,
    Variable,
)
from tests.server.engine.scenario import Scenario
from tests.server.engine.strategies import POISON
from tests.server.engine.test_modification import activate, nested, standing

if TYPE_CHECKING:
    from server.engine.answers import BatchOperationCreated

CANCEL = BatchAction(BatchOperationType.CANCEL_PROCESS_INSTANCE)
DELETE = BatchAction(BatchOperationType.DELETE_PROCESS_INSTANCE)
ERASE = BatchAction(BatchOperationType.ERASE_VARIABLES)
HOUR = timedelta(hours=1)


def waiting() -> ProcessBuilder:
    return process("order").service_task("ship", type="ship").end()


def started(engine: Scenario, count: int) -> list[Key]:
    return [engine.start().instance_key for _ in range(count)]


def items(keys: Sequence[Key]) -> tuple[BatchItem, ...]:
    return tuple(BatchItem(key, key, key) for key in keys)


def created(engine: Scenario, action: BatchAction = CANCEL) -> Key:
    answer = engine.execute(batch_commands.CreateBatchOperation(engine.tenant_id, action))
    return cast("BatchOperationCreated", answer).key


def collected(engine: Scenario, keys: Sequence[Key], action: BatchAction = CANCEL) -> Key:
    """A batch operation that has its items and is not started."""
    key = created(engine, action)
    for first in range(0, len(keys), PAGE_ITEMS):
        some = items(keys[first : first + PAGE_ITEMS])
        engine.execute(batch_commands.AddBatchItems(engine.tenant_id, key, some))
    return key


def moving(*pairs: tuple[str, str]) -> BatchAction:
    return BatchAction(
        BatchOperationType.MODIFY_PROCESS_INSTANCE, element_pairs=tuple(starmap(ElementPair, pairs))
    )


def begun(engine: Scenario, keys: Sequence[Key], action: BatchAction = CANCEL) -> Key:
    key = collected(engine, keys, action)
    engine.execute(batch_commands.StartBatchOperation(engine.tenant_id, key))
    engine.advance(timedelta())
    return key


def row(engine: Scenario, key: Key) -> BatchOperation:
    return engine.rows.get(BatchOperation, key)


def counts(engine: Scenario, key: Key) -> tuple[int, int, int]:
    """Items, completed ones, failed ones."""
    found = row(engine, key)
    return (
        found.operations_total_count,
        found.operations_completed_count,
        found.operations_failed_count,
    )


def states(engine: Scenario, key: Key) -> list[BatchOperationItemState]:
    found = engine.rows.all(BatchOperationItem)
    return [item.state for item in found if item.batch_operation_key == key]


# Items


def test_each_item_is_cancelled_and_the_others_go_on(engine: Scenario) -> None:
    engine.deploy(waiting())
    keys = started(engine, 4)

    key = begun(engine, keys[:3])

    assert engine.state.instances.keys() == {keys[3]}
    assert counts(engine, key) == (3, 3, 0)
    assert states(engine, key) == [BatchOperationItemState.COMPLETED] * 3
    assert row(engine, key).state is BatchOperationState.COMPLETED
    assert row(engine, key).end_date == engine.now
    assert engine.state.batches.operations == engine.state.batches.pages == {}


def test_variables_of_all_scopes_are_erased_and_conditions_on_them_are_evaluated(engine: Scenario) -> None:
    inner = sub_process("inner").service_task("pack", type="pack").end()
    engine.deploy(
        process("order")
        .embed(inner, inputs={"copy": "=customer"})
        .end()
        .boundary_condition("gone", on="inner", condition="=customer = null", is_interrupting=False)
        .service_task("tell", type="tell")
        .end()
    )
    first = engine.start(customer="ann", other=1).instance_key

    key = begun(engine, [first], ERASE)

    assert counts(engine, key) == (1, 1, 0)
    assert standing(engine) == ["inner", "pack", "tell"]
    values = {each.name: each.value for each in engine.rows.all(Variable)}
    assert values == {"customer": "null", "other": "null", "copy": "null"}


def test_the_history_of_each_item_is_deleted_unless_it_runs(engine: Scenario) -> None:
    engine.deploy(waiting())
    first, running, last, other = started(engine, 4)
    for key in (first, last, other):
        engine.execute(process_instance_commands.CancelProcessInstance("default", key))

    key = begun(engine, [first, running, last], DELETE)

    assert {row.process_instance_key for row in engine.rows.all(ElementInstance)} == {running, other}
    assert counts(engine, key) == (3, 2, 1)
    (failed,) = (each for each in engine.rows.all(BatchOperationItem) if each.error_message is not None)
    assert failed.item_key == running
    assert failed.error_message == f"process instance {running} has not ended: cancel it before it is deleted"
    assert engine.state.instances.keys() == {running}


def test_an_item_that_is_deleted_already_is_completed(engine: Scenario) -> None:
    engine.deploy(waiting())
    (gone,) = started(engine, 1)
    engine.execute(process_instance_commands.CancelProcessInstance("default", gone))
    engine.execute(process_instance_commands.DeleteProcessInstance("default", gone, is_stored=True))

    key = begun(engine, [gone], DELETE)

    assert counts(engine, key) == (1, 1, 0)


def test_an_item_that_is_refused_fails_with_the_reason_and_the_next_ones_are_processed(
    engine: Scenario,
) -> None:
    engine.deploy(waiting())
    first, gone, last = started(engine, 3)
    key = collected(engine, [first, gone, last])
    engine.execute(process_instance_commands.CancelProcessInstance("default", gone))

    engine.execute(batch_commands.StartBatchOperation("default", key))
    engine.advance(timedelta())

    failed = next(each for each in engine.rows.all(BatchOperationItem) if each.item_key == gone)
    assert failed.state is BatchOperationItemState.FAILED
    assert failed.error_message == f"no active process instance with key {gone}"
    assert failed.processed_date == engine.now
    assert counts(engine, key) == (3, 2, 1)
    assert engine.state.instances == {}


@pytest.mark.parametrize("place", [0, 1, 2])
@pytest.mark.parametrize("is_later", [False, True], ids=["at once", "by work that follows"])
def test_a_fault_of_one_item_does_not_stop_the_others(*, place: int, is_later: bool) -> None:
    """A text that is no JSON stands for a fault of ours."""
    engine = Scenario()
    target = process("order").service_task("ship", type="ship")
    target.script_task("pass", expression="=1" if is_later else "=answer", result="x")
    target.script_task("then", expression="=answer", result="y").end()
    engine.deploy(target)
    keys = [engine.start(answer=1).instance_key for _ in range(3)]
    poisoned = engine.state.instances[keys[place]]
    poisoned.variables[poisoned.head.key]["answer"].value = POISON

    key = begun(engine, keys, moving(("ship", "pass")))

    assert counts(engine, key) == (3, 2, 1)
    assert row(engine, key).state is BatchOperationState.COMPLETED
    failed = [item for item in engine.rows.all(BatchOperationItem) if item.error_message is not None]
    assert [(item.item_key, item.error_message) for item in failed] == [(keys[place], FAULT)]
    assert engine.state.instances.keys() == {keys[place]}
    assert [each.element_id for each in poisoned.elements.values()] == ["order", "ship"]


def test_faults_of_items_are_told_with_the_outcome() -> None:
    engine = Scenario().deploy(
        process("order")
        .service_task("ship", type="ship")
        .script_task("pass", expression="=answer", result="x")
        .end()
    )
    keys = [engine.start(answer=1).instance_key for _ in range(2)]
    engine.instance.variables[engine.instance_key]["answer"].value = POISON
    key = collected(engine, keys, moving(("ship", "pass")))
    handle(engine.state, batch_commands.StartBatchOperation(engine.tenant_id, key), engine.now)

    outcomes = []
    while engine.state.batches.operations:
        outcomes.append(
            handle(engine.state, batch_commands.ContinueBatchOperation("default", key), engine.now)
        )

    assert [type(fault) for outcome in outcomes for fault in outcome.faults].count(msgspec.DecodeError) >= 1
    assert engine.state.instances.keys() == {keys[1]}


def test_a_batch_operation_without_items_is_completed_at_once(engine: Scenario) -> None:
    key = begun(engine, [])

    assert row(engine, key).state is BatchOperationState.COMPLETED
    assert counts(engine, key) == (0, 0, 0)


def test_items_are_processed_some_at_a_time(engine: Scenario) -> None:
    engine.deploy(waiting())
    keys = started(engine, ITEMS_AT_ONCE + 3)

    begun(engine, keys)

    settled = [len(event.errors) for event in engine.events if isinstance(event, BatchItemsSettled)]
    assert settled == [ITEMS_AT_ONCE, 3]


def test_items_for_which_a_turn_has_no_time_have_another_one() -> None:
    engine = Scenario(limits=EngineLimits(slice_steps=500))
    engine.deploy(waiting())
    keys = started(engine, 5)

    key = begun(engine, keys)

    assert counts(engine, key) == (5, 5, 0)
    assert len([event for event in engine.events if isinstance(event, BatchItemsSettled)]) > 1


def test_items_are_processed_in_the_name_of_who_asked_for_them(engine: Scenario) -> None:
    engine.deploy(waiting())

    key = begun(engine, started(engine, 1))

    (processed,) = [event for event in engine.events if isinstance(event, BatchItemsProcessed)]
    assert processed.requester.actor_type == row(engine, key).actor_type
    assert processed.outcomes[0].process_definition_key == engine.state.latest("default", "order").key  # type: ignore[union-attr]


# Other types of operations


def test_each_item_is_migrated_by_the_plan(engine: Scenario) -> None:
    engine.deploy(waiting()).deploy(process("parcel").service_task("send", type="ship").end())
    keys = [engine.start("order").instance_key for _ in range(2)]
    target = engine.state.latest("default", "parcel")
    assert target is not None
    action = BatchAction(
        BatchOperationType.MIGRATE_PROCESS_INSTANCE, target.key, (ElementPair("ship", "send"),)
    )

    key = begun(engine, keys, action)

    assert counts(engine, key) == (2, 2, 0)
    assert {each.head.process_definition_key for each in engine.state.instances.values()} == {target.key}
    assert engine.element("send").state is ElementState.ACTIVATED


def test_an_item_that_the_plan_does_not_fit_fails(engine: Scenario) -> None:
    engine.deploy(waiting())
    action = BatchAction(BatchOperationType.MIGRATE_PROCESS_INSTANCE, Key(7))

    key = begun(engine, started(engine, 1), action)

    assert counts(engine, key) == (1, 0, 1)
    assert engine.rows.all(BatchOperationItem)[0].error_message == "no process definition with key 7"


def test_each_item_is_modified_by_the_moves(engine: Scenario) -> None:
    engine.deploy(process("order").service_task("ship", type="ship").service_task("bill", type="bill").end())
    action = moving(("ship", "bill"))

    key = begun(engine, started(engine, 2), action)

    assert counts(engine, key) == (2, 2, 0)
    assert [each.type for instance in engine.state.instances.values() for each in instance.jobs.values()] == [
        "bill",
        "bill",
    ]


def test_an_item_that_is_refused_half_way_is_as_it_was(engine: Scenario) -> None:
    """A modification enters its first target before it finds that the second one cannot be entered."""
    engine.deploy(nested().boundary_timer("late", on="outer", duration="=nothing").end())
    (refused, fit) = [engine.start(**given).instance_key for given in ({}, {"nothing": "PT1H"})]
    for engine.instance_key in (refused, fit):
        engine.modify(activate("after"))
    before = {each.element_id for each in engine.state.instances[refused].elements.values()}

    key = begun(engine, [refused, fit], moving(("before", "after"), ("after", "deep")))

    assert counts(engine, key) == (2, 1, 1)
    assert {each.element_id for each in engine.state.instances[refused].elements.values()} == before
    failed = next(each for each in engine.rows.all(BatchOperationItem) if each.item_key == refused)
    assert "cannot wait for its events" in (failed.error_message or "")
    engine.instance_key = fit
    assert standing(engine).count("deep") == 1


def test_each_incident_is_resolved_and_its_job_has_another_try(engine: Scenario) -> None:
    engine.deploy(waiting())
    (instance_key,) = started(engine, 1)
    engine.fail("ship")
    item = BatchItem(engine.incident.key, instance_key, instance_key)
    key = created(engine, BatchAction(BatchOperationType.RESOLVE_INCIDENT))
    engine.execute(batch_commands.AddBatchItems("default", key, (item,)))

    engine.execute(batch_commands.StartBatchOperation("default", key))
    engine.advance(timedelta())

    assert counts(engine, key) == (1, 1, 0)
    assert engine.instance.incidents == {}
    assert engine.job("ship").retries == 1
    assert engine.offered == ["ship"]


def test_an_incident_that_is_resolved_already_is_an_item_that_fails(engine: Scenario) -> None:
    engine.deploy(waiting())
    (instance_key,) = started(engine, 1)
    action = BatchAction(BatchOperationType.RESOLVE_INCIDENT)
    key = created(engine, action)
    item = BatchItem(Key(instance_key + 1), instance_key, instance_key)
    engine.execute(batch_commands.AddBatchItems("default", key, (item,)))

    engine.execute(batch_commands.StartBatchOperation("default", key))
    engine.advance(timedelta())

    assert counts(engine, key) == (1, 0, 1)


# Collecting


def test_items_that_are_brought_again_are_left_out(engine: Scenario) -> None:
    """A caller that repeats its request does so after a node died."""
    engine.deploy(waiting())
    keys = started(engine, 3)
    key = collected(engine, keys[:2])

    engine.execute(batch_commands.AddBatchItems("default", key, items(keys)))
    engine.execute(batch_commands.AddBatchItems("default", key, items(keys)))
    engine.execute(batch_commands.StartBatchOperation("default", key))
    engine.execute(batch_commands.AddBatchItems("default", key, items([*keys, Key(keys[-1] + 1)])))
    engine.execute(batch_commands.StartBatchOperation("default", key))
    engine.advance(timedelta())

    assert counts(engine, key) == (3, 3, 0)


def test_nothing_is_processed_before_all_items_are_collected(engine: Scenario) -> None:
    engine.deploy(waiting())
    key = collected(engine, started(engine, 2))

    engine.advance(COLLECTING_TIME - timedelta(seconds=1))

    assert row(engine, key).state is BatchOperationState.CREATED
    assert row(engine, key).start_date is None
    assert len(engine.state.instances) == 2


def test_a_batch_operation_whose_items_never_come_fails_and_processes_none(engine: Scenario) -> None:
    engine.deploy(waiting())
    key = collected(engine, started(engine, 2))

    engine.advance(COLLECTING_TIME)

    assert row(engine, key).state is BatchOperationState.FAILED
    assert "not collected" in (row(engine, key).failure or "")
    assert states(engine, key) == [BatchOperationItemState.CANCELED] * 2
    assert engine.state.batches.operations == {}
    assert len(engine.state.instances) == 2


def test_a_tenant_has_so_many_items_that_are_not_processed() -> None:
    engine = Scenario(limits=EngineLimits(tenant_batch_items=2))
    engine.deploy(waiting())
    keys = started(engine, 3)
    key = collected(engine, keys[:2])

    refusal = engine.refusal(batch_commands.AddBatchItems("default", created(engine), items(keys[2:])))

    assert refusal.type is RejectionType.BUSY
    engine.execute(batch_commands.CancelBatchOperation("default", key))
    assert counts(engine, begun(engine, keys[:2])) == (2, 2, 0)


def test_a_tenant_has_so_many_batch_operations_that_are_not_finished() -> None:
    engine = Scenario(limits=EngineLimits(tenant_batch_operations=1))
    begun(engine, [])
    created(engine)

    refusal = engine.refusal(batch_commands.CreateBatchOperation("default", CANCEL))

    assert refusal.type is RejectionType.BUSY
    assert handle(engine.state, batch_commands.CreateBatchOperation("other", CANCEL), engine.now).events


# Suspended, resumed, cancelled: of items in another partition, which answers when the test lets it


ELSEWHERE = [Key(first_key(2) + number) for number in range(1, ITEMS_AT_ONCE + 4)]


def settled(engine: Scenario, key: Key, count: int) -> None:
    """The other partition has processed so many of the items in hand."""
    engine.execute(batch_commands.SettleBatchItems("default", key, (None,) * count))
    engine.advance(timedelta())


def sent(engine: Scenario) -> list[int]:
    """The number of items in each command for the other partition."""
    found = [event.command for event in engine.events if isinstance(event, CommandSent)]
    return [len(command.items) for command in found if isinstance(command, batch_commands.ProcessBatchItems)]


def test_one_window_of_items_is_in_hand_at_a_time() -> None:
    engine = Scenario()
    key = begun(engine, ELSEWHERE)
    engine.advance(HOUR)

    assert sent(engine) == [ITEMS_AT_ONCE]
    settled(engine, key, ITEMS_AT_ONCE - 1)
    assert sent(engine) == [ITEMS_AT_ONCE, 4]
    settled(engine, key, 4)
    assert counts(engine, key) == (ITEMS_AT_ONCE + 3, ITEMS_AT_ONCE + 3, 0)
    engine.expect_laws()


def test_a_window_has_items_of_one_partition() -> None:
    engine = Scenario()

    begun(engine, [*ELSEWHERE[:2], Key(first_key(3) + 1)])

    assert sent(engine) == [2]


def test_a_suspended_batch_operation_goes_on_when_it_is_resumed() -> None:
    engine = Scenario()
    key = begun(engine, ELSEWHERE)

    engine.execute(batch_commands.SuspendBatchOperation("default", key))
    settled(engine, key, ITEMS_AT_ONCE)

    assert row(engine, key).state is BatchOperationState.SUSPENDED
    assert counts(engine, key) == (ITEMS_AT_ONCE + 3, ITEMS_AT_ONCE, 0)
    engine.advance(HOUR)
    assert sent(engine) == [ITEMS_AT_ONCE]
    engine.expect_laws()
    engine.execute(batch_commands.ResumeBatchOperation("default", key))
    engine.advance(timedelta())
    assert row(engine, key).state is BatchOperationState.ACTIVE
    assert sent(engine) == [ITEMS_AT_ONCE, 3]


def test_a_batch_operation_that_is_resumed_takes_no_items_while_some_are_in_hand() -> None:
    engine = Scenario()
    key = begun(engine, ELSEWHERE)

    engine.execute(batch_commands.SuspendBatchOperation("default", key))
    engine.execute(batch_commands.ResumeBatchOperation("default", key))
    engine.advance(HOUR)

    assert sent(engine) == [ITEMS_AT_ONCE]


def test_a_suspended_batch_operation_whose_last_items_are_settled_is_completed() -> None:
    engine = Scenario()
    key = begun(engine, ELSEWHERE[:2])

    engine.execute(batch_commands.SuspendBatchOperation("default", key))
    settled(engine, key, 2)

    assert row(engine, key).state is BatchOperationState.COMPLETED


def test_a_cancelled_batch_operation_settles_what_is_in_hand_and_drops_the_rest() -> None:
    engine = Scenario()
    key = begun(engine, ELSEWHERE)

    engine.execute(batch_commands.CancelBatchOperation("default", key))
    assert row(engine, key).state is BatchOperationState.CANCELED
    settled(engine, key, ITEMS_AT_ONCE)

    expected = [BatchOperationItemState.COMPLETED] * ITEMS_AT_ONCE + [BatchOperationItemState.CANCELED] * 3
    assert states(engine, key) == expected
    assert row(engine, key).state is BatchOperationState.CANCELED
    assert sent(engine) == [ITEMS_AT_ONCE]
    assert engine.state.batches.operations == engine.state.batches.pages == {}
    assert engine.refusal(batch_commands.CancelBatchOperation("default", key)).type is RejectionType.NOT_FOUND


def test_a_large_batch_operation_is_cancelled_a_page_at_a_time() -> None:
    engine = Scenario()
    key = collected(engine, [Key(first_key(2) + number) for number in range(1, 2 * PAGE_ITEMS + 2)])

    engine.execute(batch_commands.CancelBatchOperation("default", key))

    dropped = [event.count for event in engine.events if isinstance(event, BatchItemsDropped)]
    assert dropped == [PAGE_ITEMS, PAGE_ITEMS, 1]
    engine.expect_laws()


@pytest.mark.parametrize(
    "kind",
    [
        batch_commands.SuspendBatchOperation,
        batch_commands.ResumeBatchOperation,
        batch_commands.CancelBatchOperation,
    ],
)
def test_a_batch_operation_of_another_tenant_or_one_that_ended_is_not_found(
    kind: Callable[[str, Key], Command],
) -> None:
    engine = Scenario()
    active, ended = begun(engine, ELSEWHERE), begun(engine, [])

    assert engine.refusal(kind("other", active)).type is RejectionType.NOT_FOUND
    assert engine.refusal(kind("default", ended)).type is RejectionType.NOT_FOUND


def test_only_an_active_one_is_suspended_and_only_a_suspended_one_resumed() -> None:
    engine = Scenario()
    key = begun(engine, ELSEWHERE)

    refusal = engine.refusal(batch_commands.ResumeBatchOperation("default", key))

    assert refusal.type is RejectionType.INVALID_STATE
    assert refusal.reason == f"batch operation {key} is ACTIVE, not SUSPENDED"
    engine.execute(batch_commands.SuspendBatchOperation("default", key))
    refusal = engine.refusal(batch_commands.SuspendBatchOperation("default", key))
    assert refusal.type is RejectionType.INVALID_STATE
