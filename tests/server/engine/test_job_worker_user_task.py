"""User tasks without `zeebe:userTask`: a job worker lets a person do them."""

import pytest

from server.bpmn.builder import ProcessBuilder, definitions, process
from server.engine import job_commands
from server.engine.incidents import ErrorType
from server.engine.lifecycle import ElementState
from server.engine.user_tasks import LONGEST_NAME, MOST_CANDIDATES
from tests.server.engine.scenario import MINUTE, Scenario

JOB_TYPE = "io.camunda.zeebe:userTask"
PREFIX = "io.camunda.zeebe:"


def review(**extensions: object) -> ProcessBuilder:
    return process("order").user_task("review", is_native=False, **extensions)  # type: ignore[arg-type]  # as the builder


def test_a_user_task_is_a_job_for_a_worker(engine: Scenario) -> None:
    engine.deploy(review(headers={"screen": "wide"}).end())

    engine.start()

    job = engine.job(JOB_TYPE)
    assert (job.element_id, job.retries, job.headers) == ("review", 1, {"screen": "wide"})
    assert engine.element("review").state is ElementState.ACTIVATED


def test_completing_the_job_completes_the_user_task(engine: Scenario) -> None:
    engine.deploy(review(outputs={"approved": "=ok"}).end()).start()

    engine.complete(JOB_TYPE, ok=True)

    assert engine.path == ["start", "review", "end"]
    assert engine.variables() == {"approved": True}


def test_headers_tell_the_worker_of_the_assignment(engine: Scenario) -> None:
    engine.deploy(
        review(
            assignment={
                "assignee": "=who",
                "candidateGroups": "sales, legal",
                "candidateUsers": '=["ann", who]',
            },
            schedule={
                "dueDate": "2030-01-01T08:00:00+01:00",
                "followUpDate": '=@"2030-01-02T00:00:00Z"',
            },
            form={"formKey": "camunda-forms:bpmn:review"},
        ).end()
    )

    engine.start(who="bob")

    assert engine.job(JOB_TYPE).headers == {
        f"{PREFIX}assignee": "bob",
        f"{PREFIX}candidateGroups": '["sales","legal"]',
        f"{PREFIX}candidateUsers": '["ann","bob"]',
        f"{PREFIX}dueDate": "2030-01-01T07:00:00Z",
        f"{PREFIX}followUpDate": "2030-01-02T00:00:00Z",
        f"{PREFIX}formKey": "camunda-forms:bpmn:review",
    }


def test_a_date_may_be_null_and_a_list_empty(engine: Scenario) -> None:
    engine.deploy(review(assignment={"candidateUsers": "=[]"}, schedule={"dueDate": "=when"}).end())

    engine.start(when=None)

    assert engine.job(JOB_TYPE).headers == {f"{PREFIX}candidateUsers": "[]"}


@pytest.mark.parametrize(
    ("extensions", "message"),
    [
        pytest.param(
            {"assignment": {"assignee": "=1"}},
            "Expected result of the expression '1' to be 'STRING', but was 'NUMBER'.",
            id="assignee",
        ),
        pytest.param(
            {"assignment": {"candidateGroups": '="a"'}},
            "Expected result of the expression '\"a\"' to be 'ARRAY', but was 'STRING'.",
            id="candidates",
        ),
        pytest.param(
            {"assignment": {"candidateUsers": '=["a", 1]'}},
            "Expected result of the expression '[\"a\", 1]' to be an 'ARRAY' of 'STRING', but it has other items.",
            id="items",
        ),
        pytest.param(
            {"assignment": {"candidateUsers": f'=for i in 0..{MOST_CANDIDATES} return "a"'}},
            f"Expected 'for i in 0..{MOST_CANDIDATES} return \"a\"' to name at most {MOST_CANDIDATES}, "
            f"but it names {MOST_CANDIDATES + 1}",
            id="many candidates",
        ),
        pytest.param(
            {"assignment": {"assignee": "a" * (LONGEST_NAME + 1)}},
            f"Expected a name of at most {LONGEST_NAME} characters, but one has {LONGEST_NAME + 1}",
            id="a long name",
        ),
        pytest.param(
            {"schedule": {"dueDate": "=5"}},
            "Expected result of the expression '5' to be a date and time, but was 'NUMBER'.",
            id="date",
        ),
        pytest.param(
            {"schedule": {"followUpDate": '="soon"'}},
            "'\"soon\"': expected a date and time with an offset, found 'soon'",
            id="text of a date",
        ),
        pytest.param(
            {"form": {"formKey": "=[]"}},
            "Expected result of the expression '[]' to be 'STRING', but was 'ARRAY'.",
            id="form",
        ),
    ],
)
def test_an_expression_of_the_wrong_type_is_an_incident(
    engine: Scenario, extensions: dict[str, object], message: str
) -> None:
    engine.deploy(review(**extensions).end())

    engine.start()

    assert (engine.incident.error_type, engine.incident.message) == (ErrorType.EXTRACT_VALUE_ERROR, message)
    assert engine.element("review").state is ElementState.ACTIVATING


def test_resolving_the_incident_evaluates_again(engine: Scenario) -> None:
    fork = process("order").parallel_gateway("fork")
    fork.user_task("review", is_native=False, assignment={"assignee": "=who"}).end()
    engine.deploy(fork.branch("fork").service_task("choose", type="choose").end()).start()

    engine.complete("choose", who="ann").resolve()

    assert engine.job(JOB_TYPE).headers == {f"{PREFIX}assignee": "ann"}


def test_a_boundary_event_ends_the_job(engine: Scenario) -> None:
    late = review().end("done").boundary_timer("late", on="review", duration="PT1M").end("too_late")
    engine.deploy(late).start()

    engine.advance(MINUTE)

    assert engine.path == ["start", "late", "too_late"]
    assert engine.is_completed


def test_a_worker_may_throw_an_error(engine: Scenario) -> None:
    refused = review().end("done").boundary_error("refused", on="review", error="no").end("ended")
    engine.deploy(definitions(refused, errors={"no": "NO"})).start()
    (job,) = engine.activate(JOB_TYPE)

    engine.execute(job_commands.ThrowJobError(tenant_id="default", job_key=job.key, error_code="NO"))

    assert engine.path == ["start", "refused", "ended"]


def test_cancelling_the_instance_cancels_the_job(engine: Scenario) -> None:
    engine.deploy(review().end()).start()

    engine.cancel()

    assert engine.is_terminated
    assert engine.activate(JOB_TYPE) == ()
