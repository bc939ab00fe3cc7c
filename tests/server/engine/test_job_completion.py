from datetime import timedelta

from server.bpmn.builder import ProcessBuilder, process
from server.engine.events import JobCompleted
from server.engine.job_commands import CompleteJob, FailJob
from server.engine.keys import Key
from server.engine.rejection import RejectionType
from tests.server.engine.scenario import MINUTE, Scenario


def charge(**attributes: object) -> ProcessBuilder:
    return process("order").service_task("charge", type="charge", **attributes).end()  # type: ignore[arg-type]


def test_a_completed_job_is_gone(engine: Scenario) -> None:
    engine.deploy(charge()).start()
    head, key = engine.instance.head, engine.job("charge").key

    engine.complete("charge")

    assert engine.last_events[0] == JobCompleted(head, key)
    assert engine.is_completed
    assert engine.state.owners == {}


def test_results_become_variables_of_the_instance(engine: Scenario) -> None:
    engine.deploy(charge()).start(total=5, paid=False)

    engine.complete("charge", paid=True, receipt={"id": 7})

    assert engine.variables() == {"total": 5, "paid": True, "receipt": {"id": 7}}


def test_a_result_changes_the_innermost_variable_of_its_name(engine: Scenario) -> None:
    engine.deploy(charge(inputs={"amount": "=total"})).start(total=5, amount=1)
    scope = engine.element("charge").key

    engine.complete("charge", amount=9)

    assert engine.variables(scope) == {"amount": 9}
    assert engine.variables() == {"total": 5, "amount": 1}


def test_with_an_output_mapping_results_stay_local_and_only_targets_leave(engine: Scenario) -> None:
    engine.deploy(charge(outputs={"receipt": "=answer.id"})).start(answer="outer")
    scope = engine.element("charge").key

    engine.complete("charge", answer={"id": 7}, noise=1)

    assert engine.variables(scope) == {"answer": {"id": 7}, "noise": 1}
    assert engine.variables() == {"answer": "outer", "receipt": 7}


def test_a_job_that_was_never_activated_may_be_completed(engine: Scenario) -> None:
    engine.deploy(charge()).start()

    engine.execute(CompleteJob("default", engine.job("charge").key))

    assert engine.is_completed


def test_completion_after_the_time_out_is_accepted(engine: Scenario) -> None:
    engine.deploy(charge()).start()
    (job,) = engine.activate("charge", timeout=MINUTE)
    engine.advance(MINUTE)

    engine.execute(CompleteJob("default", job.key))

    assert engine.is_completed
    assert engine.state.offers == {}


def test_completion_while_another_worker_has_the_job_is_accepted(engine: Scenario) -> None:
    engine.deploy(charge()).start()
    (job,) = engine.activate("charge", timeout=timedelta(seconds=1))
    engine.advance(MINUTE).activate("charge")

    engine.execute(CompleteJob("default", job.key))

    assert engine.is_completed


def test_a_job_is_completed_once(engine: Scenario) -> None:
    engine.deploy(charge()).start()
    key = engine.job("charge").key
    engine.complete("charge")

    refusal = engine.refusal(CompleteJob("default", key))

    assert (refusal.type, refusal.reason) == (RejectionType.NOT_FOUND, f"no job with key {key}")


def test_an_unknown_job_is_not_found(engine: Scenario) -> None:
    assert engine.refusal(CompleteJob("default", Key(42))).type is RejectionType.NOT_FOUND


def test_a_job_without_retries_cannot_be_completed(engine: Scenario) -> None:
    engine.deploy(charge()).start().fail("charge")
    key = engine.job("charge").key

    refusal = engine.refusal(CompleteJob("default", key))

    assert refusal.type is RejectionType.INVALID_STATE
    assert refusal.reason == f"job {key} is FAILED, not ACTIVATABLE or ACTIVATED"


def test_a_job_that_backs_off_cannot_be_completed(engine: Scenario) -> None:
    engine.deploy(charge()).start()
    (job,) = engine.activate("charge")
    engine.execute(
        FailJob(tenant_id="default", job_key=job.key, retries=1, retry_back_off=timedelta(minutes=1))
    )

    refusal = engine.refusal(CompleteJob("default", job.key))

    assert refusal.type is RejectionType.INVALID_STATE
    assert engine.advance(timedelta(minutes=1)).offered == ["charge"]
