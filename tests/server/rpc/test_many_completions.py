"""CompleteJobs: one outcome for each completion, in their order."""

import pytest
from google.rpc import code_pb2

from server.bpmn.builder import process
from server.platform.errors import IdempotencyConflict, InvalidArgument, PermissionDenied
from tests.server.rpc.caller import Caller

CHARGE = process("order").start().service_task("charge", type="charge").end()


@pytest.fixture
async def job_keys(caller: Caller) -> list[int]:
    """Activated jobs of four instances."""
    await caller.deploy(CHARGE)
    for _ in range(4):
        await caller.start("order")
    return [job.job_key for job in await caller.activate("charge")]


async def completed(caller: Caller) -> int:
    filters = {"state": {"eq": "PROCESS_INSTANCE_STATE_COMPLETED"}}
    return int((await caller("SearchProcessInstances", filter=filters)).page.total_items)


async def test_jobs_are_completed_together(caller: Caller, job_keys: list[int]) -> None:
    completions = [{"job_key": key, "variables": b'{"paid":true}'} for key in job_keys]

    answer = await caller("CompleteJobs", completions=completions)

    assert [outcome.code for outcome in answer.outcomes] == [code_pb2.OK] * 4
    assert await completed(caller) == 4
    assert (await caller("SearchVariables", filter={"name": {"eq": "paid"}})).page.total_items == 4


async def test_a_completion_that_is_refused_leaves_the_others(caller: Caller, job_keys: list[int]) -> None:
    first, second, third, _ = job_keys
    completions = [
        {"job_key": first},
        {"job_key": second, "variables": b"[1]"},
        {"job_key": 1},
        {"job_key": first},
        {"job_key": third},
    ]

    answer = await caller("CompleteJobs", completions=completions)

    assert [code_pb2.Code.Name(outcome.code) for outcome in answer.outcomes] == [
        "OK",
        "INVALID_ARGUMENT",
        "NOT_FOUND",
        "NOT_FOUND",
        "OK",
    ]
    assert answer.outcomes[2].message == "no job with key 1"
    assert await completed(caller) == 2


async def test_a_repeat_gets_the_first_outcomes(caller: Caller, job_keys: list[int]) -> None:
    keyed = caller.with_key("k-1")
    completions = [{"job_key": job_keys[0]}, {"job_key": 1}, {"job_key": job_keys[1]}]

    first = await keyed("CompleteJobs", completions=completions)
    second = await keyed("CompleteJobs", completions=completions)

    assert first == second
    assert await completed(caller) == 2


async def test_a_repeat_with_other_completions_is_a_conflict_where_they_differ(
    caller: Caller, job_keys: list[int]
) -> None:
    keyed = caller.with_key("k-1")
    await keyed("CompleteJobs", completions=[{"job_key": key} for key in job_keys[:2]])

    answer = await keyed("CompleteJobs", completions=[{"job_key": key} for key in job_keys[1:]])

    conflict = IdempotencyConflict("").code
    assert [outcome.code for outcome in answer.outcomes] == [conflict, conflict, code_pb2.OK]
    assert await completed(caller) == 3


@pytest.mark.parametrize(
    "completions",
    [
        pytest.param([], id="none"),
        pytest.param([{"job_key": 1}] * 1001, id="too many"),
        pytest.param([{"job_key": 0}], id="key that cannot be"),
    ],
)
async def test_the_bounds_of_a_call_hold(caller: Caller, completions: list[dict[str, int]]) -> None:
    with pytest.raises(InvalidArgument):
        await caller("CompleteJobs", completions=completions)


async def test_the_jobs_of_another_tenant_are_not_found(caller: Caller, job_keys: list[int]) -> None:
    stranger = caller.signed_in_as("stranger")

    answer = await stranger("CompleteJobs", completions=[{"job_key": key} for key in job_keys])

    assert [outcome.code for outcome in answer.outcomes] == [code_pb2.NOT_FOUND] * 4
    assert await completed(caller) == 0


async def test_a_reader_completes_nothing(caller: Caller, job_keys: list[int]) -> None:
    with pytest.raises(PermissionDenied):
        await caller.signed_in_as("reader")("CompleteJobs", completions=[{"job_key": job_keys[0]}])
