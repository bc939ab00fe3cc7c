from datetime import timedelta

import pytest

from server.bpmn.builder import ProcessBuilder, process
from server.engine.events import IncidentRaised, JobBackOffEnded, JobFailed
from server.engine.incidents import ErrorType
from server.engine.job_commands import FailJob, UpdateJob
from server.engine.process_instance import JobState
from server.engine.rejection import RejectionType
from tests.server.engine.scenario import MINUTE, Scenario, texts


def charge(**attributes: object) -> ProcessBuilder:
    return process("order").service_task("charge", type="charge", **attributes).end()  # type: ignore[arg-type]


@pytest.fixture
def waiting(engine: Scenario) -> Scenario:
    """One job, activated."""
    engine.deploy(charge()).start().activate("charge")
    return engine


def failure(engine: Scenario, **details: object) -> FailJob:
    return FailJob(tenant_id="default", job_key=engine.job("charge").key, **details)  # type: ignore[arg-type]


def test_failing_a_job_without_retries_raises_an_incident(waiting: Scenario) -> None:
    job, head = waiting.job("charge"), waiting.instance.head

    waiting.execute(failure(waiting, error_message="card declined"))

    assert [
        JobFailed(head, job.key, 0, "card declined", None),
        IncidentRaised(
            head,
            waiting.incident.key,
            job.element_instance_key,
            "charge",
            job.key,
            ErrorType.JOB_NO_RETRIES,
            "card declined",
        ),
    ] == waiting.last_events
    assert (job.state, job.retries) == (JobState.FAILED, 0)
    assert waiting.activate("charge") == ()


def test_an_incident_without_a_message_says_what_happened(waiting: Scenario) -> None:
    waiting.execute(failure(waiting))

    assert waiting.incident.message == "No more retries left."


def test_negative_retries_are_none(waiting: Scenario) -> None:
    waiting.execute(failure(waiting, retries=-3))

    assert waiting.job("charge").retries == 0
    assert waiting.incident.error_type is ErrorType.JOB_NO_RETRIES


def test_with_retries_left_the_job_is_offered_at_once(waiting: Scenario) -> None:
    waiting.execute(failure(waiting, retries=2, error_message="busy"))

    (job,) = waiting.activate("charge")
    assert job.retries == 2
    assert waiting.instance.incidents == {}


def test_a_back_off_keeps_the_job_away_until_it_ends(waiting: Scenario) -> None:
    waiting.execute(failure(waiting, retries=2, retry_back_off=MINUTE))
    job = waiting.job("charge")

    early = waiting.advance(MINUTE - timedelta(milliseconds=1)).activate("charge")
    waiting.advance(timedelta(milliseconds=1))

    assert early == ()
    assert waiting.last_events == [JobBackOffEnded(waiting.instance.head, job.key)]
    assert [job.key] == [again.key for again in waiting.activate("charge")]


def test_without_retries_there_is_no_back_off(waiting: Scenario) -> None:
    waiting.execute(failure(waiting, retry_back_off=MINUTE))

    waiting.advance(MINUTE)

    assert waiting.job("charge").state is JobState.FAILED


def test_variables_of_a_failure_stay_in_the_scope_of_the_task(waiting: Scenario) -> None:
    scope = waiting.element("charge").key

    waiting.execute(failure(waiting, retries=1, variables=texts({"reason": "busy"})))

    assert waiting.variables(scope) == {"reason": "busy"}
    assert waiting.variables() == {}


@pytest.mark.parametrize("retries", [0, 1])
def test_a_failed_job_cannot_fail_again_before_it_is_activated(waiting: Scenario, retries: int) -> None:
    waiting.execute(failure(waiting, retries=retries))

    assert waiting.refusal(failure(waiting)).type is RejectionType.INVALID_STATE


def test_the_deadline_of_a_failed_job_means_nothing_any_more(waiting: Scenario) -> None:
    waiting.execute(failure(waiting, retries=1, retry_back_off=10 * MINUTE))

    waiting.advance(5 * MINUTE)

    assert waiting.job("charge").state is JobState.BACKING_OFF


def test_the_incident_needs_retries_before_it_is_resolved(waiting: Scenario) -> None:
    waiting.execute(failure(waiting))
    job = waiting.job("charge")

    waiting.execute(UpdateJob(tenant_id="default", job_key=job.key, retries=1))
    waiting.resolve()

    assert (job.state, job.incident_key) == (JobState.ACTIVATABLE, None)
    assert [job.key] == [again.key for again in waiting.activate("charge")]
    assert waiting.instance.incidents == {}
