"""Cancellation and migration, by both of their names."""

from typing import Any

import pytest

from gnomon.engine.v1 import process_instance_pb2 as pb
from server.bpmn.builder import process
from server.platform.errors import InvalidArgument, InvalidState, NotFound, PermissionDenied
from tests.server.rpc.caller import Caller

ORDER = process("order").service_task("charge", type="charge").end()
PAYMENT = process("payment").service_task("pay", type="pay").service_task("ship", type="ship").end()
CHARGE_TO_PAY = [{"source_element_id": "charge", "target_element_id": "pay"}]

both_names = pytest.mark.parametrize("rpc", ["AcceptMigration", "MigrateProcessInstance"])


@pytest.fixture
async def instance(caller: Caller) -> int:
    await caller.deploy(ORDER)
    return await caller.start("order")


@pytest.fixture
async def target(caller: Caller) -> int:
    return await caller.deploy(PAYMENT)


async def row(caller: Caller, key: int) -> Any:
    found = await caller("GetProcessInstance", process_instance_key=key)
    return found.process_instance


@both_names
async def test_an_instance_goes_on_where_it_was_migrated_to(
    caller: Caller, instance: int, target: int, rpc: str
) -> None:
    await caller(
        rpc,
        process_instance_key=instance,
        target_process_definition_key=target,
        mapping_instructions=CHARGE_TO_PAY,
    )

    (job,) = await caller.activate("charge")
    await caller("CompleteJob", job_key=job.job_key)
    assert (job.element_id, job.process_definition_id) == ("pay", "payment")
    assert (await row(caller, instance)).process_definition_key == target
    assert [job.element_id for job in await caller.activate("ship")] == ["ship"]


@both_names
async def test_a_repeated_migration_has_its_effect_once(
    caller: Caller, instance: int, target: int, rpc: str
) -> None:
    keyed = caller.with_key("k-1")
    for _ in range(2):
        await keyed(
            rpc,
            process_instance_key=instance,
            target_process_definition_key=target,
            mapping_instructions=CHARGE_TO_PAY,
        )

    assert (await row(caller, instance)).process_definition_key == target


@both_names
@pytest.mark.parametrize(
    ("change", "refusal"),
    [
        pytest.param({"process_instance_key": 42}, NotFound, id="unknown instance"),
        pytest.param({"target_process_definition_key": 42}, NotFound, id="unknown definition"),
        pytest.param(
            {"mapping_instructions": [{"source_element_id": "charge"}]}, InvalidArgument, id="no target"
        ),
        pytest.param(
            {"mapping_instructions": [{"source_element_id": "start", "target_element_id": "pay"}]},
            InvalidState,
            id="unmapped element",
        ),
    ],
)
async def test_a_refused_migration_changes_nothing(
    caller: Caller,
    instance: int,
    target: int,
    rpc: str,
    *,
    change: dict[str, object],
    refusal: type[Exception],
) -> None:
    before = await row(caller, instance)
    fields: dict[str, object] = {
        "process_instance_key": instance,
        "target_process_definition_key": target,
        "mapping_instructions": CHARGE_TO_PAY,
    }

    with pytest.raises(refusal):
        await caller(rpc, **(fields | change))

    assert await row(caller, instance) == before


@pytest.mark.parametrize(
    ("rpc", "refusal"),
    [
        # An older document of v1 demands one at least.
        pytest.param("AcceptMigration", InvalidArgument, id="v1"),
        pytest.param("MigrateProcessInstance", InvalidState, id="v2"),
    ],
)
async def test_no_instruction_is_not_enough_for_an_active_element(
    caller: Caller, instance: int, target: int, rpc: str, refusal: type[Exception]
) -> None:
    with pytest.raises(refusal):
        await caller(rpc, process_instance_key=instance, target_process_definition_key=target)


async def test_a_migration_takes_no_operation_reference(caller: Caller, instance: int, target: int) -> None:
    with pytest.raises(InvalidArgument, match="operationReference: is not supported"):
        await caller(
            "MigrateProcessInstance",
            process_instance_key=instance,
            target_process_definition_key=target,
            mapping_instructions=CHARGE_TO_PAY,
            operation_reference=1,
        )


async def test_an_accepted_cancellation_ends_the_instance(caller: Caller, instance: int) -> None:
    await caller("AcceptCancellation", process_instance_key=instance)

    assert (await row(caller, instance)).state == pb.PROCESS_INSTANCE_STATE_TERMINATED
    with pytest.raises(NotFound):
        await caller("AcceptCancellation", process_instance_key=instance)


@pytest.mark.parametrize("rpc", ["AcceptCancellation", "AcceptMigration", "MigrateProcessInstance"])
async def test_another_tenants_instance_is_not_there(caller: Caller, instance: int, rpc: str) -> None:
    stranger = caller.signed_in_as("stranger")
    fields: dict[str, object] = {"process_instance_key": instance}
    if rpc != "AcceptCancellation":
        fields |= {"target_process_definition_key": 42, "mapping_instructions": CHARGE_TO_PAY}

    with pytest.raises(NotFound, match=str(instance)):
        await stranger(rpc, **fields)


async def test_operating_needs_a_permission(caller: Caller, instance: int) -> None:
    with pytest.raises(PermissionDenied):
        await caller.signed_in_as("reader")("AcceptCancellation", process_instance_key=instance)
