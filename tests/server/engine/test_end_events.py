from datetime import timedelta

import pytest

from server.bpmn.builder import ProcessBuilder, definitions, process, sub_process
from server.engine import events, job_commands
from server.engine import process as handle
from server.engine.incidents import ErrorType
from server.engine.limits import ENTERING_STEPS, EngineLimits
from tests.server.engine.scenario import Scenario

HOUR = timedelta(hours=1)
CODES = {"declined": "declined", "lost": "lost", "any_code": "=code"}


def split(builder: ProcessBuilder, *, jobs: int = 1) -> ProcessBuilder:
    """A gateway with tasks behind it, and the path that goes on."""
    builder.parallel_gateway(f"{builder.element.get('id')}_split")
    for number in range(jobs):
        builder.branch(f"{builder.element.get('id')}_split").service_task(f"wait{number}", type="wait").end()
    return builder.branch(f"{builder.element.get('id')}_split")


# Terminate


def test_a_terminate_end_event_ends_everything_else_and_completes_the_process(engine: Scenario) -> None:
    engine.deploy(split(process("order"), jobs=3).service_task("go", type="go").end_terminate("stop")).start()

    engine.complete("go")

    assert engine.is_completed
    assert engine.path[-2:] == ["go", "stop"]
    assert len(engine.happened(events.JobCanceled)) == 3


def test_a_terminate_end_event_ends_nothing_outside_its_sub_process(engine: Scenario) -> None:
    inner = split(sub_process("pack")).service_task("go", type="go").end_terminate("stop")
    outer = process("order").parallel_gateway("both").service_task("label", type="label").end()
    engine.deploy(outer.branch("both").embed(inner).service_task("ship", type="ship").end()).start()

    engine.complete("go")

    assert sorted(engine.offered) == ["label", "ship"]
    assert "pack" in engine.path


def test_a_sub_process_that_is_terminated_inside_has_its_output_mappings_and_listeners(
    engine: Scenario,
) -> None:
    inner = split(sub_process("pack")).service_task("go", type="go").end_terminate("stop")
    outer = process("order").embed(inner, outputs={"size": "=1 + 1"}).execution_listener("end", type="told")
    engine.deploy(outer.end()).start().complete("go")

    engine.complete("told")

    assert engine.variables() == {"size": 2}
    assert engine.is_completed


def test_a_terminate_end_event_alone_completes_its_scope(engine: Scenario) -> None:
    engine.deploy(process("order").end_terminate("stop")).start()

    assert engine.path == ["start", "stop"]
    assert engine.is_completed


def test_flows_that_wait_at_a_join_lead_nowhere_after_a_termination(engine: Scenario) -> None:
    builder = split(process("order")).parallel_gateway("join").end()
    builder.branch("order_split").service_task("go", type="go").end_terminate("stop")
    engine.deploy(builder.branch("wait0").connect_to("join")).start()

    engine.complete("go")

    assert engine.is_completed


def terminated_in_slices() -> Scenario:
    """Of thirty jobs some are left when the command that terminates them has done enough."""
    engine = Scenario(limits=EngineLimits(slice_steps=2 * ENTERING_STEPS))
    engine.deploy(
        split(process("order"), jobs=30).service_task("go", type="go").end_terminate("stop")
    ).start()
    (job,) = engine.activate("go")
    engine.happens(handle(engine.state, job_commands.CompleteJob("default", job.key), engine.now).events)
    assert engine.instance.work
    return engine


def test_what_goes_on_while_a_scope_is_emptied_leads_nowhere() -> None:
    engine = terminated_in_slices()
    left = next(job for job in engine.instance.jobs.values())

    engine.execute(job_commands.CompleteJob("default", left.key))

    assert engine.is_completed
    assert engine.path[-1] != "end"
    engine.expect_laws()


def test_a_process_instance_can_be_cancelled_while_it_is_emptied() -> None:
    engine = terminated_in_slices()

    engine.cancel()

    assert engine.is_terminated
    engine.expect_laws()


# Errors


def packing(code: str = "declined") -> ProcessBuilder:
    """A sub-process that ends with an error while a task in it waits."""
    return split(sub_process("pack")).service_task("go", type="go").end_error("fail", error=code)


def test_an_error_end_event_is_caught_on_the_boundary_of_its_sub_process(engine: Scenario) -> None:
    outer = process("order").embed(packing()).end("done")
    outer.boundary_error("refused", on="pack", error="declined").service_task("remind", type="remind").end()
    engine.deploy(definitions(outer, errors=CODES)).start()

    engine.complete("go")

    assert engine.path[-2:] == ["go", "refused"]
    assert engine.offered == ["remind"]
    assert "pack" not in engine.path


def test_an_error_code_may_be_an_expression(engine: Scenario) -> None:
    outer = process("order").embed(packing("any_code")).end("done")
    outer.boundary_error("first", on="pack", error="declined").end("a")
    outer.boundary_error("second", on="pack", error="lost").end("b")
    engine.deploy(definitions(outer, errors=CODES)).start(code="lost")

    engine.complete("go")

    assert engine.path[-2:] == ["second", "b"]


def test_an_error_code_that_is_no_text_raises_an_incident(engine: Scenario) -> None:
    engine.deploy(definitions(process("order").end_error("fail", error="any_code"), errors=CODES)).start(
        code=1
    )

    assert engine.incident.error_type is ErrorType.EXTRACT_VALUE_ERROR


def test_an_error_end_event_that_nobody_catches_raises_an_incident_again_and_again(engine: Scenario) -> None:
    engine.deploy(definitions(process("order").end_error("fail", error="declined"), errors=CODES)).start()
    first = engine.incident

    engine.resolve()

    assert first.error_type is ErrorType.UNHANDLED_ERROR_EVENT
    assert (
        first.message == "Expected to throw an error event with the code 'declined', but it was not caught."
    )
    assert (engine.incident.element_id, engine.incident.key != first.key) == ("fail", True)


def test_an_error_passes_a_scope_that_catches_other_codes_alone(engine: Scenario) -> None:
    middle = sub_process("middle").embed(packing()).end()
    middle.boundary_error("other", on="pack", error="lost").end()
    outer = process("order").embed(middle).end("done")
    engine.deploy(definitions(outer.boundary_error("any", on="middle").end("caught"), errors=CODES)).start()

    engine.complete("go")

    assert engine.path[-2:] == ["any", "caught"]
    assert engine.is_completed


def test_an_error_end_event_is_entered_and_never_left(engine: Scenario) -> None:
    outer = process("order").embed(packing()).end("done")
    engine.deploy(definitions(outer.boundary_error("any", on="pack").end(), errors=CODES)).start()
    engine.complete("go")

    entered = next(each for each in engine.happened(events.ElementActivating) if each.element_id == "fail")

    assert entered.key in {event.key for event in engine.happened(events.ElementActivated)}
    assert entered.key in {event.key for event in engine.happened(events.ElementTerminated)}


@pytest.mark.parametrize("patience", ["PT1H", "PT2H"])
def test_a_timer_on_the_boundary_of_a_scope_that_was_emptied_is_closed(
    engine: Scenario, patience: str
) -> None:
    inner = split(sub_process("pack")).service_task("go", type="go").end_terminate("stop")
    outer = process("order").embed(inner).service_task("ship", type="ship").end()
    engine.deploy(outer.boundary_timer("late", on="pack", duration=patience).end()).start()

    engine.complete("go").advance(3 * HOUR)

    assert "late" not in engine.path
    assert engine.offered == ["ship"]
