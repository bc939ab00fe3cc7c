"""Statistics of jobs and of usage, over every channel and in every mode."""

from typing import Any

import pytest
from google.protobuf.timestamp_pb2 import Timestamp

from gnomon.engine.v1 import system_service_pb2 as system_pb
from server.bpmn.builder import process
from server.platform.errors import InvalidArgument, PermissionDenied
from tests.server.engine.graphs import answering, graph_xml
from tests.server.rpc.caller import Caller
from tests.server.rpc.engines import Time

HOUR = 3_600_000
MORNING = 1_767_225_600_000  # 2026-01-01T00:00:00Z

WORK = process("work").service_task("charge", type="charge").service_task("ship", type="ship").end()


def at(milliseconds: int) -> Timestamp:
    moment = Timestamp()
    moment.FromMilliseconds(milliseconds)
    return moment


def between(begin: int = MORNING, end: int = MORNING + 24 * HOUR) -> dict[str, Any]:
    return {"from": at(begin), "to": at(end)}


def counts(item: Any) -> tuple[int, int, int]:
    return item.created.count, item.completed.count, item.failed.count


async def activated(caller: Caller, worker: str = "") -> int:
    """Key of the one job that is on offer, for longer than a test takes."""
    (job,) = (
        await caller(
            "ActivateJobs",
            type="charge",
            worker=worker,
            timeout=24 * HOUR,
            max_jobs_to_activate=2,
            request_timeout=-1,
        )
    ).jobs
    return int(job.job_key)


@pytest.fixture
async def worked(caller: Caller, time: Time) -> None:
    """Three jobs of one type in three hours, one completed, one failed and one that nobody had; one of another type."""
    await time.pin(MORNING)
    await caller.deploy(WORK)
    await caller.start("work")
    first = await activated(caller, "w-0")
    await time.pin(MORNING + HOUR)
    await caller("CompleteJob", job_key=first)
    await caller.start("work")
    second = await activated(caller, "w-0")
    await time.pin(MORNING + 2 * HOUR)
    await caller("FailJob", job_key=second, error_message="declined")
    await caller.start("work")


@pytest.mark.usefixtures("worked")
async def test_jobs_are_counted_by_what_happened_to_them(caller: Caller) -> None:
    everything = await caller("GetGlobalJobStatistics", **between())
    of_type = await caller("GetGlobalJobStatistics", **between(), job_type="ship")
    early = await caller("GetGlobalJobStatistics", **between(end=MORNING + HOUR))

    assert (counts(everything), everything.is_incomplete) == ((4, 1, 1), False)
    assert everything.created.last_updated_at == at(MORNING + 2 * HOUR)
    assert everything.completed.last_updated_at == at(MORNING + HOUR)
    assert counts(of_type) == (1, 0, 0)
    assert counts(early) == (1, 0, 0)
    assert not early.completed.HasField("last_updated_at")


@pytest.mark.usefixtures("worked")
async def test_jobs_are_counted_by_type(caller: Caller) -> None:
    async def types(**wanted: Any) -> dict[str, tuple[tuple[int, int, int], int]]:
        found = await caller("GetJobTypeStatistics", filter={**between(), **wanted})
        assert found.page.total_items == len(found.items)
        return {item.job_type: (counts(item), item.workers) for item in found.items}

    assert await types() == {"charge": ((3, 1, 1), 1), "ship": ((1, 0, 0), 0)}
    assert await types(job_type={"like": "s*"}) == {"ship": ((1, 0, 0), 0)}
    assert await types(job_type={"eq": "none"}) == {}
    first = await caller("GetJobTypeStatistics", filter=between(), page={"limit": 1})
    page = {"limit": 1, "after": first.page.end_cursor}
    second = await caller("GetJobTypeStatistics", filter=between(), page=page)
    assert [item.job_type for item in (*first.items, *second.items)] == ["charge", "ship"]


@pytest.mark.usefixtures("worked")
async def test_jobs_are_counted_by_worker(caller: Caller) -> None:
    await caller("CompleteJob", job_key=await activated(caller, "w-1"))

    found = await caller("GetJobWorkerStatistics", filter={**between(), "job_type": "charge"})

    assert [(item.worker, counts(item)) for item in found.items] == [("w-0", (2, 1, 1)), ("w-1", (1, 1, 0))]


@pytest.mark.usefixtures("worked")
async def test_jobs_are_counted_by_interval(caller: Caller) -> None:
    async def series(**wanted: Any) -> list[tuple[int, tuple[int, int, int]]]:
        asked = {**between(), "job_type": "charge", **wanted}
        found = await caller("GetJobTimeSeriesStatistics", filter=asked)
        return [((item.time.ToMilliseconds() - MORNING) // HOUR, counts(item)) for item in found.items]

    hours = [(0, (1, 0, 0)), (1, (1, 1, 0)), (2, (1, 0, 1))]
    assert await series() == hours
    assert await series(resolution="PT1H") == hours
    assert await series(resolution="PT2H") == [(0, (2, 1, 0)), (2, (1, 0, 1))]
    assert await series(job_type="none") == []


@pytest.mark.usefixtures("worked")
async def test_workers_are_counted_by_error(caller: Caller) -> None:
    asked = {**between(), "job_type": "charge"}

    found = await caller("GetJobErrorStatistics", filter=asked)

    assert [(item.error_code, item.error_message) for item in found.items] == [("", "declined")]
    other = {"error_message": {"like": "time*"}}
    assert not (await caller("GetJobErrorStatistics", filter={**asked, **other})).items
    thrown = {"error_code": {"exists": True}}
    assert not (await caller("GetJobErrorStatistics", filter={**asked, **thrown})).items


@pytest.mark.parametrize(
    ("end", "resolution", "reason"),
    [
        (MORNING, "PT1H", "expected a time after from"),
        (MORNING - HOUR, "PT1H", "expected a time after from"),
        (MORNING + 32 * 24 * HOUR, "PT1H", "at most 31 days"),
        (MORNING + HOUR, "an hour", "filter.resolution"),
        (MORNING + HOUR, "PT0.5S", "whole seconds"),
        (MORNING + HOUR, "PT0S", "whole seconds"),
        (MORNING + HOUR, "P1M", "whole seconds"),
        (MORNING + 24 * HOUR, "PT1S", "fewer than 10000 intervals"),
    ],
)
async def test_a_stretch_and_its_intervals_are_bounded(
    caller: Caller, end: int, resolution: str, reason: str
) -> None:
    asked = {**between(end=end), "job_type": "charge", "resolution": resolution}

    with pytest.raises(InvalidArgument, match=reason):
        await caller("GetJobTimeSeriesStatistics", filter=asked)


@pytest.mark.usefixtures("worked")
async def test_usage_is_what_a_tenant_did(caller: Caller) -> None:
    stretch = {"start_time": at(MORNING), "end_time": at(MORNING + HOUR)}

    used = await caller("GetUsageMetrics", **stretch, with_tenants=True)
    later = await caller("GetUsageMetrics", start_time=at(MORNING), end_time=at(MORNING + 9 * HOUR))
    unused = await caller.signed_in_as("stranger")("GetUsageMetrics", **stretch, with_tenants=True)

    tenants = {"default": system_pb.TenantUsageMetrics(process_instances=1)}
    expected = system_pb.GetUsageMetricsResponse(process_instances=1, active_tenants=1, tenants=tenants)
    assert expected == used
    assert (later.process_instances, dict(later.tenants)) == (3, {})
    assert system_pb.GetUsageMetricsResponse() == unused
    with pytest.raises(PermissionDenied):
        await caller("GetUsageMetrics", **stretch, tenant_id="other")
    with pytest.raises(InvalidArgument, match="expected a time after startTime"):
        await caller("GetUsageMetrics", start_time=at(MORNING), end_time=at(MORNING))


async def test_usage_counts_people_once_and_decisions_and_no_called_process_instances(
    caller: Caller, time: Time
) -> None:
    await time.pin(MORNING)
    assigned = {"assignee": "ada"}
    await caller.deploy(
        process("asking").user_task("ask", assignment=assigned).user_task("again", assignment=assigned).end()
    )
    await caller.deploy(process("calling").call_activity("call", process="asking").end())
    await caller.start("calling")
    tasks = await caller("SearchUserTasks")
    await caller("CompleteUserTask", user_task_key=tasks.items[0].user_task_key)
    price = {"name": "price.dmn", "content": graph_xml(answering("price", "1"))}
    await caller("CreateDeployment", resources=[price])
    await caller("EvaluateDecision", decision_definition_id="price")

    used = await caller("GetUsageMetrics", start_time=at(MORNING), end_time=at(MORNING + HOUR))

    assert (used.process_instances, used.assignees, used.decision_instances) == (1, 1, 1)
