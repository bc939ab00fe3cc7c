"""Ad-hoc sub-processes over RPC: activation by callers, and by job workers."""

import json

import pytest

from gnomon.engine.v1 import element_instance_pb2 as entity_pb
from gnomon.engine.v1 import incident_pb2, job_pb2
from server.bpmn.builder import ad_hoc_sub_process, process
from server.platform.errors import InvalidArgument, InvalidState, NotFound
from tests.server.rpc.caller import Caller

INSIDE = ad_hoc_sub_process("care").service_task("feed", type="feed")
CARING = process("cat").start().embed_ad_hoc(INSIDE, active="=active", output="=food", outputs_to="fed").end()
WORKED = (
    process("cat")
    .start()
    .embed_ad_hoc(INSIDE, output="=food", outputs_to="fed")
    .job_worker(type="care")
    .end()
)


async def _ad_hoc_key(caller: Caller) -> int:
    (row,) = (await caller("SearchElementInstances", filter={"element_id": {"eq": "care"}})).items
    return int(row.element_instance_key)


async def test_callers_activate_elements_with_variables(caller: Caller) -> None:
    await caller.deploy(CARING)
    await caller.start("cat", b'{"active":["feed"]}')
    key = await _ad_hoc_key(caller)

    await caller(
        "ActivateAdHocSubProcessActivities",
        ad_hoc_sub_process_instance_key=key,
        elements=[{"element_id": "feed", "variables": b'{"food":"fish"}'}],
        cancel_remaining_instances=True,
    )

    (job,) = await caller.activate("feed")
    assert json.loads(job.variables)["food"] == "fish"
    inner = (
        await caller("SearchElementInstances", filter={"element_id": {"eq": "care#innerInstance"}})
    ).items
    assert {row.type for row in inner} == {entity_pb.ELEMENT_INSTANCE_TYPE_AD_HOC_SUB_PROCESS_INNER_INSTANCE}
    states = (entity_pb.ELEMENT_INSTANCE_STATE_TERMINATED, entity_pb.ELEMENT_INSTANCE_STATE_ACTIVE)
    assert tuple(row.state for row in sorted(inner, key=lambda row: row.element_instance_key)) == states


@pytest.mark.parametrize(
    ("elements", "refusal"),
    [
        pytest.param([], InvalidArgument, id="none"),
        pytest.param([{"element_id": ""}], InvalidArgument, id="no id"),
        pytest.param([{"element_id": "feed"}] * 2, InvalidArgument, id="twice"),
        pytest.param([{"element_id": "fly"}], NotFound, id="unknown"),
        pytest.param([{"element_id": "feed", "variables": b"1"}], InvalidArgument, id="no variables"),
    ],
)
async def test_a_wrong_activation_is_refused(
    caller: Caller, elements: list[dict[str, object]], refusal: type[Exception]
) -> None:
    await caller.deploy(CARING)
    await caller.start("cat")
    key = await _ad_hoc_key(caller)

    with pytest.raises(refusal):
        await caller(
            "ActivateAdHocSubProcessActivities", ad_hoc_sub_process_instance_key=key, elements=elements
        )

    assert await caller.activate("feed") == []


async def test_all_elements_of_a_request_share_a_number_of_variables(caller: Caller) -> None:
    await caller.deploy(WORKED)
    await caller.start("cat")
    (job,) = await caller.activate("care")
    many = json.dumps({f"v{number}": 1 for number in range(5_001)}).encode()
    result = {"type": "adHocSubProcess", "activate_elements": [{"element_id": "feed", "variables": many}] * 2}

    with pytest.raises(InvalidArgument, match="at most 10000 variables, found 10002"):
        await caller("CompleteJob", job_key=job.job_key, result=result)


async def test_one_that_is_not_active_is_refused(caller: Caller) -> None:
    await caller.deploy(CARING)
    await caller.start("cat", b'{"active":"none"}')
    key = await _ad_hoc_key(caller)
    elements = [{"element_id": "feed"}]

    with pytest.raises(InvalidState):
        await caller(
            "ActivateAdHocSubProcessActivities", ad_hoc_sub_process_instance_key=key, elements=elements
        )
    with pytest.raises(NotFound):
        await caller(
            "ActivateAdHocSubProcessActivities", ad_hoc_sub_process_instance_key=key + 100, elements=elements
        )


async def test_a_worker_activates_elements_and_completes(caller: Caller) -> None:
    await caller.deploy(WORKED)
    key = await caller.start("cat")
    (job,) = await caller.activate("care")
    feeding = {"element_id": "feed", "variables": b'{"food":"fish"}'}
    result: dict[str, object] = {"type": "adHocSubProcess", "activate_elements": [feeding]}
    await caller("CompleteJob", job_key=job.job_key, result=result)
    (fed,) = await caller.activate("feed")
    await caller("CompleteJob", job_key=fed.job_key)

    (again,) = await caller.activate("care")
    done = {"type": "adHocSubProcess", "is_completion_condition_fulfilled": True}
    await caller("CompleteJob", job_key=again.job_key, result=done)

    assert job.kind == again.kind == job_pb2.JOB_KIND_AD_HOC_SUB_PROCESS
    assert json.loads(again.variables)["fed"] == ["fish"]
    assert (
        (await caller("SearchProcessInstances", filter={"process_instance_key": {"eq": key}}))
        .items[0]
        .end_date
    )


async def test_a_worker_without_retries_leaves_an_incident_of_unknown_type(caller: Caller) -> None:
    await caller.deploy(WORKED)
    await caller.start("cat")
    (job,) = await caller.activate("care")

    await caller("FailJob", job_key=job.job_key, error_message="no model")

    (incident,) = (await caller("SearchIncidents", filter={"job_key": {"eq": job.job_key}})).items
    assert incident.error_type == incident_pb2.INCIDENT_ERROR_TYPE_UNKNOWN
    assert (incident.element_id, incident.error_message) == ("care", "no model")
