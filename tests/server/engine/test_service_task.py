import pytest

from server.bpmn.builder import process
from server.engine.events import ElementActivated, ElementCompleted, JobCreated
from server.engine.incidents import ErrorType
from server.engine.lifecycle import ElementState
from server.engine.process_instance import JobState
from tests.server.engine.scenario import Scenario


def test_a_service_task_creates_a_job_and_waits(engine: Scenario) -> None:
    engine.deploy(process("order").service_task("charge", type="payment").end())

    engine.start()

    job = engine.job("payment")
    assert (job.element_id, job.state, job.retries) == ("charge", JobState.ACTIVATABLE, 3)
    assert job.element_instance_key == engine.element("charge").key
    assert engine.element("charge").state is ElementState.ACTIVATED
    assert engine.path == ["start"]


@pytest.mark.parametrize("tag", ["serviceTask", "sendTask", "scriptTask", "businessRuleTask"])
def test_every_task_with_a_job_definition_is_done_by_a_worker(engine: Scenario, tag: str) -> None:
    engine.deploy(process("order").service_task("charge", type="payment", tag=tag).end())

    engine.start().complete("payment")

    assert engine.path == ["start", "charge", "end"]
    assert engine.is_completed


def test_the_job_is_created_before_the_element_is_active(engine: Scenario) -> None:
    engine.deploy(process("order").service_task("charge", type="payment").end()).start()

    happened = engine.happened(JobCreated, ElementActivated)

    charge = engine.element("charge").key
    assert [type(event) for event in happened[-2:]] == [JobCreated, ElementActivated]
    assert happened[-1].key == charge


def test_headers_travel_with_the_job(engine: Scenario) -> None:
    task = process("order").service_task("ship", type="ship", headers={"carrier": "any", "express": ""})

    (job,) = engine.deploy(task.end()).start().activate("ship")

    assert job.headers == {"carrier": "any", "express": ""}


def test_job_type_and_retries_may_be_expressions(engine: Scenario) -> None:
    task = process("order").service_task("ship", type='="ship-" + carrier', retries="=1 + tries")

    engine.deploy(task.end()).start(carrier="sea", tries=4)

    job = engine.job("ship-sea")
    assert job.retries == 5


def test_job_type_and_retries_see_the_input_mappings(engine: Scenario) -> None:
    task = process("order").service_task("ship", type="=kind", retries="=n", inputs={"kind": "=a", "n": "=7"})

    engine.deploy(task.end()).start(a="sea", kind="air", n=1)

    assert engine.job("sea").retries == 7


@pytest.mark.parametrize(
    ("retries", "count"),
    [("0", 0), (" 5 ", 5), ("-1", -1), ("=2.9", 2), ("2147483647", 2**31 - 1), ("=-2147483648", -(2**31))],
)
def test_retries_are_an_int32(engine: Scenario, retries: str, count: int) -> None:
    engine.deploy(process("order").service_task("ship", type="ship", retries=retries).end()).start()

    assert engine.job("ship").retries == count


@pytest.mark.parametrize(
    ("retries", "message"),
    [
        ("many", "Expected 'many' to be a number"),
        ("1_000", "Expected '1_000' to be a number"),
        ("٣", "Expected '٣' to be a number"),  # an Arabic digit
        ("2147483648", "Expected '2147483648' to be a number from -2147483648 to 2147483647"),
        ("=10 ** 10", "Expected '10 ** 10' to be a number from -2147483648 to 2147483647"),
        ("=huge", "Expected 'huge' to be a number from -2147483648 to 2147483647"),
        ('="3"', "Expected result of the expression '\"3\"' to be 'NUMBER', but was 'STRING'."),
        ("=true", "Expected result of the expression 'true' to be 'NUMBER', but was 'BOOLEAN'."),
        ("=[1]", "Expected result of the expression '[1]' to be 'NUMBER', but was 'ARRAY'."),
    ],
)
def test_other_retries_raise_an_incident(engine: Scenario, retries: str, message: str) -> None:
    engine.deploy(process("order").service_task("ship", type="ship", retries=retries).end())

    engine.start(huge=10**4000)

    assert (engine.incident.error_type, engine.incident.message) == (ErrorType.EXTRACT_VALUE_ERROR, message)
    assert engine.incident.element_id == "ship"
    assert engine.element("ship").state is ElementState.ACTIVATING
    assert engine.instance.jobs == {}


def test_a_job_type_that_is_no_string_raises_an_incident_with_the_warnings_of_feel(engine: Scenario) -> None:
    engine.deploy(process("order").service_task("ship", type="=carrier").end())

    engine.start()

    assert engine.incident.error_type is ErrorType.EXTRACT_VALUE_ERROR
    assert engine.incident.message == (
        "Expected result of the expression 'carrier' to be 'STRING', but was 'NULL'. "
        "The evaluation reported the following warnings:\n"
        "[NO_VARIABLE_FOUND] No variable found with name 'carrier'"
    )


def test_resolving_after_the_variable_was_corrected_creates_the_job(engine: Scenario) -> None:
    fork = process("order").parallel_gateway("fork").service_task("ship", type="=carrier").end()
    engine.deploy(fork.branch("fork").service_task("choose", type="choose").end()).start()
    broken = engine.incident

    engine.complete("choose", carrier="sea").resolve()

    assert engine.job("sea").element_instance_key == broken.element_instance_key
    assert engine.instance.incidents == {}


def test_completing_the_job_completes_the_task_and_goes_on(engine: Scenario) -> None:
    two = process("order").service_task("charge", type="charge").service_task("ship", type="ship").end()
    engine.deploy(two).start()
    charge = engine.element("charge").key

    engine.complete("charge")

    assert charge in [event.key for event in engine.happened(ElementCompleted)]
    assert engine.offered == ["ship"]
