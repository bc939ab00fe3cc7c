"""Contents of single rows; that all rows agree with the state is a law of every story."""

from datetime import timedelta

import pytest

from server.bpmn.builder import process
from server.engine.job_commands import FailJob, ThrowJobError, UpdateJob, YieldJobs
from server.store.entities import (
    ElementInstance,
    ElementInstanceState,
    Job,
    JobState,
    ProcessDefinition,
    Variable,
)
from tests.server.engine.scenario import MINUTE, Scenario


def job_row(engine: Scenario) -> Job:
    (row,) = engine.rows.all(Job)
    return row


def test_a_definition_is_a_row_with_its_text(engine: Scenario) -> None:
    builder = process("order", name="Order", version_tag="v1").end()

    (definition,) = engine.deployment(builder, name="order.bpmn").definitions

    row = engine.rows.get(ProcessDefinition, definition.key)
    assert (row.process_definition_id, row.version, row.name, row.version_tag) == ("order", 1, "Order", "v1")
    assert (row.resource_name, row.xml.encode()) == ("order.bpmn", builder.to_xml())
    assert row.is_latest_version


@pytest.mark.parametrize("encoding", ["UTF-8", "ISO-8859-1", "UTF-16"])
def test_the_text_of_a_definition_is_read_in_its_encoding(engine: Scenario, encoding: str) -> None:
    text = process("order", name="Aufträge für Zoë").end().to_xml().decode().replace("UTF-8", encoding)

    (definition,) = engine.deployment(text.encode(encoding)).definitions

    assert engine.rows.get(ProcessDefinition, definition.key).xml == text
    assert engine.state.definitions[definition.key].process.name == "Aufträge für Zoë"


def test_an_element_is_called_by_its_name_or_else_by_its_id(engine: Scenario) -> None:
    engine.deploy(process("order").task("a", name="Alpha").task("b").end()).start()

    names = {row.element_id: row.element_name for row in engine.rows.all(ElementInstance)}

    assert names == {"start": "start", "a": "Alpha", "b": "b", "end": "end"}


def test_an_element_row_has_the_sequence_flows_that_its_element_was_left_by(engine: Scenario) -> None:
    forked = process("order").start().parallel_gateway("fork").service_task("a", type="a").end()
    engine.deploy(forked.branch("fork").task("b").end_terminate("over")).start()

    rows = {row.element_id: row.sequence_flow_ids for row in engine.rows.all(ElementInstance)}

    assert rows == {
        "start": ("start_to_fork",),
        "fork": ("fork_to_a", "fork_to_b"),
        "a": (),
        "b": ("b_to_over",),
        "over": (),
    }


def test_an_element_row_lives_with_its_element(engine: Scenario) -> None:
    engine.deploy(process("order").service_task("a", type="a").end()).start()
    began, key = engine.now, engine.element("a").key

    engine.advance(MINUTE).complete("a")

    row = engine.rows.get(ElementInstance, key)
    assert (row.state, row.start_date, row.end_date) == (
        ElementInstanceState.COMPLETED,
        began,
        began + MINUTE,
    )
    assert (row.type, row.element_instance_scope_key) == ("SERVICE_TASK", engine.instance_key)
    assert row.process_definition_id == "order"


def test_a_job_row_tells_what_happened_last(engine: Scenario) -> None:
    engine.deploy(process("order").service_task("a", type="a", headers={"h": "1"}).end()).start()
    seen = [job_row(engine).state]

    def after(act: object) -> None:
        del act
        seen.append(job_row(engine).state)

    key = job_row(engine).job_key
    after(engine.activate("a"))
    after(engine.advance(MINUTE))
    after(engine.activate("a"))
    after(engine.execute(FailJob(tenant_id="default", job_key=key, retries=0, error_message="no")))
    after(engine.execute(UpdateJob(tenant_id="default", job_key=key, retries=2)))
    engine.resolve()
    after(engine.execute(ThrowJobError(tenant_id="default", job_key=key, error_code="e", error_message="m")))
    engine.resolve()
    after(engine.complete("a"))

    assert seen == [
        JobState.CREATED,
        JobState.CREATED,
        JobState.TIMED_OUT,
        JobState.CREATED,
        JobState.FAILED,
        JobState.RETRIES_UPDATED,
        JobState.ERROR_THROWN,
        JobState.COMPLETED,
    ]
    row = job_row(engine)
    assert (row.error_code, row.error_message, row.retries) == ("e", "m", 2)
    assert (row.creation_time, row.end_time) == (engine.now - MINUTE, engine.now)
    assert row.custom_headers == {"h": "1"}


@pytest.mark.parametrize("is_failed", [True, False])
def test_a_migrated_job_shows_that_until_something_else_happens(engine: Scenario, *, is_failed: bool) -> None:
    engine.deploy(process("order").service_task("a", type="a").end()).start()
    (job,) = engine.activate("a")
    if is_failed:
        engine.execute(FailJob(tenant_id="default", job_key=job.key, retries=2))
    engine.deploy(process("other").service_task("b", type="b").end())

    engine.migrate("other", {"a": "b"})

    row = job_row(engine)
    assert (row.job_key, row.element_id, row.state) == (job.key, "b", JobState.MIGRATED)
    assert (row.has_failed_with_retries_left, row.end_time) == (is_failed, None)
    engine.advance(MINUTE)
    assert job_row(engine).state is (JobState.MIGRATED if is_failed else JobState.TIMED_OUT)
    engine.complete("a")
    assert job_row(engine).state is JobState.COMPLETED


def test_a_job_row_says_whether_it_failed_with_retries_left(engine: Scenario) -> None:
    engine.deploy(process("order").service_task("a", type="a").end()).start()

    with_some = job_row(engine.fail("a", retries=2)).has_failed_with_retries_left
    without = job_row(engine.fail("a", retries=0)).has_failed_with_retries_left

    assert (with_some, without) == (True, False)


def test_a_job_row_carries_the_deadline_of_its_worker(engine: Scenario) -> None:
    engine.deploy(process("order").service_task("a", type="a").end()).start()
    (job,) = engine.activate("a", timeout=timedelta(seconds=9))
    first = job_row(engine).deadline

    engine.execute(UpdateJob(tenant_id="default", job_key=job.key, timeout=MINUTE))
    second = job_row(engine).deadline
    engine.execute(YieldJobs("default", ((job.key, engine.now + MINUTE),)))

    assert (first, second) == (job.deadline, engine.now + MINUTE)
    assert (job_row(engine).deadline, job_row(engine).worker) == (None, "worker")


def test_a_variable_row_holds_the_latest_text(engine: Scenario) -> None:
    engine.deploy(process("order").service_task("a", type="a").end()).start(x=1)

    engine.complete("a", x=[1, 2], y=None)

    rows = {row.name: (row.value, row.scope_key) for row in engine.rows.all(Variable)}
    assert rows == {"x": ("[1,2]", engine.instance_key), "y": ("null", engine.instance_key)}
