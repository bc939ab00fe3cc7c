"""What one element writes, and what a worker gets with a job, has a bound: more is an incident."""

from collections.abc import Callable
from datetime import timedelta

import pytest

from server.bpmn.builder import ProcessBuilder, ad_hoc_sub_process, process
from server.engine.deployment_commands import DeployResources
from server.engine.events import JobActivated, JobWithheld
from server.engine.incidents import ErrorType
from server.engine.job_commands import ActivateJobs
from server.engine.limits import DEFAULT_LIMITS, EngineLimits
from server.engine.process_instance_commands import SetVariables
from server.feel.limits import CHARACTERS_PER_STEP
from server.store import entities
from tests.server.engine.graphs import answering, graph
from tests.server.engine.scenario import Scenario

MOST = 100
"""Bytes; a text has two quotation marks."""

FITS, EXCEEDS = "x" * (MOST - 2), "x" * (MOST - 1)


@pytest.fixture
def engine() -> Scenario:
    return Scenario(limits=EngineLimits(message_octets=MOST))


def charge() -> ProcessBuilder:
    return process("order").start().service_task("charge", type="charge").end()


def mend(engine: Scenario, text: str) -> Scenario:
    """Give the variable another value, and resolve the incident."""
    variables = {"text": f'"{text}"'}
    key = engine.instance_key
    engine.execute(
        SetVariables(
            tenant_id="default", process_instance_key=key, element_instance_key=key, variables=variables
        )
    )
    return engine.resolve()


# Jobs


def test_a_job_at_the_bound_is_given_to_its_worker(engine: Scenario) -> None:
    engine.deploy(charge()).start(text=FITS)

    assert len(engine.activate("charge")) == 1


def test_a_job_that_is_too_large_is_an_incident_and_keeps_no_other_job_back(engine: Scenario) -> None:
    engine.deploy(charge()).start(text=EXCEEDS)
    large = engine.instance_key
    engine.start(text=FITS)

    first, second = engine.activate("charge"), engine.activate("charge")

    assert [[job.instance.key == engine.instance_key for job in jobs] for jobs in (first, second)] == [
        [True],
        [],
    ]
    (row,) = engine.rows.all(entities.Incident)
    assert (row.error_type, row.element_id, row.process_instance_key) == (
        "MESSAGE_SIZE_EXCEEDED",
        "charge",
        large,
    )
    (job,) = (each for each in engine.rows.all(entities.Job) if each.process_instance_key == large)
    message = f"Expected the variables of job {job.job_key} to have at most {MOST} bytes, found {MOST + 1}"
    assert (row.job_key, row.error_message) == (job.job_key, message)
    assert (job.state, job.error_message, job.retries) == (entities.JobState.FAILED, message, 3)


def test_an_activation_withholds_large_jobs_until_it_has_done_enough() -> None:
    of_one = len(EXCEEDS) // CHARACTERS_PER_STEP
    engine = Scenario(limits=EngineLimits(message_octets=MOST, slice_steps=2 * of_one))
    engine.deploy(charge())
    for text in [EXCEEDS] * 5 + [FITS]:
        engine.start(text=text)

    withheld, given = [], []
    for _ in range(3):
        given.append(len(engine.activate("charge", most=100)))
        withheld.append(sum(isinstance(event, JobWithheld) for event in engine.last_events))

    assert (withheld, given) == ([2, 2, 1], [0, 0, 1])


def test_an_activation_for_one_job_leaves_what_is_behind_a_large_one_on_offer(engine: Scenario) -> None:
    engine.deploy(charge()).start(text=EXCEEDS)
    engine.start(text=FITS)

    assert [len(engine.activate("charge", most=1)) for _ in range(3)] == [0, 1, 0]


def test_a_job_is_offered_again_when_its_incident_is_resolved(engine: Scenario) -> None:
    engine.deploy(charge()).start(text=EXCEEDS)
    engine.activate("charge")

    engine.resolve()
    again = engine.activate("charge")
    assert (again, engine.incident.error_type) == ((), ErrorType.MESSAGE_SIZE_EXCEEDED)

    mend(engine, "small")
    assert engine.complete("charge").is_completed


def test_an_activation_that_names_few_variables_gets_the_job(engine: Scenario) -> None:
    engine.deploy(charge()).start(text=EXCEEDS, total=5)

    answer = engine.execute(
        ActivateJobs(
            tenant_id="default",
            type="charge",
            worker="worker",
            timeout=timedelta(minutes=1),
            max_jobs=1,
            fetch_variables=("total",),
        )
    )

    assert [job.variables for job in answer.jobs] == [{"total": "5"}]  # type: ignore[union-attr]


def test_a_job_of_the_default_size_limit_fits_its_bound() -> None:
    engine = Scenario()
    engine.deploy(charge()).start(text="x" * (DEFAULT_LIMITS.message_octets - 2))
    engine.start(text="x" * (DEFAULT_LIMITS.message_octets - 1))

    engine.activate("charge")
    engine.activate("charge")

    happened = [type(event) for event in engine.events if isinstance(event, JobActivated | JobWithheld)]
    assert happened == [JobActivated, JobWithheld]


# Elements


def script(expression: str) -> ProcessBuilder:
    return process("order").start().script_task("work", expression=expression, result="made").end()


def inputs(expression: str) -> ProcessBuilder:
    return process("order").start().node("task", "work", inputs={"made": expression}).end()


def outputs(expression: str) -> ProcessBuilder:
    return process("order").start().node("task", "work", outputs={"made": expression}).end()


def item(expression: str) -> ProcessBuilder:
    repeated = process("order").start().node("task", "work")
    return repeated.multi_instance("=[1]", element="n", output=expression, outputs_to="outputs").end()


def inside(expression: str) -> ProcessBuilder:
    care = ad_hoc_sub_process("care").task("feed")
    collecting = process("order").start()
    return collecting.embed_ad_hoc(care, active='=["feed"]', output=expression, outputs_to="outputs").end()


MAKERS = {
    "script": (script, "the result of the script"),
    "inputs": (inputs, "the variables of the input mappings"),
    "outputs": (outputs, "the variables of the output mappings"),
    "item": (item, "the output element"),
    "inside": (inside, "the output element"),
}


@pytest.mark.parametrize(("maker", "what"), MAKERS.values(), ids=MAKERS)
def test_an_element_that_makes_too_much_has_an_incident_that_can_be_mended(
    engine: Scenario, maker: Callable[[str], ProcessBuilder], what: str
) -> None:
    engine.deploy(maker("=text + text")).start(text=FITS)
    incident = engine.incident

    mend(engine, "small")

    assert incident.error_type is ErrorType.MESSAGE_SIZE_EXCEEDED
    assert incident.message.startswith(f"Expected {what} to have at most {MOST} bytes, found ")
    assert engine.is_completed


@pytest.mark.parametrize(("maker", "what"), MAKERS.values(), ids=MAKERS)
def test_an_element_may_make_what_fits(
    engine: Scenario, maker: Callable[[str], ProcessBuilder], what: str
) -> None:
    del what
    engine.deploy(maker('=text + ""')).start(text=FITS[:-2])

    assert engine.is_completed


def test_mappings_are_measured_together_and_in_bytes(engine: Scenario) -> None:
    text = "é" * 30
    builder = process("order").start().node("task", "work", inputs={"a": "=text", "b": "=text"})

    engine.deploy(builder.end()).start(text=text)

    size = 2 * (len(text.encode()) + 2)
    assert engine.incident.message == (
        f"Expected the variables of the input mappings to have at most {MOST} bytes, found {size}"
    )


def test_outputs_of_a_multi_instance_activity_are_measured_together(engine: Scenario) -> None:
    repeated = process("order").start().node("task", "work")
    builder = repeated.multi_instance(
        "=[1, 2, 3]", element="n", sequential=True, output='=text + ""', outputs_to="outputs"
    )

    engine.deploy(builder.end()).start(text="x" * (MOST // 2 - 3))

    assert (engine.incident.error_type, engine.incident.element_id) == (
        ErrorType.MESSAGE_SIZE_EXCEEDED,
        "work",
    )
    assert "the output collection" in engine.incident.message
    assert mend(engine, "").is_completed


def test_the_output_of_a_decision_is_measured(engine: Scenario) -> None:
    engine.execute(DeployResources("default", (), (graph(answering("rate", f'"{EXCEEDS}"')),)))
    engine.deploy(process("order").start().decision_task("work", decision="rate", result="made").end())

    engine.start()

    assert engine.incident.error_type is ErrorType.MESSAGE_SIZE_EXCEEDED


def test_what_a_call_activity_gives_is_measured(engine: Scenario) -> None:
    engine.deploy(process("called").start().end())
    engine.deploy(process("order").start().call_activity("call", process="called").end())

    engine.start("order", text=EXCEEDS)

    assert (engine.incident.error_type, engine.incident.element_id) == (
        ErrorType.MESSAGE_SIZE_EXCEEDED,
        "call",
    )
    assert len(engine.state.instances) == 1
