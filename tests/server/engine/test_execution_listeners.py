from datetime import timedelta

import pytest

from server.bpmn.builder import ProcessBuilder, process, sub_process
from server.engine import events, job_commands, process_instance_commands
from server.engine.incidents import ErrorType
from server.engine.job_kinds import JobKind, ListenerEventType
from server.engine.lifecycle import ElementState
from server.engine.rejection import RejectionType
from server.store import entities
from tests.server.engine.scenario import Scenario

HOUR = timedelta(hours=1)


def listened(*listeners: tuple[str, str], **task: dict[str, str]) -> ProcessBuilder:
    """A task with listeners, each an event type and a job type."""
    builder = process("order").service_task(
        "charge", type="charge", inputs=task.get("inputs", {}), outputs=task.get("outputs", {})
    )
    for event_type, job_type in listeners:
        builder.execution_listener(event_type, type=job_type)
    return builder.end("done")


def test_a_start_listener_pauses_the_activation(engine: Scenario) -> None:
    engine.deploy(listened(("start", "prepare"))).start()

    assert engine.element("charge").state is ElementState.ACTIVATING
    (job,) = engine.activate("prepare")
    assert (job.kind, job.listener_event_type) == (JobKind.EXECUTION_LISTENER, ListenerEventType.START)

    engine.execute(job_commands.CompleteJob("default", job.key))

    assert engine.element("charge").state is ElementState.ACTIVATED
    assert engine.offered == ["charge"]
    assert engine.job("charge").kind is JobKind.BPMN_ELEMENT


def test_an_end_listener_pauses_the_completion(engine: Scenario) -> None:
    engine.deploy(listened(("end", "report"))).start().complete("charge")

    assert engine.element("charge").state is ElementState.COMPLETING
    assert engine.path == ["start"]

    engine.complete("report")

    assert engine.path == ["start", "charge", "done"]
    assert engine.is_completed


def test_listeners_are_called_one_by_one_in_their_order(engine: Scenario) -> None:
    engine.deploy(
        listened(("start", "first"), ("end", "third"), ("start", "second"), ("end", "fourth"))
    ).start()

    for job_type in ("first", "second", "charge", "third", "fourth"):
        assert [job.type for job in engine.instance.jobs.values()] == [job_type]
        engine.complete(job_type)

    assert engine.is_completed


def test_what_a_start_listener_brings_is_local(engine: Scenario) -> None:
    engine.deploy(listened(("start", "prepare"), inputs={"price": "=1"})).start(price=0)

    engine.complete("prepare", price=2, card="visa")

    (job,) = engine.activate("charge")
    assert (job.variables["price"], job.variables["card"]) == ("2", '"visa"')
    assert engine.variables() == {"price": 0}


def test_what_an_end_listener_brings_passes_by_the_variables_of_its_element(engine: Scenario) -> None:
    task = process("order").service_task("charge", type="charge", inputs={"total": "=1"})
    engine.deploy(task.execution_listener("end", type="report").end()).start(total=5).complete("charge")

    engine.complete("report", total=7)

    assert engine.variables() == {"total": 7}


def test_what_an_end_listener_brings_is_for_the_scope_around(engine: Scenario) -> None:
    engine.deploy(listened(("end", "report"))).start().complete("charge").complete("report", filed=True)

    assert engine.variables() == {"filed": True}


def test_what_an_end_listener_brings_goes_no_further_than_the_scope_around(engine: Scenario) -> None:
    task = sub_process("pack").service_task("wrap", type="wrap").execution_listener("end", type="report")
    order = process("order").embed(task.service_task("seal", type="seal").end()).end()
    engine.deploy(order).start(weight=5).complete("wrap")

    engine.complete("report", weight=7)

    (job,) = engine.activate("seal")
    assert job.variables == {"weight": "7"}
    assert engine.variables() == {"weight": 5}


def test_mappings_are_not_made_again_after_a_listener(engine: Scenario) -> None:
    engine.deploy(
        listened(
            ("start", "prepare"), ("end", "report"), ("end", "=kind"),
            inputs={"n": "=n + 1"}, outputs={"list": "=append(list, n)"},
        )
    ).start(n=1, list=[])  # fmt: skip

    engine.complete("prepare").complete("charge").complete("report")
    assert engine.incident.error_type is ErrorType.EXTRACT_VALUE_ERROR
    engine.resolve()

    assert engine.variables()["list"] == [2]


def test_a_listener_without_retries_raises_an_incident_of_its_own(engine: Scenario) -> None:
    engine.deploy(listened(("start", "prepare"))).start().fail("prepare", message="no network")

    assert engine.incident.error_type is ErrorType.EXECUTION_LISTENER_NO_RETRIES
    assert engine.rows.get(entities.Incident, engine.incident.key).error_type == "UNKNOWN"
    refusal = engine.refusal(process_instance_commands.ResolveIncident("default", engine.incident.key))
    assert refusal.type is RejectionType.INVALID_STATE

    job = engine.job("prepare")
    engine.execute(job_commands.UpdateJob(tenant_id="default", job_key=job.key, retries=1))
    engine.resolve().complete("prepare")

    assert engine.offered == ["charge"]


def test_a_listener_throws_no_errors(engine: Scenario) -> None:
    engine.deploy(listened(("start", "prepare"))).start()
    (job,) = engine.activate("prepare")

    refusal = engine.refusal(
        job_commands.ThrowJobError(tenant_id="default", job_key=job.key, error_code="declined")
    )

    assert refusal.type is RejectionType.INVALID_STATE


def test_a_row_tells_the_phase_of_the_listener(engine: Scenario) -> None:
    engine.deploy(listened(("end", "report"))).start().complete("charge")

    row = engine.rows.get(entities.Job, engine.job("report").key)

    assert (row.kind, row.listener_event_type, row.retries) == ("EXECUTION_LISTENER", "END", 3)


@pytest.mark.parametrize("phase", ["start", "end"])
def test_cancelling_takes_the_job_of_the_listener(engine: Scenario, phase: str) -> None:
    engine.deploy(listened((phase, "listen"))).start()
    if phase == "end":
        engine.complete("charge")

    engine.cancel()

    assert engine.is_terminated
    assert len(engine.happened(events.JobCanceled)) == 1


def test_a_boundary_event_waits_until_the_start_listeners_are_done(engine: Scenario) -> None:
    task = process("order").service_task("charge", type="charge").execution_listener("start", type="prepare")
    task.end("done").boundary_timer("late", on="charge", duration="PT1H").end("expired")
    engine.deploy(task).start()

    assert engine.instance.subscriptions == {}
    engine.complete("prepare")
    assert len(engine.instance.subscriptions) == 1


def test_a_boundary_event_interrupts_an_end_listener(engine: Scenario) -> None:
    task = process("order").service_task("charge", type="charge").execution_listener("end", type="report")
    task.end("done").boundary_timer("late", on="charge", duration="PT1H").end("expired")
    engine.deploy(task).start().complete("charge").advance(HOUR)

    assert engine.path == ["start", "late", "expired"]
    assert engine.is_completed


def test_a_process_and_a_sub_process_have_listeners(engine: Scenario) -> None:
    inner = sub_process("pack").execution_listener("start", type="open").task("wrap").end()
    outer = (
        process("order").execution_listener("start", type="begin").execution_listener("end", type="finish")
    )
    engine.deploy(outer.embed(inner).end("done")).start()

    assert engine.path == []
    engine.complete("begin").complete("open")
    assert engine.path[-2:] == ["pack", "done"]
    assert not engine.is_completed
    engine.complete("finish")
    assert engine.is_completed
