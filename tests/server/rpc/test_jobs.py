import pytest

from gnomon.engine.v1 import incident_pb2
from gnomon.engine.v1 import job_pb2 as pb
from server.bpmn.builder import process
from server.platform.errors import InvalidArgument, InvalidState, NotFound
from tests.server.rpc.caller import Caller
from tests.server.rpc.engines import Time

CHARGE = process("order").start().service_task("charge", type="charge", headers={"currency": "EUR"}).end()
MIDNIGHT = 1_767_225_600_000  # 2026-01-01T00:00:00Z


@pytest.fixture
async def job_key(caller: Caller, time: Time) -> int:
    """An activated job of a running instance, at midnight."""
    await time.pin(MIDNIGHT)
    await caller.deploy(CHARGE)
    await caller.start("order", b'{"total": 120}')
    (job,) = await caller.activate("charge")
    return int(job.job_key)


async def _row(caller: Caller, job_key: int) -> pb.Job:
    (row,) = (await caller("SearchJobs", filter={"job_key": {"eq": job_key}})).items
    assert isinstance(row, pb.Job)
    return row


async def test_an_activated_job_says_all_that_its_worker_needs(caller: Caller, time: Time) -> None:
    await time.pin(MIDNIGHT)
    await caller.deploy(CHARGE)
    key = await caller.start("order", b'{"total": 120}')

    (job,) = await caller.activate("charge")

    assert (job.process_instance_key, job.element_id, job.retries) == (key, "charge", 3)
    assert (job.variables, dict(job.custom_headers)) == (b'{"total":120}', {"currency": "EUR"})
    assert job.deadline == MIDNIGHT + 60_000


async def test_a_worker_is_told_which_jobs_are_those_of_listeners(caller: Caller) -> None:
    listened = process("listened").service_task("charge", type="charge")
    await caller.deploy(listened.execution_listener("end", type="report").end())
    await caller.start("listened")
    (job,) = await caller.activate("charge")
    await caller("CompleteJob", job_key=job.job_key)

    (listener,) = await caller.activate("report")

    kinds = (pb.JOB_KIND_BPMN_ELEMENT, pb.JOB_KIND_EXECUTION_LISTENER)
    assert (job.kind, listener.kind) == kinds
    assert listener.listener_event_type == pb.JOB_LISTENER_EVENT_TYPE_END
    row = await _row(caller, listener.job_key)
    assert (row.kind, row.listener_event_type) == (listener.kind, listener.listener_event_type)


@pytest.mark.parametrize(
    ("result", "expected"),
    [
        pytest.param({"denied": False}, "'userTask' is not one of job", id="of a task listener"),
        pytest.param({"type": "userTask"}, "'userTask' is not one of job", id="nothing but its type"),
        pytest.param({"type": "adHocSubProcess"}, "'adHocSubProcess' is not one of job", id="ad-hoc"),
        pytest.param(
            {"type": "adHocSubProcess", "activate_elements": [{"element_id": ""}]}, "elementId", id="no id"
        ),
        pytest.param(
            {"type": "adHocSubProcess", "activate_elements": [{"element_id": "a", "variables": b"[]"}]},
            "^variables",
            id="no variables",
        ),
        pytest.param({"type": "x"}, r"^result\.type", id="unknown type"),
        pytest.param({"type": "adHocSubProcess", "denied": True}, "expected that type", id="mixed"),
        pytest.param({"is_cancel_remaining_instances": True}, "expected that type", id="untyped"),
        pytest.param(
            {"denied": True, "corrections": {}}, "expected no corrections", id="denied and corrected"
        ),
        pytest.param({"corrections": {"priority": 101}}, "priority", id="priority"),
        pytest.param({"corrections": {"due_date": "soon"}}, r"corrections\.due_date", id="date"),
    ],
)
async def test_a_result_that_a_job_cannot_have_is_refused(
    caller: Caller, job_key: int, result: dict[str, object], expected: str
) -> None:
    with pytest.raises(InvalidArgument, match=expected):
        await caller("CompleteJob", job_key=job_key, result=result)

    assert (await _row(caller, job_key)).state == pb.JOB_STATE_CREATED


async def test_a_result_without_members_is_none(caller: Caller, job_key: int) -> None:
    await caller("CompleteJob", job_key=job_key, result={})

    assert (await _row(caller, job_key)).state == pb.JOB_STATE_COMPLETED


async def test_a_job_whose_deadline_passes_is_offered_again(caller: Caller, time: Time, job_key: int) -> None:
    assert await caller.activate("charge") == []

    await time.pin(MIDNIGHT + 60_000)

    assert (await _row(caller, job_key)).state == pb.JOB_STATE_TIMED_OUT
    assert [job.job_key for job in await caller.activate("charge")] == [job_key]


async def test_a_failed_job_is_offered_again_after_its_back_off(
    caller: Caller, time: Time, job_key: int
) -> None:
    await caller("FailJob", job_key=job_key, retries=2, retry_back_off=5_000, error_message="declined")

    await time.pin(MIDNIGHT + 4_999)
    early = await caller.activate("charge")
    await time.pin(MIDNIGHT + 5_000)
    (job,) = await caller.activate("charge")

    assert early == []
    assert (job.job_key, job.retries) == (job_key, 2)


async def test_a_deadline_can_be_moved(caller: Caller, time: Time, job_key: int) -> None:
    await caller("UpdateJob", job_key=job_key, changeset={"timeout": 120_000})

    await time.pin(MIDNIGHT + 60_000)
    at_the_old_one = await caller.activate("charge")
    await time.pin(MIDNIGHT + 120_000)

    assert at_the_old_one == []
    assert len(await caller.activate("charge")) == 1


async def test_a_job_without_retries_stays_an_incident_until_it_has_some(
    caller: Caller, job_key: int
) -> None:
    await caller("FailJob", job_key=job_key, error_message="declined", variables=b'{"code": 51}')
    (incident,) = (await caller("SearchIncidents")).items
    with pytest.raises(InvalidState):
        await caller("ResolveIncident", incident_key=incident.incident_key)

    await caller("UpdateJob", job_key=job_key, changeset={"retries": 1})
    await caller("ResolveIncident", incident_key=incident.incident_key)

    (job,) = await caller.activate("charge")
    resolved = (await caller("GetIncident", incident_key=incident.incident_key)).incident
    assert (incident.error_message, incident.job_key) == ("declined", job_key)
    assert incident.error_type == incident_pb2.INCIDENT_ERROR_TYPE_JOB_NO_RETRIES
    assert resolved.state == incident_pb2.INCIDENT_STATE_RESOLVED
    assert job.job_key == job_key


async def test_an_error_that_nothing_catches_is_an_incident(caller: Caller, job_key: int) -> None:
    await caller("ThrowJobError", job_key=job_key, error_code="declined", error_message="by the bank")

    (incident,) = (await caller("SearchIncidents")).items
    assert incident.error_type == incident_pb2.INCIDENT_ERROR_TYPE_UNHANDLED_ERROR_EVENT
    assert "declined" in incident.error_message
    with pytest.raises(InvalidState):
        await caller("CompleteJob", job_key=job_key)


async def test_a_job_is_completed_once(caller: Caller, job_key: int) -> None:
    await caller("CompleteJob", job_key=job_key)

    with pytest.raises(NotFound):
        await caller("CompleteJob", job_key=job_key)


@pytest.mark.parametrize(
    ("rpc", "fields"),
    [
        pytest.param("FailJob", {"retry_back_off": -1}, id="negative back-off"),
        pytest.param("UpdateJob", {"changeset": {}}, id="no change"),
        pytest.param("UpdateJob", {"changeset": {"retries": 0}}, id="no retries"),
        pytest.param("ThrowJobError", {}, id="no error code"),
        pytest.param("CompleteJob", {"variables": b"1"}, id="variables that are no object"),
    ],
)
async def test_a_malformed_report_changes_nothing(
    caller: Caller, job_key: int, rpc: str, fields: dict[str, object]
) -> None:
    before = await _row(caller, job_key)

    with pytest.raises(InvalidArgument):
        await caller(rpc, job_key=job_key, **fields)

    assert await _row(caller, job_key) == before
