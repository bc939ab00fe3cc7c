"""Workers of Zeebe: how they get jobs, and what they do with them."""

import asyncio
import json
from itertools import pairwise
from typing import Any

import grpc
import pytest

from gnomon.gateway_protocol import gateway_pb2 as pb
from server.bpmn.builder import ad_hoc_sub_process, process
from tests.server.gateway.conftest import serving
from tests.server.gateway.zeebe import Zeebe, refusal
from tests.server.rpc.caller import Caller
from tests.server.rpc.engines import Time, embedded
from tests.waits import until

ORDER = process("order").start().service_task("charge", type="charge", headers={"currency": "EUR"}).end()
MIDNIGHT = 1_767_225_600_000  # 2026-01-01T00:00:00Z


async def test_a_job_is_activated_with_all_that_its_worker_needs(zeebe: Zeebe, time: Time) -> None:
    await time.pin(MIDNIGHT)
    definition_key = await zeebe.deploy(ORDER)
    created = await zeebe(
        "CreateProcessInstance", bpmnProcessId="order", version=-1, variables='{"total":120}', tags=["a:1"]
    )

    (job,) = await zeebe.activate("charge")

    assert job.key > 0
    assert (job.type, job.elementId, job.worker, job.retries) == ("charge", "charge", "worker", 3)
    assert job.processInstanceKey == created.processInstanceKey
    assert (job.bpmnProcessId, job.processDefinitionVersion) == ("order", 1)
    assert job.processDefinitionKey == definition_key
    assert job.elementInstanceKey > 0
    assert json.loads(job.variables) == {"total": 120}
    assert json.loads(job.customHeaders) == {"currency": "EUR"}
    assert job.deadline == MIDNIGHT + 60_000
    assert job.tenantId == "default"
    assert list(job.tags) == ["a:1"]
    assert not job.HasField("userTask")
    assert job.kind == pb.ActivatedJob.BPMN_ELEMENT
    assert job.listenerEventType == pb.ActivatedJob.UNSPECIFIED


async def test_variables_and_headers_of_a_job_without_any_are_empty_objects(zeebe: Zeebe) -> None:
    await zeebe.deploy(process("plain").start().service_task("task", type="plain").end())
    await zeebe.start("plain")

    (job,) = await zeebe.activate("plain")

    assert (job.variables, job.customHeaders) == ("{}", "{}")


async def test_a_worker_gets_the_variables_that_it_names(zeebe: Zeebe) -> None:
    await zeebe.deploy(ORDER)
    await zeebe.start("order", '{"total":120,"name":"Ann"}')

    (job,) = await zeebe.activate("charge", fetchVariable=["total"])

    assert json.loads(job.variables) == {"total": 120}


async def test_a_completed_job_hands_its_variables_on(zeebe: Zeebe) -> None:
    chain = process("chain").start().service_task("one", type="one").service_task("two", type="two").end()
    await zeebe.deploy(chain)
    await zeebe.start("chain")
    (first,) = await zeebe.activate("one")

    await zeebe("CompleteJob", jobKey=first.key, variables='{"paid":true}')

    (second,) = await zeebe.activate("two")
    assert json.loads(second.variables) == {"paid": True}


async def test_an_activation_waits_for_a_job(zeebe: Zeebe) -> None:
    await zeebe.deploy(ORDER)
    waiting = asyncio.ensure_future(zeebe.activate("charge", requestTimeout=20_000))
    await asyncio.sleep(0.1)

    key = await zeebe.start("order")

    assert [job.processInstanceKey for job in await waiting] == [key]


@pytest.mark.parametrize("wait", [pytest.param(-1, id="not at all"), pytest.param(100, id="for a moment")])
async def test_an_activation_that_finds_nothing_ends_without_an_answer(zeebe: Zeebe, wait: int) -> None:
    answers = await zeebe(
        "ActivateJobs", type="none", worker="w", timeout=1000, maxJobsToActivate=1, requestTimeout=wait
    )

    assert answers == []


async def test_an_activation_ends_before_the_deadline_of_its_client(in_memory: Zeebe) -> None:
    assert await in_memory.activate("none", requestTimeout=60_000, seconds=1) == []


async def test_an_activation_has_at_most_as_many_jobs_as_asked_for(zeebe: Zeebe) -> None:
    await zeebe.deploy(ORDER)
    for _ in range(5):
        await zeebe.start("order")

    found = await zeebe.activate("charge", 3)
    rest = await zeebe.activate("charge", 2**31 - 1)

    assert (len(found), len(rest)) == (3, 2)


async def test_workers_that_go_away_while_they_wait_take_no_job_with_them(zeebe: Zeebe) -> None:
    await zeebe.deploy(ORDER)
    leaving = [asyncio.ensure_future(zeebe.activate("charge", requestTimeout=20_000)) for _ in range(10)]
    await asyncio.sleep(0.2)
    for worker in leaving:
        worker.cancel()
    await asyncio.gather(*leaving, return_exceptions=True)

    started = {await zeebe.start("order") for _ in range(10)}

    found: set[int] = set()
    while len(found) < len(started):
        jobs = await zeebe.activate("charge", requestTimeout=5000)
        assert jobs
        found.update(job.processInstanceKey for job in jobs)
    assert found == started


async def test_no_job_goes_to_two_workers(zeebe: Zeebe) -> None:
    await zeebe.deploy(ORDER)
    workers = [asyncio.ensure_future(zeebe.activate("charge", 1, requestTimeout=20_000)) for _ in range(20)]

    started = sorted([await zeebe.start("order") for _ in range(20)])

    found = [job.processInstanceKey for jobs in await asyncio.gather(*workers) for job in jobs]
    assert sorted(found) == started


async def test_many_large_jobs_come_in_an_answer_that_clients_have_room_for(in_memory: Zeebe) -> None:
    await in_memory.deploy(ORDER)
    document = json.dumps({"document": "x" * 1_000_000})
    for _ in range(6):
        await in_memory.start("order", document)

    found = [await in_memory.activate("charge") for _ in range(6)]

    sizes = [len(jobs) for jobs in found]
    assert sum(sizes) == 6
    assert all(before >= after for before, after in pairwise(sizes))


async def test_a_failed_job_is_offered_again_with_fewer_retries(zeebe: Zeebe) -> None:
    await zeebe.deploy(ORDER)
    await zeebe.start("order")
    (job,) = await zeebe.activate("charge")

    await zeebe("FailJob", jobKey=job.key, retries=2, errorMessage="declined", variables='{"tries":1}')

    (again,) = await zeebe.activate("charge")
    assert (again.key, again.retries, json.loads(again.variables)) == (job.key, 2, {"tries": 1})


async def test_a_failed_job_waits_as_long_as_its_worker_wants(zeebe: Zeebe, time: Time) -> None:
    await time.pin(MIDNIGHT)
    await zeebe.deploy(ORDER)
    await zeebe.start("order")
    (job,) = await zeebe.activate("charge")

    await zeebe("FailJob", jobKey=job.key, retries=2, retryBackOff=5000)

    assert await zeebe.activate("charge") == []
    await time.pin(MIDNIGHT + 5000)
    assert len(await zeebe.activate("charge")) == 1


async def test_a_job_without_retries_is_offered_again_when_its_incident_is_resolved(
    zeebe: Zeebe, own: Caller
) -> None:
    await zeebe.deploy(ORDER)
    instance_key = await zeebe.start("order")
    (job,) = await zeebe.activate("charge")
    await zeebe("FailJob", jobKey=job.key, retries=0, errorMessage="declined")
    refused = await refusal(zeebe("CompleteJob", jobKey=job.key))
    (incident,) = (await own("SearchIncidents", filter={"process_instance_key": {"eq": instance_key}})).items

    await zeebe("UpdateJobRetries", jobKey=job.key, retries=1)
    await zeebe("ResolveIncident", incidentKey=incident.incident_key)

    (again,) = await zeebe.activate("charge")
    assert refused.code() is grpc.StatusCode.FAILED_PRECONDITION
    assert (again.key, again.retries) == (job.key, 1)


async def test_the_deadline_of_a_job_moves(zeebe: Zeebe, time: Time) -> None:
    await time.pin(MIDNIGHT)
    await zeebe.deploy(ORDER)
    await zeebe.start("order")
    (job,) = await zeebe.activate("charge")

    await zeebe("UpdateJobTimeout", jobKey=job.key, timeout=600_000)

    await time.pin(MIDNIGHT + 60_000)
    assert await zeebe.activate("charge") == []
    await time.pin(MIDNIGHT + 600_000)
    assert len(await zeebe.activate("charge")) == 1


async def test_a_thrown_error_is_caught_in_the_process(zeebe: Zeebe) -> None:
    task = (
        process("guarded").declare_error("broke", "BROKE").start().service_task("risky", type="risky").end()
    )
    await zeebe.deploy(
        task.boundary_error("caught", on="risky", error="broke").service_task("mend", type="mend").end()
    )
    await zeebe.start("guarded")
    (job,) = await zeebe.activate("risky")

    await zeebe(
        "ThrowError", jobKey=job.key, errorCode="BROKE", errorMessage="it broke", variables='{"why":1}'
    )

    (mend,) = await zeebe.activate("mend")
    assert mend.processInstanceKey == job.processInstanceKey


async def test_a_task_listener_sees_its_user_task_and_corrects_it(zeebe: Zeebe, own: Caller) -> None:
    task = process("asked").start().user_task("ask", assignment={"assignee": "ann"})
    await zeebe.deploy(task.task_listener("assigning", type="check").end())
    await zeebe.start("asked")
    (job,) = await zeebe.activate("check")

    corrections = pb.JobResultCorrections(
        assignee="bob", priority=80, candidateUsers=pb.StringList(values=["carl"]), dueDate=""
    )
    result = pb.JobResult(type="userTask", denied=False, corrections=corrections)
    await zeebe("CompleteJob", jobKey=job.key, result=result)

    assert job.kind == pb.ActivatedJob.TASK_LISTENER
    assert job.listenerEventType == pb.ActivatedJob.ASSIGNING
    assert job.userTask.assignee == "ann"
    assert job.userTask.userTaskKey > 0
    found = (await own("GetUserTask", user_task_key=job.userTask.userTaskKey)).user_task
    assert (found.assignee, found.priority, list(found.candidate_users)) == ("bob", 80, ["carl"])


async def test_the_job_of_an_ad_hoc_sub_process_chooses_its_elements(zeebe: Zeebe) -> None:
    scope = ad_hoc_sub_process("agent").service_task("search", type="search")
    await zeebe.deploy(process("choosing").start().embed_ad_hoc(scope).job_worker(type="agent").end())
    await zeebe.start("choosing")
    (job,) = await zeebe.activate("agent")

    chosen = pb.JobResultActivateElement(elementId="search", variables='{"query":"x"}')
    result = pb.JobResult(
        type="adHocSubProcess", activateElements=[chosen], isCompletionConditionFulfilled=False
    )
    await zeebe("CompleteJob", jobKey=job.key, result=result)

    (search,) = await zeebe.activate("search")
    assert job.kind == pb.ActivatedJob.AD_HOC_SUB_PROCESS
    assert json.loads(search.variables)["query"] == "x"


async def test_jobs_are_pushed_that_wait_already_and_those_that_come(zeebe: Zeebe) -> None:
    await zeebe.deploy(ORDER)
    waiting = await zeebe.start("order", '{"total":120,"name":"Ann"}')
    stream: Any = zeebe.stream(
        "StreamActivatedJobs", type="charge", worker="w", timeout=60_000, fetchVariable=["total"]
    )

    first = await stream.read()
    coming = await zeebe.start("order")
    second = await stream.read()
    await zeebe("CompleteJob", jobKey=first.key)
    await zeebe("CompleteJob", jobKey=second.key)
    stream.cancel()

    assert (first.processInstanceKey, second.processInstanceKey) == (waiting, coming)
    assert json.loads(first.variables) == {"total": 120}
    assert first.worker == "w"


async def test_a_stream_ends_at_the_deadline_of_its_client(in_memory: Zeebe) -> None:
    stream = in_memory.stream("StreamActivatedJobs", type="none", worker="w", timeout=60_000, seconds=0.5)

    assert (await refusal(stream.read())).code() is grpc.StatusCode.DEADLINE_EXCEEDED


async def test_a_stream_ends_with_the_server() -> None:
    async with embedded() as running, serving(running) as zeebe:
        stream = zeebe.stream("StreamActivatedJobs", type="none", worker="w", timeout=60_000)
        reading = asyncio.ensure_future(refusal(stream.read()))
        await until(lambda: running.engine.streams.open == 1)  # type: ignore[attr-defined]

        running.engine.drain()

        assert (await reading).code() is grpc.StatusCode.UNAVAILABLE
