import pytest

from server.bpmn.builder import definitions, process, sub_process
from server.engine.events import ElementActivating, ElementTerminated
from server.engine.incidents import ErrorType
from server.engine.job_commands import CompleteJob, FailJob, ThrowJobError, UpdateJob
from server.engine.process_instance import JobState
from server.engine.process_instance_commands import ResolveIncident
from server.engine.rejection import RejectionType
from server.store import entities
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


def test_variables_of_an_error_that_nobody_catches_are_set_nowhere(waiting: Scenario) -> None:
    scope = waiting.element("charge").key

    waiting.execute(error(waiting, variables=texts({"reason": 1})))

    assert waiting.variables(scope) == {}
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


def test_the_incident_of_a_job_that_never_had_retries_needs_some_before_it_is_resolved(
    engine: Scenario,
) -> None:
    engine.deploy(process("order").service_task("charge", type="charge", retries="0").end()).start()
    engine.activate("charge")
    engine.execute(error(engine))
    incident, job = engine.incident, engine.job("charge")

    refused = engine.refusal(ResolveIncident("default", incident.key))
    engine.execute(UpdateJob(tenant_id="default", job_key=job.key, retries=1))
    engine.resolve()

    assert refused.type is RejectionType.INVALID_STATE
    assert engine.offered == ["charge"]


# Caught


def throw(engine: Scenario, job_type: str, code: str = "declined") -> None:
    (job,) = engine.activate(job_type)
    engine.execute(
        ThrowJobError(
            tenant_id="default", job_key=job.key, error_code=code, variables=texts({"reason": "poor"})
        )
    )


CODES = {"declined": "declined", "lost": "lost"}


def test_an_error_is_caught_on_the_boundary_of_its_task(engine: Scenario) -> None:
    task = process("order").service_task("charge", type="charge").end("done")
    task.boundary_error("refused", on="charge", error="declined").service_task("remind", type="remind").end()
    engine.deploy(definitions(task, errors=CODES)).start()
    job = engine.job("charge")

    throw(engine, "charge")

    assert engine.path == ["start", "refused"]
    assert engine.offered == ["remind"]
    row = engine.rows.get(entities.Job, job.key)
    assert (row.state, row.error_code, row.end_time) == (
        entities.JobState.ERROR_THROWN,
        "declined",
        engine.now,
    )


@pytest.mark.parametrize(("outputs", "brought"), [({}, {}), ({"why": "=reason"}, {"why": "poor"})])
def test_variables_of_an_error_stay_at_the_boundary_event_unless_it_has_output_mappings(
    engine: Scenario, outputs: dict[str, str], brought: dict[str, str]
) -> None:
    task = process("order").service_task("charge", type="charge").end()
    task.boundary_error("refused", on="charge", outputs=outputs).service_task("remind", type="remind").end()
    engine.deploy(task).start()

    throw(engine, "charge")

    (event,) = (each for each in engine.happened(ElementActivating) if each.element_id == "refused")
    assert engine.variables(event.key) == {"reason": "poor"}
    assert engine.variables() == brought


@pytest.mark.parametrize(("code", "way"), [("declined", "refused"), ("lost", "any"), ("other", "any")])
def test_the_event_with_the_code_comes_before_one_for_every_error(
    engine: Scenario, code: str, way: str
) -> None:
    task = process("order").service_task("charge", type="charge").end("done")
    task.boundary_error("any", on="charge").end("a").boundary_error(
        "refused", on="charge", error="declined"
    ).end("b")
    engine.deploy(definitions(task, errors=CODES)).start()

    throw(engine, "charge", code)

    assert engine.path[1] == way
    assert engine.is_completed


def test_an_error_goes_outwards_until_it_is_caught(engine: Scenario) -> None:
    inner = sub_process("pack").service_task("wrap", type="wrap").end()
    inner.boundary_error("torn", on="wrap", error="lost").end("inside")
    outer = process("order").embed(inner).end("done").boundary_error("any", on="pack").end("outside")
    engine.deploy(definitions(outer, errors=CODES)).start()

    throw(engine, "wrap")

    assert engine.path == ["start", "pack_start", "any", "outside"]
    assert engine.is_completed


def test_an_activity_is_terminated_before_the_event_that_catches_its_error_is_activated(
    engine: Scenario,
) -> None:
    inner = sub_process("pack").service_task("wrap", type="wrap").end()
    outer = process("order").embed(inner).end("done").boundary_error("any", on="pack").end("outside")
    engine.deploy(outer).start()
    pack, wrap = engine.element("pack").key, engine.element("wrap").key

    throw(engine, "wrap")

    happened = engine.happened(ElementActivating, ElementTerminated)
    caught = next(
        each.key for each in happened if isinstance(each, ElementActivating) and each.element_id == "any"
    )
    assert [each.key for each in happened][-4:-1] == [wrap, pack, caught]


def test_an_error_that_is_caught_elsewhere_raises_an_incident(engine: Scenario) -> None:
    inner = sub_process("pack").service_task("wrap", type="wrap").end()
    outer = process("order").embed(inner).service_task("ship", type="ship").end()
    engine.deploy(definitions(outer.boundary_error("any", on="ship").end("lost"), errors=CODES)).start()

    throw(engine, "wrap")

    assert engine.incident.error_type is ErrorType.UNHANDLED_ERROR_EVENT
