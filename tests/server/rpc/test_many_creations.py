"""CreateProcessInstances: one outcome for each creation, in their order."""

import json
from typing import Any

import pytest
from google.rpc import code_pb2

from server.bpmn.builder import process
from server.platform.errors import IdempotencyConflict, InvalidArgument, PermissionDenied
from tests.server.rpc.caller import Caller

CHARGE = process("order").start().service_task("charge", type="charge").end()
OTHER = process("other").start().service_task("charge", type="charge").end()


@pytest.fixture(autouse=True)
async def deployed(caller: Caller) -> None:
    await caller.deploy(CHARGE)
    await caller.deploy(OTHER)


def creation(number: int = 1, **fields: object) -> dict[str, Any]:
    return {"process_definition_id": "order", "variables": json.dumps({"number": number}).encode(), **fields}


async def started(caller: Caller) -> list[int]:
    answer = await caller("SearchProcessInstances")
    return [item.process_instance_key for item in answer.items]


def codes_of(answer: Any) -> list[str]:
    return [code_pb2.Code.Name(outcome.refusal.code) for outcome in answer.outcomes]


async def test_instances_are_started_together(caller: Caller) -> None:
    answer = await caller("CreateProcessInstances", creations=[creation(number) for number in range(5)])

    created = [outcome.process_instance for outcome in answer.outcomes]
    assert sorted(each.process_instance_key for each in created) == sorted(await started(caller))
    assert {each.process_definition_id for each in created} == {"order"}
    for number, each in enumerate(created):
        scope = {"scope_key": {"eq": each.process_instance_key}}
        (variable,) = (await caller("SearchVariables", filter=scope)).items
        assert variable.value == str(number)


async def test_a_creation_that_is_refused_leaves_the_others(caller: Caller) -> None:
    creations = [
        creation(),
        creation(variables=b"[1]"),
        {"process_definition_id": "unknown"},
        creation(tenant_id="other"),
        creation(tenant_id="default"),
    ]

    answer = await caller("CreateProcessInstances", creations=creations)

    assert codes_of(answer) == ["OK", "INVALID_ARGUMENT", "NOT_FOUND", "PERMISSION_DENIED", "OK"]
    assert len(await started(caller)) == 2


async def test_a_repeat_gets_the_first_outcomes(caller: Caller) -> None:
    keyed = caller.with_key("k-1")
    creations = [creation(1), {"process_definition_id": "unknown"}, creation(2)]

    first = await keyed("CreateProcessInstances", creations=creations)
    second = await keyed("CreateProcessInstances", creations=creations)

    assert first == second
    assert len(await started(caller)) == 2


async def test_a_repeat_with_other_creations_is_a_conflict_where_they_differ(caller: Caller) -> None:
    keyed = caller.with_key("k-1")
    first = await keyed("CreateProcessInstances", creations=[creation(1), creation(2)])

    second = await keyed("CreateProcessInstances", creations=[creation(1), creation(3)])

    assert second.outcomes[0] == first.outcomes[0]
    assert second.outcomes[1].refusal.code == IdempotencyConflict("").code
    assert len(await started(caller)) == 2


@pytest.mark.parametrize(
    "creations",
    [
        pytest.param([], id="none"),
        pytest.param([creation()] * 1001, id="too many"),
        pytest.param([creation(), {}], id="creation of nothing"),
        pytest.param([creation(), creation(await_completion=True)], id="creation that is awaited"),
    ],
)
async def test_the_bounds_of_a_call_hold(caller: Caller, creations: list[dict[str, Any]]) -> None:
    with pytest.raises(InvalidArgument):
        await caller("CreateProcessInstances", creations=creations)

    assert await started(caller) == []


async def test_the_processes_of_another_tenant_are_not_found(caller: Caller) -> None:
    stranger = caller.signed_in_as("stranger")

    assert codes_of(await stranger("CreateProcessInstances", creations=[creation()])) == ["NOT_FOUND"]
    assert await started(caller) == []


async def test_an_authorization_for_all_processes_opens_it(caller: Caller) -> None:
    creations = [creation(), creation(process_definition_id="other")]

    answer = await caller.signed_in_as("starter")("CreateProcessInstances", creations=creations)

    assert codes_of(answer) == ["OK", "OK"]


async def test_an_authorization_for_one_process_starts_its_instances_one_by_one(caller: Caller) -> None:
    orders = caller.signed_in_as("starter of orders")
    with pytest.raises(PermissionDenied):
        await orders("CreateProcessInstances", creations=[creation()])

    await orders("CreateProcessInstance", **creation())

    assert len(await started(caller)) == 1


async def test_a_reader_starts_nothing(caller: Caller) -> None:
    with pytest.raises(PermissionDenied):
        await caller.signed_in_as("reader")("CreateProcessInstances", creations=[creation()])
