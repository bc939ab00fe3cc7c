import pytest

from server.bpmn.builder import process
from server.engine.commands import CompleteJob, FailJob, ThrowJobError
from server.engine.incidents import ErrorType
from server.engine.rejection import RejectionType
from server.engine.state import JobState
from tests.server.engine.scenario import Scenario, texts


@pytest.fixture
def waiting(engine: Scenario) -> Scenario:
    engine.deploy(process("order").service_task("charge", type="charge").end()).start().activate("charge")
    return engine


def error(engine: Scenario, **details: object) -> ThrowJobError:
    key = engine.job("charge").key
    return ThrowJobError(tenant_id="default", job_key=key, error_code="declined", **details)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("details", "message"),
    [
        ({}, "Expected to throw an error event with the code 'declined', but it was not caught."),
        (
            {"error_message": "no money"},
            (
                "Expected to throw an error event with the code 'declined', but it was not caught. "
                "Error message: 'no money'"
            ),
        ),
    ],
)
def test_an_error_that_nobody_catches_raises_an_incident(
    waiting: Scenario, details: dict[str, str], message: str
) -> None:
    job = waiting.job("charge")

    waiting.execute(error(waiting, **details))

    assert (job.state, job.incident_key) == (JobState.ERROR_THROWN, waiting.incident.key)
    assert (waiting.incident.error_type, waiting.incident.job_key) == (
        ErrorType.UNHANDLED_ERROR_EVENT,
        job.key,
    )
    assert waiting.incident.message == message


def test_variables_of_an_error_stay_in_the_scope_of_the_task(waiting: Scenario) -> None:
    scope = waiting.element("charge").key

    waiting.execute(error(waiting, variables=texts({"reason": 1})))

    assert waiting.variables(scope) == {"reason": 1}
    assert waiting.variables() == {}


def test_a_job_whose_error_was_thrown_takes_nothing_else(waiting: Scenario) -> None:
    waiting.execute(error(waiting))
    key = waiting.job("charge").key

    refusals = [
        waiting.refusal(CompleteJob("default", key)),
        waiting.refusal(FailJob(tenant_id="default", job_key=key, retries=1)),
        waiting.refusal(error(waiting)),
    ]

    assert {RejectionType.INVALID_STATE} == {refusal.type for refusal in refusals}


def test_resolving_offers_the_job_again(waiting: Scenario) -> None:
    waiting.execute(error(waiting))

    waiting.resolve()

    assert waiting.offered == ["charge"]
    assert waiting.complete("charge").is_completed
